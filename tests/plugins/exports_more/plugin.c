/* SPDX-License-Identifier: Apache-2.0 */
/* It exports a function of its own. */
void behaving_helper(void);
#include "../behaving.h"

__attribute__((visibility("default"))) void behaving_helper(void) {}
