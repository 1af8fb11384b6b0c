/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that end a sequence. */
#ifndef GRAFT_GENERATE_STOP_STRINGS_H
#define GRAFT_GENERATE_STOP_STRINGS_H

#include "base/text.h"
#include "graft/error.h"

/* The texts of tokens as they are in the middle of a text. Starts as {0}: texts are unknown. */
struct graft_token_texts {
    /* [any] Appends the bytes of a token to `text`, which need not be whole characters; nothing for an id without a
     * token. */
    int (*add)(const void *data, int32_t id, struct graft_text *text, struct graft_error *error);
    const void *data;
};

/* [any] Sets `*is_hit` if one of `n` non-empty strings ends in the last of `count` > 0 tokens, wherever it begins. */
int graft_stop_strings_check(const struct graft_token_texts *texts, const char *const *strings, size_t n,
                             const int32_t *ids, size_t count, int *is_hit, struct graft_error *error);

#endif
