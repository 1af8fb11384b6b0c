/* SPDX-License-Identifier: Apache-2.0 */
/* Log likelihoods of tokens, from logits. */
#ifndef GRAFT_GENERATE_LIKELIHOOD_H
#define GRAFT_GENERATE_LIKELIHOOD_H

#include <stdint.h>

/* [any] loss[r] = -log softmax(logits[r])[targets[r]], the cross entropy of row r, for `rows` rows. logits is [rows,
 * vocab_size]; rows with a target below 0 have a loss of 0. Sums are f64; rows are divided among threads, which does
 * not change results. */
void graft_cross_entropy(const float *logits, int64_t rows, int64_t vocab_size, const int32_t *targets, double *loss);

#endif
