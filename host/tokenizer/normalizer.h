/* SPDX-License-Identifier: Apache-2.0 */
/* Second step of an encode: a chain of normalizers rewrites the text between the added tokens. */
#ifndef GRAFT_TOKENIZER_NORMALIZER_H
#define GRAFT_TOKENIZER_NORMALIZER_H

#include "base/json_field.h"
#include "base/text.h"

/* A normalizer. Each kind has a struct whose first member is this one. */
struct graft_normalizer {
    /* [any] Appends the normalized form of `text` (valid UTF-8) to `out` (empty). */
    int (*run)(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
               struct graft_error *error);
    void (*destroy)(struct graft_normalizer *self);
    struct graft_normalizer *next;
};

/* [load] Reads the field `normalizer`. Nested sequences become one chain; `*chain` is NULL if there is no normalizer.
 */
int graft_normalizer_load(const struct graft_field *spec, struct graft_normalizer **chain, struct graft_error *error);

/* [any] Replaces `text` by the output of the chain. */
int graft_normalizer_run(const struct graft_normalizer *chain, struct graft_text *text, struct graft_error *error);

void graft_normalizer_destroy(struct graft_normalizer *chain);

/* [load] Creates a normalizer; `type` is its kind, for functions that create several. */
typedef int graft_normalizer_create(const struct graft_field *spec, const char *type, struct graft_normalizer **made,
                                    struct graft_error *error);
graft_normalizer_create graft_normalizer_create_form;        /* NFC, NFD, NFKC, NFKD */
graft_normalizer_create graft_normalizer_create_mapped;      /* Lowercase, StripAccents, Nmt */
graft_normalizer_create graft_normalizer_create_strip;       /* Strip */
graft_normalizer_create graft_normalizer_create_prepend;     /* Prepend */
graft_normalizer_create graft_normalizer_create_replace;     /* Replace */
graft_normalizer_create graft_normalizer_create_bert;        /* BertNormalizer */
graft_normalizer_create graft_normalizer_create_precompiled; /* Precompiled */
graft_normalizer_create graft_normalizer_create_byte_level;  /* ByteLevel */

#endif
