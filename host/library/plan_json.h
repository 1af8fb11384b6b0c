/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the document of graft_model_plan_json. Functions return a value, or set the named members. */
#ifndef GRAFT_LIBRARY_PLAN_JSON_H
#define GRAFT_LIBRARY_PLAN_JSON_H

#include "base/json_writer.h"
#include "graft/host/graft.h"

/* The whole document, which the caller frees; NULL if memory ran out. */
graft_json *graft_plan_document(const struct graft_model *model);

graft_json *graft_plan_plugins(struct graft_writer *writer, const struct graft_library *library);
graft_json *graft_plan_chains(struct graft_writer *writer, const struct graft_model *model);
graft_json *graft_plan_adapters(struct graft_writer *writer, const struct graft_plan_info *plan);
graft_json *graft_plan_fusion(struct graft_writer *writer, const struct graft_plan_info *plan);
graft_json *graft_plan_notes(struct graft_writer *writer, const struct graft_model *model,
                             const struct graft_library *library);

/* Sets attention_implementation, experts_implementation and kernels to those in use. */
void graft_plan_implementations(struct graft_writer *writer, graft_json *document, const struct graft_model *model);

/* Sets fields and asked_fields. */
void graft_plan_fields(struct graft_writer *writer, graft_json *document, const struct graft_model *model);

#endif
