/* SPDX-License-Identifier: Apache-2.0 */
/* Properties and normalization forms of Unicode characters, as the tokenizer needs them. All functions are [any]. */
#ifndef GRAFT_TOKENIZER_UNICODE_H
#define GRAFT_TOKENIZER_UNICODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

int graft_unicode_is_space(uint32_t code);            /* property White_Space */
int graft_unicode_is_word(uint32_t code);             /* Alphabetic, marks, decimal digits, connectors, joiners */
int graft_unicode_is_punctuation(uint32_t code);      /* P* */
int graft_unicode_is_bert_punctuation(uint32_t code); /* P*, and every mark of ASCII */
int graft_unicode_is_number(uint32_t code);           /* N* */
int graft_unicode_is_mark(uint32_t code);             /* M* */
int graft_unicode_is_nonspacing(uint32_t code);       /* Mn */
int graft_unicode_is_control(uint32_t code);          /* Cc, Cf, Co */

/* Length in bytes of the extended grapheme cluster (what readers see as one character) at the start of `bytes`, valid
 * UTF-8 of at least one byte. */
size_t graft_unicode_cluster(const char *bytes, size_t length);

/* Appends the character's lower case, regardless of its neighbours and of the language. */
void graft_unicode_add_lower(struct graft_text *text, uint32_t code);

enum graft_unicode_form { GRAFT_UNICODE_NFC, GRAFT_UNICODE_NFD, GRAFT_UNICODE_NFKC, GRAFT_UNICODE_NFKD };

/* Appends valid UTF-8 in that normalization form. Takes linear time, even if a letter has a million marks. */
void graft_unicode_normalize(enum graft_unicode_form form, const char *bytes, size_t length, struct graft_text *out);

#endif
