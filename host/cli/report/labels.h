/* SPDX-License-Identifier: Apache-2.0 */
/* Scores the labels of a classifier. */
#ifndef GRAFT_CLI_REPORT_LABELS_H
#define GRAFT_CLI_REPORT_LABELS_H

#include <stdio.h>

#include "graft/host/encode.h"

struct graft_scored {
    double score;
    const char *label;
    int64_t number; /* number of the label */
};

/* Fills labels [info->n_labels] with the scores of a row of logits, by the model's problem type, highest first. */
void graft_labels_score(const struct graft_encoder_info *info, const float *logits, struct graft_scored *labels);

/* Prints text that comes from a file, with control characters replaced, then `end`. */
int graft_print_clean(const char *text, const char *end, struct graft_error *error);

#endif
