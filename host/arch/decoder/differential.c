/* SPDX-License-Identifier: Apache-2.0 */
/* Differential attention (Ye et al. 2024): the output of the second half of the heads, multiplied by a learned number,
 * is subtracted from that of the first half. Each head's values are those of two heads, concatenated. */
#include <math.h>
#include <string.h>

#include "arch/decoder/attention.h"

static const char *const names[GRAFT_LAMBDAS] = {"lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"};

void graft_differential_outline(struct graft_outline *of, struct graft_attention *self) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    if (self->differential && (sizes->heads % 2 != 0 || sizes->kv_heads % 2 != 0)) {
        (void)graft_error_set(of->error, GRAFT_ERROR_MODEL, of->sink->path,
                              "%lld heads, and %lld of keys and values, expected even numbers: halves are subtracted",
                              (long long)sizes->heads, (long long)sizes->kv_heads);
    }
    for (int32_t i = 0; self->differential && i < GRAFT_LAMBDAS; i++) {
        graft_outline_vector(of, &self->lambdas[i], names[i], sizes->head_dim);
    }
}

void graft_differential_values(const struct graft_attention *self, const struct graft_pass *pass,
                               struct graft_heads *v) {
    const int64_t heads = self->sizes.kv_heads, dim = self->value_dim;
    float *pairs = graft_pass_floats(pass, heads * 2 * dim); /* [tokens, heads, 2, dim] */
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * heads * 2; i++) {
        const int64_t head = i / 2 % heads % (heads / 2) + i % 2 * (heads / 2);
        memcpy(pairs + i * dim, v->x + i / 2 / heads * v->stride + head * v->head_stride, (size_t)dim * sizeof *pairs);
    }
    *v = graft_heads_packed(pairs, heads, 2 * dim);
}

/* exp(lambda_q1 . lambda_k1) - exp(lambda_q2 . lambda_k2) + initial */
static float find_lambda(const struct graft_attention *self, const struct graft_pass *pass, float initial) {
    const float *numbers[GRAFT_LAMBDAS];
    float products[2] = {0.0f, 0.0f};
    for (int32_t i = 0; i < GRAFT_LAMBDAS; i++) {
        numbers[i] = graft_pass_widen(pass, self->lambdas[i]);
    }
    for (int64_t d = 0; graft_pass_ok(pass) && d < self->sizes.head_dim; d++) {
        products[0] += numbers[0][d] * numbers[1][d];
        products[1] += numbers[2][d] * numbers[3][d];
    }
    return expf(products[0]) - expf(products[1]) + initial;
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

void graft_differential_combine(const struct graft_attention *self, const struct graft_pass *pass, float *context) {
    const int64_t half = self->sizes.heads / 2, width = 2 * self->value_dim;
    const float initial = 0.8f - 0.6f * expf(-0.3f * (float)self->sizes.layer);
    const float lambda = find_lambda(self, pass, initial);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * half; i++) {
        /* Result i is written in place, over head i: `a` is that head or a later one, so no head is lost before it is
         * read. */
        const float *a = context + (i / half * 2 * half + i % half) * width;
        subtract(a, a + half * width, lambda, self->eps, 1.0f - initial, width, context + i * width);
    }
}
