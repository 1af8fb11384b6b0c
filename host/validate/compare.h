/* SPDX-License-Identifier: Apache-2.0 */
/* Logits of models, next to each other. */
#ifndef GRAFT_VALIDATE_COMPARE_H
#define GRAFT_VALIDATE_COMPARE_H

#include "validate/tiny.h"

/* How far logits of one model may differ where sums are made in another order: graft_difference_limit. */
#define GRAFT_VALIDATION_TOLERANCE 5e-5

/* [any] Token ids that every tiny model has. */
enum { GRAFT_VALIDATION_IDS = 41 };
const int32_t *graft_validation_ids(void);

/* [any] Whether the model has logits for each token: a language model. */
int graft_has_logits(const struct graft_model *model);

/* [any] The same of a subject's model; the check does not apply to one without. */
int graft_subject_has_logits(struct graft_subject *subject);

/* [load] The logits of prompts. The caller frees them. */
int graft_make_logits(const struct graft_subject *subject, struct graft_model *model,
                      const struct graft_prompt *prompts, size_t n, float **logits, struct graft_error *error);

/* [any] A fault if `count` numbers of two runs differ by more than `tolerance` allows
 * (graft_difference_limit; 0: in a bit), or are not finite. */
int graft_compare_numbers(const struct graft_subject *subject, const float *numbers, const float *reference,
                          int64_t count, double tolerance, const char *what, struct graft_error *error);

/* [load] The same of two models on a prompt of ours. */
int graft_same_logits(const struct graft_subject *subject, struct graft_model *reference, struct graft_model *model,
                      const char *what, double tolerance, struct graft_error *error);

/* [load] The same of a batch of prompts, of 1, 7 and all of our ids, and of each by itself. */
int graft_same_in_batch(const struct graft_subject *subject, struct graft_model *model, struct graft_error *error);

#endif
