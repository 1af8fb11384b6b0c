/* SPDX-License-Identifier: Apache-2.0 */
/* The library that the plugin is linked with and that no one can find: it has another name in its soname. */
int graft_test_absent(void);

__attribute__((visibility("default"))) int graft_test_absent(void) {
    return 0;
}
