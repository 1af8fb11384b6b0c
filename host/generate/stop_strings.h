/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that end a sequence. */
#ifndef GRAFT_GENERATE_STOP_STRINGS_H
#define GRAFT_GENERATE_STOP_STRINGS_H

#include "base/text.h"
#include "graft/error.h"

/* What tokens stand for in the middle of a text. Starts as {0}: nothing is known of them. */
struct graft_token_texts {
    /* [any] Adds the bytes of a token to `text`, which need not be whole characters; none of an id without a token. */
    int (*add)(const void *data, int32_t id, struct graft_text *text, struct graft_error *error);
    const void *data;
};

/* [any] Sets `*is_hit` if one of `n` strings, none of them empty, has its end in the last of `count` > 0 tokens,
 * wherever it begins. */
int graft_stop_strings_check(const struct graft_token_texts *texts, const char *const *strings, size_t n,
                             const int32_t *ids, size_t count, int *is_hit, struct graft_error *error);

#endif
