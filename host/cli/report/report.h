/* SPDX-License-Identifier: Apache-2.0 */
/* What was decided and done for a model, for people and for programs. */
#ifndef GRAFT_CLI_REPORT_REPORT_H
#define GRAFT_CLI_REPORT_REPORT_H

#include <stdio.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "graft/host/graft.h"

/* The load report: who replaced what, how tensors became parameters, what it cost. `brief` 1: plugins that are not used
 * are counted, not named. */
int graft_report_text(const struct graft_model *model, const struct graft_library *library, int brief, FILE *out,
                      struct graft_error *error);

/* A line "note: ..." for each note on the plugins and, unless `model` is NULL, on the model. */
void graft_report_notes(const struct graft_model *model, const struct graft_library *library, FILE *out);

/* The document of `plan --json`, which the library makes (graft/host/plan.h); the caller frees it. NULL if memory ran
 * out. */
graft_json *graft_report_json(const struct graft_model *model);

/* Sets `sha256` of the file of the library's plugin number `i`; null if it has none, or it cannot be read any more. */
void graft_report_sha256_json(struct graft_writer *writer, graft_json *object, const struct graft_library *library,
                              size_t i);

/* A line for each plugin with its SHA-256. */
int graft_report_sha256(const struct graft_library *library, FILE *out, struct graft_error *error);

/* Of the fusion families that were asked for: a line for each kind of module they considered. */
int graft_report_fusion_text(const struct graft_plan_info *plan, FILE *out, struct graft_error *error);

#endif
