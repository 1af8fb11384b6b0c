/* SPDX-License-Identifier: Apache-2.0 */
/* Third step of an encode: splits the text into words, each of which the model then splits into tokens. */
#ifndef GRAFT_TOKENIZER_PRETOKENIZER_H
#define GRAFT_TOKENIZER_PRETOKENIZER_H

#include "base/json_field.h"
#include "tokenizer/pieces.h"
#include "tokenizer/segments.h"

/* A pre-tokenizer. Each kind has its own file and a struct whose first member is this one. */
struct graft_pretokenizer {
    /* [any] Splits one piece of text, and appends the pieces to `out`. `scratch` may be used for anything. */
    int (*run)(const struct graft_pretokenizer *self, const char *text, size_t length, int first,
               struct graft_segments *scratch, struct graft_pieces *out, struct graft_error *error);
    void (*destroy)(struct graft_pretokenizer *self);
    struct graft_pretokenizer *next;
};

/* [load] Reads the field `pre_tokenizer`. Nested sequences become one chain; `*chain` is NULL if there is no
 * pre-tokenizer. */
int graft_pretokenizer_load(const struct graft_field *spec, struct graft_pretokenizer **chain,
                            struct graft_error *error);

/* [any] Passes all pieces of text through the chain, and replaces `pieces` by the result. */
int graft_pretokenizer_run(const struct graft_pretokenizer *chain, struct graft_pieces *pieces,
                           struct graft_error *error);

void graft_pretokenizer_destroy(struct graft_pretokenizer *chain);

/* [load] Creates a pre-tokenizer; `type` is its kind, for functions that create several. */
typedef int graft_pretokenizer_create(const struct graft_field *spec, const char *type,
                                      struct graft_pretokenizer **made, struct graft_error *error);
graft_pretokenizer_create graft_pretokenizer_create_split;        /* Split */
graft_pretokenizer_create graft_pretokenizer_create_delimiter;    /* CharDelimiterSplit */
graft_pretokenizer_create graft_pretokenizer_create_byte_level;   /* ByteLevel */
graft_pretokenizer_create graft_pretokenizer_create_digits;       /* Digits */
graft_pretokenizer_create graft_pretokenizer_create_punctuation;  /* Punctuation */
graft_pretokenizer_create graft_pretokenizer_create_spaces;       /* WhitespaceSplit, Whitespace, BertPreTokenizer */
graft_pretokenizer_create graft_pretokenizer_create_metaspace;    /* Metaspace */
graft_pretokenizer_create graft_pretokenizer_create_scripts;      /* UnicodeScripts */
graft_pretokenizer_create graft_pretokenizer_create_fixed_length; /* FixedLength */

/* Names of enum graft_split_behavior, a table of GRAFT_MEMBER_CHOICE. */
extern const char *const graft_split_behavior_names[];

#endif
