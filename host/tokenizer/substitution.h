/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces a pattern's matches by a fixed text: the normalizer and the decoder of the name Replace. */
#ifndef GRAFT_TOKENIZER_SUBSTITUTION_H
#define GRAFT_TOKENIZER_SUBSTITUTION_H

#include "base/text.h"
#include "tokenizer/matcher.h"

/* Starts as {0}. */
struct graft_substitution {
    struct graft_matcher matcher;
    struct graft_text content;
};

/* [load] Reads `pattern` and `content`. The caller calls graft_substitution_finish, even on failure. */
int graft_substitution_init(struct graft_substitution *substitution, const struct graft_field *spec,
                            struct graft_error *error);
void graft_substitution_finish(struct graft_substitution *substitution);

/* [any] Appends `text` to `out` with the matches replaced. `out` records whether memory ran out. */
int graft_substitution_run(const struct graft_substitution *substitution, const char *text, size_t length,
                           struct graft_text *out, struct graft_error *error);

#endif
