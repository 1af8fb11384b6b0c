/* SPDX-License-Identifier: Apache-2.0 */
/* Reports how the fields of a model's JSON files were used. */
#ifndef GRAFT_CLI_REPORT_FIELDS_H
#define GRAFT_CLI_REPORT_FIELDS_H

#include <stdio.h>

#include "graft/host/graft.h"

/* Prints a line, after `before`, for each file with unused fields and for each with fields that --ignore-field removed:
 * "not used config.json: clip_qkv (0.5)". */
int graft_report_fields_text(const struct graft_model *model, const char *before, FILE *out, struct graft_error *error);

#endif
