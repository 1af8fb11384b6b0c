/* SPDX-License-Identifier: Apache-2.0 */
/* Last step of an encode: puts special tokens around the text, or around a pair of texts. The first processor of a
 * chain gets a list of one or two texts; each outputs another list, and the texts of the last list are joined. */
#ifndef GRAFT_TOKENIZER_POSTPROCESSOR_H
#define GRAFT_TOKENIZER_POSTPROCESSOR_H

#include "base/json_field.h"
#include "graft/host/tokenizer.h"
#include "tokenizer/template.h"

enum graft_postprocessor_kind {
    GRAFT_POSTPROCESSOR_TEMPLATE, /* each part of the template becomes a text */
    GRAFT_POSTPROCESSOR_BERT,     /* cls A sep, B sep */
    GRAFT_POSTPROCESSOR_ROBERTA,  /* cls A sep, sep B sep, and all types are 0 */
};

struct graft_postprocessor {
    enum graft_postprocessor_kind kind;
    struct graft_template template;
    int32_t cls;
    int32_t sep;
    char *field; /* path of the field, for errors */
    struct graft_postprocessor *next;
};

/* [load] Reads the field `post_processor`; `*chain` is NULL if there is none. */
int graft_postprocessor_load(const struct graft_field *spec, struct graft_postprocessor **chain,
                             struct graft_error *error);

void graft_postprocessor_destroy(struct graft_postprocessor *chain);

/* [any] The first special token of the chain for which `has` is false, or -1. */
int32_t graft_postprocessor_unknown(const struct graft_postprocessor *chain, int (*has)(const void *data, int32_t id),
                                    const void *data);

/* [any] Appends the ids of `first` and, unless it is NULL, of `second`, with the special tokens around them. `types`
 * gets a type id for each id, and may be NULL. A text that the template has no place for is GRAFT_ERROR_MODEL of
 * `file`. */
int graft_postprocessor_run(const struct graft_postprocessor *chain, const struct graft_ids *first,
                            const struct graft_ids *second, int add_special_tokens, const char *file,
                            struct graft_ids *ids, struct graft_ids *types, struct graft_error *error);

#endif
