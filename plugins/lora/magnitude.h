/* SPDX-License-Identifier: Apache-2.0 */
/* DoRA (Liu et al. 2024): each row of W + factor * B A is rescaled to a length of its own, its magnitude m, so that y =
 * scale * (W x + factor * B (A x)) + bias, where scale = m / |row|. The norms are computed while the model is loaded.
 */
#ifndef LORA_MAGNITUDE_H
#define LORA_MAGNITUDE_H

#include "base.h"
#include "graft/call.h"
#include "graft/threads.h"
#include "rows.h"
#include "sums.h"

/* What replaces an output y, which includes the bias: scale * y + shift. */
struct lora_magnitude {
    float *scale; /* [outputs]; NULL: there are no magnitudes */
    float *shift; /* [outputs] corrects the bias, which is scaled too */
};

/* [load] Computes the magnitudes of the rows of `base` to which `delta`, of floats, is added, from `m` [rows]. The
 * caller finishes it, even on failure. */
int lora_magnitude_make(const struct graft_product *base, const struct lora_delta *delta, const struct graft_weight *m,
                        const struct graft_threads *threads, const char *path, struct lora_magnitude *made,
                        struct graft_error *error);

/* [load] The same for a lora_B with a bias and no magnitudes: only adds factor * `bias`, of floats. */
int lora_magnitude_of_bias(const struct graft_weight *bias, float factor, const char *path, struct lora_magnitude *made,
                           struct graft_error *error);
void lora_magnitude_finish(struct lora_magnitude *magnitude);

/* [any] Applies magnitudes to outputs [begin, end) of a row; y points to output `begin`. */
void lora_magnitude_apply(const struct lora_magnitude *magnitude, int64_t begin, int64_t end, float *y);

/* [forward] Applies magnitudes to all `outputs` of the rows of y, which are `stride` floats apart. */
void lora_magnitude_apply_rows(const struct lora_magnitude *magnitude, const struct graft_call *call,
                               const struct lora_rows *rows, int64_t outputs, int64_t stride, float *y);

#endif
