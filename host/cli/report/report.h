/* SPDX-License-Identifier: Apache-2.0 */
/* Reports how a model was built, for people and for programs. */
#ifndef GRAFT_CLI_REPORT_REPORT_H
#define GRAFT_CLI_REPORT_REPORT_H

#include <stdio.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "graft/host/graft.h"

/* Prints the load report: replaced modules, conversions of tensors, memory and time. If `brief`, plugins that are not
 * used are only counted. */
int graft_report_text(const struct graft_model *model, const struct graft_library *library, int brief, FILE *out,
                      struct graft_error *error);

/* Prints a line "note: ..." for each note on the plugins and, unless `model` is NULL, on the model. */
void graft_report_notes(const struct graft_model *model, const struct graft_library *library, FILE *out);

/* The document of `plan --json`, which the library makes (graft/host/plan.h); the caller frees it. NULL if memory ran
 * out. */
graft_json *graft_report_json(const struct graft_model *model);

/* Sets `sha256` to that of the file of plugin number `i`; null if the plugin has no file, or it cannot be read any
 * more. */
void graft_report_sha256_json(struct graft_writer *writer, graft_json *object, const struct graft_library *library,
                              size_t i);

/* Prints a line for each plugin with its SHA-256. */
int graft_report_sha256(const struct graft_library *library, FILE *out, struct graft_error *error);

/* Prints a line for each kind of module that the requested fusion families considered. */
int graft_report_fusion_text(const struct graft_plan_info *plan, FILE *out, struct graft_error *error);

#endif
