/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object that is no plugin. */
int graft_test_something_else(void);

__attribute__((visibility("default"))) int graft_test_something_else(void) {
    return 1;
}
