/* SPDX-License-Identifier: Apache-2.0 */
/* A text that fits a grammar, by chance: before its end a byte always fits, and a mask says which. */
#ifndef GRAFT_FUZZ_WALK_H
#define GRAFT_FUZZ_WALK_H

#include "grammar/rules.h"

/* Finishes rules that were read with this status, and walks them; frees them. A fault that says nothing aborts. */
void use_rules(struct graft_rules *rules, int status, const char *source, struct graft_error *error, uint32_t seed);

#endif
