/* SPDX-License-Identifier: Apache-2.0 */
/* What became of the fields of a model's JSON files. */
#ifndef GRAFT_CLI_REPORT_FIELDS_H
#define GRAFT_CLI_REPORT_FIELDS_H

#include <stdio.h>

#include "graft/host/graft.h"

/* A line for each file that has fields which are not used, and for each that had fields which --ignore-field took out:
 * "not used config.json: clip_qkv (0.5)", behind `before`. */
int graft_report_fields_text(const struct graft_model *model, const char *before, FILE *out, struct graft_error *error);

#endif
