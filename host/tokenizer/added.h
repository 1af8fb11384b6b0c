/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First step of an encode: tokens that were added to the vocabulary, such as "<|im_end|>", are found in the text before
 * anything else happens to it. Those marked `normalized` are found after the normalizer instead, in their own
 * normalized form. At each place the longest one counts.
 */
#ifndef GRAFT_TOKENIZER_ADDED_H
#define GRAFT_TOKENIZER_ADDED_H

#include "base/json_field.h"
#include "tokenizer/lexicon.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/pieces.h"
#include "tokenizer/vocab.h"

enum graft_added_stage { GRAFT_ADDED_RAW, GRAFT_ADDED_NORMALIZED };

/* How a token is recognised, apart from its text. */
struct graft_added_rule {
    int special;     /* a file marks it as special, even if another file does not */
    int skipped;     /* left out when decoding without special tokens, because a special token has this text */
    int single_word; /* not recognised next to a letter, a digit or an underscore */
    int lstrip;      /* includes the white space before it */
    int rstrip;
    int normalized;
    int decoded_normalized; /* a file marks it as normalized, even if another file does not; the decoder of tokenizers
                               then uses the normalized form */
    size_t form_start;      /* where its normalized form starts in `forms` */
    size_t form_length;
};

/* An added token as one entry of a file defines it. */
struct graft_added_token {
    const char *text; /* borrowed */
    size_t length;
    struct graft_added_rule rule;
    int has_normalized; /* whether the entry says so; the default: normalized unless special
                         */
};

/* Starts as {0}. */
struct graft_added {
    struct graft_vocab vocab;
    struct graft_added_rule *rules; /* [vocab.count] rule of each token of `vocab`, in the same order */
    size_t capacity;
    int64_t next_id;     /* one more than the largest id */
    int ignores_special; /* special tokens are not searched for in texts */
    struct graft_text forms;
    struct graft_lexicon raw; /* from a token's text to its index */
    struct graft_lexicon normalized;
    struct graft_lexicon plain; /* original texts of the tokens that `normalized` holds */
};

/* Bytes of a text in which no control token is recognised, such as those that a user wrote. */
struct graft_added_marks {
    const unsigned char *marks; /* [length of the text] 1 for such a byte */
    const int32_t *controls;    /* [n] ids of control tokens that are not special tokens */
    size_t n;
};

/* [load] Reads a token's text and rule from an object. `keys` (NULL-terminated) are further members that the object may
 * have; `special` is the default of the field of that name. The text is borrowed from the document. */
int graft_added_read(const struct graft_field *spec, const char *const *keys, int special,
                     struct graft_added_token *token, struct graft_error *error);

/* [load] Reads the field `added_tokens`. Ids must agree with `vocab`, the model's vocabulary. */
int graft_added_load(struct graft_added *added, const struct graft_field *spec, const struct graft_vocab *vocab,
                     struct graft_error *error);

/* [load] Adds a token as tokenizers does: a token that is already known, in `vocab` or added, keeps its id and gets
 * this rule; a new one gets the next id after those of `vocab` and of all added tokens. `file` is named in errors. */
int graft_added_put(struct graft_added *added, const struct graft_vocab *vocab, const struct graft_added_token *token,
                    const char *file, int32_t *id, struct graft_error *error);

/* [load] Builds the tries that texts are searched with. Call it once all tokens are added, before graft_added_split. */
int graft_added_index(struct graft_added *added, const struct graft_normalizer *normalizer, const char *file,
                      struct graft_error *error);

/* [any] Splits `text` (valid UTF-8) at the tokens of that stage, and adds tokens and the text between them to `out`.
 * Control tokens are not recognised in bytes that `marks` (NULL: none) marks. Normalization loses the marks; so with
 * marks, control tokens that belong to the normalized stage are searched for in the raw stage instead. */
void graft_added_split(const struct graft_added *added, enum graft_added_stage stage,
                       const struct graft_added_marks *marks, const char *text, size_t length, int first,
                       struct graft_pieces *out);

/* [any] The text that the decoder gets for an added token: the normalized form of a normalized token, because decoders
 * undo what normalizers do, else its own text. NULL if `id` is not an added token. */
const char *graft_added_decoded(const struct graft_added *added, int32_t id, size_t *length);

/* [any] Whether this id is a special token, and whether it is left out when decoding without special tokens. */
int graft_added_is_special(const struct graft_added *added, int32_t id);
int graft_added_is_skipped(const struct graft_added *added, int32_t id);

void graft_added_finish(struct graft_added *added);

#endif
