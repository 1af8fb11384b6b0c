/* SPDX-License-Identifier: Apache-2.0 */
/* A text that fits a grammar, by chance: before its end a byte always fits, and a mask says which. */
#ifndef GRAFT_FUZZ_WALK_H
#define GRAFT_FUZZ_WALK_H

#include "grammar/rules.h"

/* Takes the rules, which are finished, over. */
void walk_grammar(struct graft_rules *rules, uint32_t seed);

#endif
