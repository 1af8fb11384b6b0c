/* SPDX-License-Identifier: Apache-2.0 */
/* How templates are filled; shared by what reads them. All functions are [load]. */
#ifndef GRAFT_TOKENIZER_TEMPLATE_LOAD_H
#define GRAFT_TOKENIZER_TEMPLATE_LOAD_H

#include "tokenizer/template.h"

/* Adds a part and returns it, or NULL if memory ran out. */
struct graft_template_part *graft_template_add_part(struct graft_template_parts *parts, int kind, int32_t type_id);

/* Reads a TemplateProcessing. */
int graft_template_load_parts(struct graft_template *processor, const struct graft_spec *spec,
                              struct graft_error *error);

#endif
