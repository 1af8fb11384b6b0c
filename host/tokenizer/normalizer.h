/* SPDX-License-Identifier: Apache-2.0 */
/* Second step of an encode: what is between the added tokens is rewritten, by a chain of normalizers. */
#ifndef GRAFT_TOKENIZER_NORMALIZER_H
#define GRAFT_TOKENIZER_NORMALIZER_H

#include "base/text.h"
#include "tokenizer/spec.h"

/* One kind is one file, which embeds this as the first member of what it needs. */
struct graft_normalizer {
    /* [any] Adds to `out` (empty) what `text` (valid UTF-8) becomes. */
    int (*run)(const struct graft_normalizer *self, const char *text, size_t length, struct graft_text *out,
               struct graft_error *error);
    void (*destroy)(struct graft_normalizer *self);
    struct graft_normalizer *next;
};

/* [load] Reads the field `normalizer`; nested sequences become one chain, and none is NULL. */
int graft_normalizer_load(const struct graft_spec *spec, struct graft_normalizer **chain, struct graft_error *error);

/* [any] Replaces `text` by what the chain makes of it. */
int graft_normalizer_run(const struct graft_normalizer *chain, struct graft_text *text, struct graft_error *error);

void graft_normalizer_destroy(struct graft_normalizer *chain);

/* [load] What makes each kind; `type` says which, where a function makes several. */
typedef int graft_normalizer_create(const struct graft_spec *spec, const char *type, struct graft_normalizer **made,
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
