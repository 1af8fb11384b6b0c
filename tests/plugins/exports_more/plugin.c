/* SPDX-License-Identifier: Apache-2.0 */
/* Exports another function besides its entry. */
void behaving_helper(void);
#include "../behaving.h"

__attribute__((visibility("default"))) void behaving_helper(void) {}
