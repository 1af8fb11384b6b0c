/* SPDX-License-Identifier: Apache-2.0 */
/* Some shared object that lies about in a plugins directory. */
int graft_test_something_else(void);

__attribute__((visibility("default"))) int graft_test_something_else(void) {
    return 1;
}
