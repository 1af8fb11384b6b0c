/* SPDX-License-Identifier: Apache-2.0 */
/* TemplateProcessing: the special tokens around a text, or around a pair of texts. */
#ifndef GRAFT_TOKENIZER_TEMPLATE_H
#define GRAFT_TOKENIZER_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/json_field.h"
#include "graft/host/tokenizer.h"

struct graft_template_part {
    enum { GRAFT_PART_FIRST, GRAFT_PART_SECOND, GRAFT_PART_SPECIAL } kind;
    int32_t type_id;
    struct graft_ids ids; /* ids of a special token */
};

struct graft_template_parts {
    struct graft_template_part *items; /* [n] */
    size_t n;
    size_t capacity;
};

/* Starts as {0}. */
struct graft_template {
    struct graft_template_parts single;
    struct graft_template_parts pair;
    int refuses_pairs; /* `pair` lacks one of the two texts */
};

/* [load] Reads a TemplateProcessing. The caller finishes it, even on failure. */
int graft_template_load(struct graft_template *template, const struct graft_field *spec, struct graft_error *error);
void graft_template_finish(struct graft_template *template);

/* [any] The first special token of the template for which `has` is false, or -1. */
int32_t graft_template_unknown(const struct graft_template *template, int (*has)(const void *data, int32_t id),
                               const void *data);

#endif
