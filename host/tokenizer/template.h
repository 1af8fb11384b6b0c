/* SPDX-License-Identifier: Apache-2.0 */
/* Last step of an encode: what is put around a text, or around the two of a pair. */
#ifndef GRAFT_TOKENIZER_TEMPLATE_H
#define GRAFT_TOKENIZER_TEMPLATE_H

#include "graft/host/tokenizer.h"
#include "tokenizer/spec.h"

/* "$A", "$B" or a special token, which may be several ids. */
struct graft_template_part {
    enum { GRAFT_PART_FIRST, GRAFT_PART_SECOND, GRAFT_PART_SPECIAL } kind;
    int32_t type_id;
    struct graft_ids ids; /* of a special token */
};

struct graft_template_parts {
    struct graft_template_part *items; /* [n] */
    size_t n;
    size_t capacity;
};

/* Starts as {0}, which puts nothing around a text and one text of a pair behind the other. */
struct graft_template {
    int given;         /* whether the file says something */
    int refuses_pairs; /* one of two texts would have no place */
    struct graft_template_parts single;
    struct graft_template_parts pair;
};

/* [load] Reads the field `post_processor`. */
int graft_template_load(struct graft_template *processor, const struct graft_spec *spec, struct graft_error *error);

/* [any] Adds the ids of `first`, and of `second` unless it is NULL, in their surroundings; `types` gets a type id for
 * each, and may be NULL. */
void graft_template_apply(const struct graft_template *processor, const struct graft_ids *first,
                          const struct graft_ids *second, int add_special_tokens, struct graft_ids *ids,
                          struct graft_ids *types);

/* [any] The first special token that `has` does not know, or -1. */
int32_t graft_template_unknown(const struct graft_template *processor, int (*has)(const void *data, int32_t id),
                               const void *data);

void graft_template_finish(struct graft_template *processor);

#endif
