/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First step of an encode: tokens that were added to the vocabulary, such as "<|im_end|>", are found in the text before
 * anything else happens to it. Those marked `normalized` are found after the normalizer instead, in their own
 * normalized form. At each place the longest one counts.
 */
#ifndef GRAFT_TOKENIZER_ADDED_H
#define GRAFT_TOKENIZER_ADDED_H

#include "tokenizer/lexicon.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/pieces.h"
#include "tokenizer/spec.h"
#include "tokenizer/vocab.h"

enum graft_added_stage { GRAFT_ADDED_RAW, GRAFT_ADDED_NORMALIZED };

/* How a token is recognised, beside its text. */
struct graft_added_rule {
    int special;     /* some file calls it special, even if another does not */
    int skipped;     /* left out when decoding without special tokens: what is decoded is the text of a special token */
    int single_word; /* not where a letter, digit or the like touches it */
    int lstrip;      /* takes the white space before it */
    int rstrip;
    int normalized;
    int decoded_normalized; /* some file says normalized, even if another does not; tokenizers decodes it so from then
                               on */
    size_t form_start;      /* of the normalized form, in `forms` */
    size_t form_length;
};

/* A token as a file writes it. */
struct graft_added_token {
    const char *text; /* borrowed */
    size_t length;
    struct graft_added_rule rule;
    int has_normalized; /* the file says whether it is; else a token is unless it is special */
};

/* Starts as {0}. */
struct graft_added {
    struct graft_vocab vocab;
    struct graft_added_rule *rules; /* [vocab.count] of the tokens of `vocab`, in its order */
    size_t capacity;
    int64_t next_id;     /* behind the largest of the tokens */
    int ignores_special; /* special tokens are not looked for in texts */
    struct graft_text forms;
    struct graft_lexicon raw; /* → index of the token */
    struct graft_lexicon normalized;
    struct graft_lexicon plain; /* the tokens of `normalized` as the file writes them */
};

/* Which bytes of a text are not to become control tokens. */
struct graft_added_marks {
    const unsigned char *marks; /* [length of the text] 1 for such a byte */
    const int32_t *controls;    /* [n] ids of tokens that count as control tokens beside the special ones */
    size_t n;
};

/* [load] Reads a token's text and rule from an object; other members it may have are in `keys` (NULL-terminated). The
 * text lives as long as the document. `special` is what a token is that does not say. */
int graft_added_read(const struct graft_spec *spec, const char *const *keys, int special,
                     struct graft_added_token *token, struct graft_error *error);

/* [load] Reads the field `added_tokens`. Ids must agree with `vocab`, the model's vocabulary. */
int graft_added_load(struct graft_added *added, const struct graft_spec *spec, const struct graft_vocab *vocab,
                     struct graft_error *error);

/* [load] Adds a token as tokenizers does: one that is known, to `vocab` too, keeps its id and gets this rule; others
 * get the next id behind those of `vocab` and of all added tokens. `file` is named in errors. */
int graft_added_put(struct graft_added *added, const struct graft_vocab *vocab, const struct graft_added_token *token,
                    const char *file, int32_t *id, struct graft_error *error);

/* [load] To be called when all tokens are there, and before texts are cut. */
int graft_added_index(struct graft_added *added, const struct graft_normalizer *normalizer, const char *file,
                      struct graft_error *error);

/* [any] Cuts `text` (valid UTF-8) at the tokens of that stage and adds both to `out`. Where `marks` (NULL: none) say
 * that some control tokens are none, those that are otherwise found in normalized text are looked for in the raw stage
 * as well, and in the normalized stage, for which marks are lost, no control token is found. */
void graft_added_split(const struct graft_added *added, enum graft_added_stage stage,
                       const struct graft_added_marks *marks, const char *text, size_t length, int first,
                       struct graft_pieces *out);

/* [any] What the decoder gets for an added token: the normalized form of a normalized one, because decoders undo what
 * normalizers do; else its text. NULL when the id is no added token. */
const char *graft_added_decoded(const struct graft_added *added, int32_t id, size_t *length);

/* [any] Whether this id is a special token, and whether it is left out when decoding without special tokens. */
int graft_added_is_special(const struct graft_added *added, int32_t id);
int graft_added_is_skipped(const struct graft_added *added, int32_t id);

void graft_added_finish(struct graft_added *added);

#endif
