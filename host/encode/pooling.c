/* SPDX-License-Identifier: Apache-2.0 */
#include "encode/pooling.h"

#include <math.h>
#include <string.h>

int64_t graft_pooling_size(const struct graft_pooling *pooling, int64_t hidden_size) {
    return pooling->n_modes * hidden_size;
}

static void pool_max(const float *hidden, int64_t tokens, int64_t columns, float *vector) {
    memcpy(vector, hidden, (size_t)columns * sizeof *vector);
    for (int64_t t = 1; t < tokens; t++) {
        for (int64_t j = 0; j < columns; j++) {
            float value = hidden[t * columns + j];
            vector[j] = value > vector[j] ? value : vector[j];
        }
    }
}

/* Sums the states, with weight `1 + t * slope` for token t, and divides by `divisor`. */
static void pool_sum(const float *hidden, int64_t tokens, int64_t columns, float slope, float divisor, float *vector) {
    memset(vector, 0, (size_t)columns * sizeof *vector);
    for (int64_t t = 0; t < tokens; t++) {
        float weight = 1.0f + (float)t * slope;
        for (int64_t j = 0; j < columns; j++) {
            vector[j] += weight * hidden[t * columns + j];
        }
    }
    for (int64_t j = 0; j < columns; j++) {
        vector[j] /= divisor;
    }
}

static void pool(int32_t mode, const float *hidden, int64_t tokens, int64_t columns, float *vector) {
    float count = (float)tokens;
    switch (mode) {
    case GRAFT_POOLING_CLS:
        memcpy(vector, hidden, (size_t)columns * sizeof *vector);
        break;
    case GRAFT_POOLING_MAX:
        pool_max(hidden, tokens, columns, vector);
        break;
    case GRAFT_POOLING_MEAN:
        pool_sum(hidden, tokens, columns, 0.0f, count, vector);
        break;
    case GRAFT_POOLING_MEAN_SQRT_LEN:
        pool_sum(hidden, tokens, columns, 0.0f, sqrtf(count), vector);
        break;
    case GRAFT_POOLING_WEIGHTED_MEAN:
        pool_sum(hidden, tokens, columns, 1.0f, count * (count + 1.0f) / 2.0f, vector);
        break;
    default:
        memcpy(vector, hidden + (tokens - 1) * columns, (size_t)columns * sizeof *vector);
        break;
    }
}

void graft_vector_normalize(float *vector, int64_t size) {
    double squares = 0.0;
    for (int64_t i = 0; i < size; i++) {
        squares += (double)vector[i] * (double)vector[i];
    }
    float length = (float)fmax(sqrt(squares), 1e-12);
    for (int64_t i = 0; i < size; i++) {
        vector[i] /= length;
    }
}

void graft_pooling_run(const struct graft_pooling *pooling, const float *hidden, int64_t tokens, int64_t hidden_size,
                       float *vector) {
    for (int32_t i = 0; i < pooling->n_modes; i++) {
        pool(pooling->modes[i], hidden, tokens, hidden_size, vector + i * hidden_size);
    }
}
