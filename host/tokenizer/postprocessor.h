/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Last step of an encode: special tokens are put around the text, or the pair of texts. A chain of processors works on
 * a list of texts, which is one or two to begin with; each makes another list of it, and the last one's is joined.
 */
#ifndef GRAFT_TOKENIZER_POSTPROCESSOR_H
#define GRAFT_TOKENIZER_POSTPROCESSOR_H

#include "graft/host/tokenizer.h"
#include "tokenizer/spec.h"
#include "tokenizer/template.h"

enum graft_postprocessor_kind {
    GRAFT_POSTPROCESSOR_TEMPLATE, /* every part becomes a text */
    GRAFT_POSTPROCESSOR_BERT,     /* cls A sep, B sep */
    GRAFT_POSTPROCESSOR_ROBERTA,  /* cls A sep, sep B sep, and all types are 0 */
};

struct graft_postprocessor {
    enum graft_postprocessor_kind kind;
    struct graft_template template;
    int32_t cls;
    int32_t sep;
    char *field; /* where it stands, for errors */
    struct graft_postprocessor *next;
};

/* [load] Reads the field `post_processor`; none is NULL. */
int graft_postprocessor_load(const struct graft_spec *spec, struct graft_postprocessor **chain,
                             struct graft_error *error);

void graft_postprocessor_destroy(struct graft_postprocessor *chain);

/* [any] The first special token that `has` does not know, or -1. */
int32_t graft_postprocessor_unknown(const struct graft_postprocessor *chain, int (*has)(const void *data, int32_t id),
                                    const void *data);

/* [any] Adds the ids of `first`, and of `second` unless it is NULL, in their surroundings; `types` gets a type id for
 * each, and may be NULL. A text without a place in a template is GRAFT_ERROR_MODEL of `file`. */
int graft_postprocessor_run(const struct graft_postprocessor *chain, const struct graft_ids *first,
                            const struct graft_ids *second, int add_special_tokens, const char *file,
                            struct graft_ids *ids, struct graft_ids *types, struct graft_error *error);

#endif
