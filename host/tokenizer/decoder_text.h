/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on one token's text that several decoders share. All functions are [any]. */
#ifndef GRAFT_TOKENIZER_DECODER_TEXT_H
#define GRAFT_TOKENIZER_DECODER_TEXT_H

#include "base/text.h"

/* Appends `bytes` (valid UTF-8) to `out`, with every `from` replaced by `to`, from left to right. An empty `from`
 * matches before each character and at the end. */
void graft_decoder_replace(const char *bytes, size_t length, const struct graft_text *from, const char *to,
                           struct graft_text *out);

/* Removes spaces that tokenization puts into English text: those before punctuation, "n't" and the like. */
void graft_decoder_clean_up(struct graft_text *text);

#endif
