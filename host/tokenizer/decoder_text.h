/* SPDX-License-Identifier: Apache-2.0 */
/* What several decoders do to the text of one token. All functions are [any]. */
#ifndef GRAFT_TOKENIZER_DECODER_TEXT_H
#define GRAFT_TOKENIZER_DECODER_TEXT_H

#include "base/text.h"

/* Adds `bytes` (valid UTF-8) to `out` with every `from` replaced by `to`, from left to right. A `from` without bytes is
 * found before each character and at the end. */
void graft_decoder_replace(const char *bytes, size_t length, const struct graft_text *from, const char *to,
                           struct graft_text *out);

/* Takes back what tokenizing does to English: the space before punctuation and "n't", and the like. */
void graft_decoder_clean_up(struct graft_text *text);

#endif
