/* SPDX-License-Identifier: Apache-2.0 */
/* Generates a random text that fits a grammar, and checks that the masks allow a byte as long as the text may go on. */
#ifndef GRAFT_FUZZ_WALK_H
#define GRAFT_FUZZ_WALK_H

#include "grammar/rules.h"

/* Finishes rules that were read with `status`, walks them and frees them. Aborts if an error has no message. */
void use_rules(struct graft_rules *rules, int status, const char *source, struct graft_error *error, uint32_t seed);

#endif
