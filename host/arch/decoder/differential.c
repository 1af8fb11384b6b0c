/* SPDX-License-Identifier: Apache-2.0 */
/* Differential attention (Ye et al. 2024): the output of the second half of the heads, multiplied by a learned number,
 * is subtracted from that of the first half. Each head's values are those of two heads, concatenated. */
#include <math.h>
#include <string.h>

#include "arch/decoder/attention.h"
#include "graft/describe.h"

static const char *const names[GRAFT_LAMBDAS] = {"lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"};

int graft_differential_describe(const struct graft_attention_kept *kept, const struct graft_sink *sink,
                                struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &kept->sizes;
    int status = GRAFT_OK;
    if (!kept->differential) {
        return GRAFT_OK;
    }
    if (sizes->heads % 2 != 0 || sizes->kv_heads % 2 != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, sink->path,
                               "%lld heads, and %lld of keys and values, expected even numbers: halves are subtracted",
                               (long long)sizes->heads, (long long)sizes->kv_heads);
    }
    for (int32_t i = 0; i < GRAFT_LAMBDAS && status == GRAFT_OK; i++) {
        status = graft_describe_vector(sink, names[i], sizes->head_dim, error);
    }
    return status;
}

void graft_differential_find(const struct graft_build *build, struct graft_attention *self, struct graft_error *error) {
    for (int32_t i = 0; self->kept.differential && i < GRAFT_LAMBDAS; i++) {
        self->lambdas[i] = graft_build_weight(build, names[i], error);
    }
}

int graft_differential_values(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                              struct graft_heads *v, struct graft_error *error) {
    const int64_t heads = self->kept.sizes.kv_heads, dim = self->kept.value_dim;
    float *pairs = graft_scratch_floats(call, tokens, heads * 2 * dim, error); /* [tokens, heads, 2, dim] */
    if (pairs == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < tokens * heads * 2; i++) {
        const int64_t head = i / 2 % heads % (heads / 2) + i % 2 * (heads / 2);
        memcpy(pairs + i * dim, v->x + i / 2 / heads * v->stride + head * v->head_stride, (size_t)dim * sizeof *pairs);
    }
    *v = (struct graft_heads){pairs, heads * 2 * dim, 2 * dim};
    return GRAFT_OK;
}

/* exp(lambda_q1 . lambda_k1) - exp(lambda_q2 . lambda_k2) + initial */
static int find_lambda(const struct graft_attention *self, const struct graft_call *call, float initial, float *lambda,
                       struct graft_error *error) {
    const int64_t dim = self->kept.sizes.head_dim;
    const float *numbers[GRAFT_LAMBDAS];
    float products[2] = {0.0f, 0.0f};
    for (int32_t i = 0; i < GRAFT_LAMBDAS; i++) {
        numbers[i] = graft_scratch_widened(call, self->lambdas[i], error);
        if (numbers[i] == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
    }
    for (int64_t d = 0; d < dim; d++) {
        products[0] += numbers[0][d] * numbers[1][d];
        products[1] += numbers[2][d] * numbers[3][d];
    }
    *lambda = expf(products[0]) - expf(products[1]) + initial;
    return GRAFT_OK;
}

/* y [width] = factor * (a - lambda * b), normalised; y may be a. */
static void subtract(const float *a, const float *b, float lambda, float eps, float factor, int64_t width, float *y) {
    float squares = 0.0f;
    for (int64_t i = 0; i < width; i++) {
        y[i] = a[i] - lambda * b[i];
        squares += y[i] * y[i];
    }
    const float scale = factor / sqrtf(squares / (float)width + eps);
    for (int64_t i = 0; i < width; i++) {
        y[i] *= scale;
    }
}

int graft_differential_combine(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                               float *context, struct graft_error *error) {
    const int64_t half = self->kept.sizes.heads / 2, width = 2 * self->kept.value_dim;
    const float initial = 0.8f - 0.6f * expf(-0.3f * (float)self->kept.sizes.layer);
    float lambda = 0.0f;
    int status = find_lambda(self, call, initial, &lambda, error);
    for (int64_t i = 0; i < tokens * half && status == GRAFT_OK; i++) {
        const float *a = context + (i / half * 2 * half + i % half) * width; /* ahead of what has been written */
        subtract(a, a + half * width, lambda, self->kept.eps, 1.0f - initial, width, context + i * width);
    }
    return status;
}
