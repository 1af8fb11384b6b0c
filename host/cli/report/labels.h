/* SPDX-License-Identifier: Apache-2.0 */
/* Labels with their scores. */
#ifndef GRAFT_CLI_REPORT_LABELS_H
#define GRAFT_CLI_REPORT_LABELS_H

#include <stdio.h>

#include "graft/host/encode.h"

struct graft_scored {
    double score;
    const char *label;
    int64_t number; /* of the label */
};

/* labels [info->n_labels]: the scores of a row of logits, as the model's problem type has them, the best first. */
void graft_labels_score(const struct graft_encoder_info *info, const float *logits, struct graft_scored *labels);

/* Writes text from a file in which what drives a terminal is replaced, and `end`. */
int graft_print_clean(const char *text, const char *end, struct graft_error *error);

#endif
