/* SPDX-License-Identifier: Apache-2.0 */
/* Computes and compares logits of models. */
#ifndef GRAFT_VALIDATE_COMPARE_H
#define GRAFT_VALIDATE_COMPARE_H

#include "validate/tiny.h"

/* How far the logits of two runs may differ if sums have another order: the limit of graft_difference_limit. */
#define GRAFT_VALIDATION_TOLERANCE 5e-5

/* [any] The token id at a position of the prompts that checks use; every tiny model has it. */
int32_t graft_validation_id(int64_t position);

/* [any] The first of these ids, and the prompt that consists of them. */
enum { GRAFT_VALIDATION_IDS = 41 };
const int32_t *graft_validation_ids(void);
struct graft_prompt graft_validation_prompt(void);

/* [any] Whether the model is a language model, with logits for each token. */
int graft_has_logits(const struct graft_model *model);

/* [any] The same for a subject's model. If it has none, records that the check does not apply. */
int graft_subject_has_logits(struct graft_subject *subject);

/* [load] The logits of prompts. The caller frees them. */
int graft_make_logits(const struct graft_subject *subject, struct graft_model *model,
                      const struct graft_prompt *prompts, size_t n, float **logits, struct graft_error *error);

/* [any] Reports a fault if two runs' `count` numbers differ by more than `tolerance` allows (graft_difference_limit; 0:
 * in any bit), or are not finite. */
int graft_compare_numbers(const struct graft_subject *subject, const float *numbers, const float *reference,
                          int64_t count, double tolerance, const char *what, struct graft_error *error);

/* [load] Compares two models' logits for a fixed prompt in the same way. */
int graft_same_logits(const struct graft_subject *subject, struct graft_model *reference, struct graft_model *model,
                      const char *what, double tolerance, struct graft_error *error);

/* [load] The same for another prompt. */
int graft_same_logits_of(const struct graft_subject *subject, struct graft_model *reference, struct graft_model *model,
                         const struct graft_prompt *prompt, const char *what, double tolerance,
                         struct graft_error *error);

/* [load] Whether the original can tell what is right in a variant of the model: the plugin means to compute the same,
 * and does so here. If it does not, forward.agrees says why. */
int graft_agrees(const struct graft_subject *subject);

/* [load] Compares a batch of prompts, of 1, 7 and all fixed ids, with each prompt by itself. */
int graft_same_in_batch(const struct graft_subject *subject, struct graft_model *model, struct graft_error *error);

#endif
