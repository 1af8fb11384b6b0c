/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DoRA (Liu et al. 2024): each row of W + factor * B A is given a length of its own, its magnitude m, so that
 * y = scale * (W x + factor * B (A x)) + bias with scale = m / |row|. The norms are found while the model is loaded.
 */
#ifndef LORA_MAGNITUDE_H
#define LORA_MAGNITUDE_H

#include "base.h"
#include "graft/call.h"
#include "graft/threads.h"
#include "rows.h"
#include "sums.h"

/* What becomes of an output y, its bias included: scale * y + shift. */
struct lora_magnitude {
    float *scale; /* [outputs]; NULL: there are no magnitudes */
    float *shift; /* [outputs] what is missing of the bias then */
};

/* [load] For the rows of `base` that `delta`, of floats, adds to, of magnitudes `m` [rows]. Whatever comes of it is to
 * be finished. */
int lora_magnitude_make(const struct graft_product *base, const struct lora_delta *delta, const struct graft_weight *m,
                        const struct graft_threads *threads, const char *path, struct lora_magnitude *made,
                        struct graft_error *error);

/* [load] The same where nothing is scaled, and factor * `bias`, of floats, is added: the bias of lora_B. */
int lora_magnitude_of_bias(const struct graft_weight *bias, float factor, const char *path, struct lora_magnitude *made,
                           struct graft_error *error);
void lora_magnitude_finish(struct lora_magnitude *magnitude);

/* [any] Outputs [begin, end) of a row, of which y has the first. */
void lora_magnitude_apply(const struct lora_magnitude *magnitude, int64_t begin, int64_t end, float *y);

/* [forward] All `outputs` of the rows of y, which lie `stride` floats apart. */
void lora_magnitude_apply_rows(const struct lora_magnitude *magnitude, const struct graft_call *call,
                               const struct lora_rows *rows, int64_t outputs, int64_t stride, float *y);

#endif
