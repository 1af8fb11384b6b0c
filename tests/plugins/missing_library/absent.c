/* SPDX-License-Identifier: Apache-2.0 */
/* The library that the plugin is linked with. It cannot be found, since its soname is another name. */
int graft_test_absent(void);

__attribute__((visibility("default"))) int graft_test_absent(void) {
    return 0;
}
