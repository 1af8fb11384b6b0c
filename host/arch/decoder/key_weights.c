/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic masks (Shi et al. 2025): each key has a weight, computed from its value, which is added to its scores with
 * all queries. To keep scores plain products, queries and keys are extended by one number. */
#include <math.h>
#include <string.h>

#include "arch/decoder/attention.h"
#include "arch/decoder/choices.h"
#include "graft/describe.h"
#include "graft/linear.h"

int graft_key_weights_describe(const struct graft_description *description, const struct graft_attention_kept *kept,
                               const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &kept->sizes;
    const char *projection = graft_description_name(description, D_KEY_WEIGHTS);
    if (projection == NULL) {
        return GRAFT_OK;
    }
    graft_describe_linear(sink, projection, sizes->kv_heads * kept->value_dim, sizes->kv_heads, sizes->qkv_bias, error);
    graft_describe_vector(sink, "A", sizes->kv_heads, error);
    return error->code;
}

void graft_key_weights_find(const struct graft_description *description, const struct graft_build *build,
                            struct graft_attention *self, struct graft_error *error) {
    const char *projection = graft_description_name(description, D_KEY_WEIGHTS);
    if (projection != NULL) {
        self->key_weights = graft_build_child(build, projection, error);
        self->key_rates = graft_build_weight(build, "A", error);
    }
}

/* weights [tokens, kv_heads] = exp(A * softplus(dt_proj(values))) */
static int find_weights(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                        const struct graft_heads *v, float *weights, struct graft_error *error) {
    const int64_t heads = self->kept.sizes.kv_heads, dim = self->kept.value_dim;
    const float *rates = graft_scratch_widened(call, self->key_rates, error);
    float *values = graft_scratch_floats(call, tokens, heads * dim, error); /* [tokens, kv_heads, value_dim] */
    const struct graft_linear_args args = {sizeof args, 0, tokens, values, weights};
    if (rates == NULL || values == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < tokens * heads; i++) {
        memcpy(values + i * dim, v->x + i / heads * v->stride + i % heads * v->head_stride,
               (size_t)dim * sizeof *values);
    }
    int status = graft_linear_forward(self->key_weights, call, &args, error);
    for (int64_t i = 0; i < tokens * heads && status == GRAFT_OK; i++) {
        const float x = weights[i];
        weights[i] = expf(rates[i % heads] * (fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x)))));
    }
    return status;
}

/* Replaces x [tokens, heads, dim] by a copy [tokens, heads, dim + 1] with one of `numbers`, or `number`, after each
 * head. */
static int widen(const struct graft_call *call, int64_t tokens, int64_t heads, int64_t dim, const float *numbers,
                 float number, struct graft_heads *x, struct graft_error *error) {
    float *wide = graft_scratch_floats(call, tokens, heads * (dim + 1), error);
    if (wide == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < tokens * heads; i++) {
        memcpy(wide + i * (dim + 1), x->x + i / heads * x->stride + i % heads * x->head_stride,
               (size_t)dim * sizeof *wide);
        wide[i * (dim + 1) + dim] = numbers != NULL ? numbers[i] : number;
    }
    *x = (struct graft_heads){wide, heads * (dim + 1), dim + 1};
    return GRAFT_OK;
}

int graft_key_weights_add(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                          struct graft_projected *x, struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    float *weights = graft_scratch_floats(call, tokens, sizes->kv_heads, error); /* [tokens, kv_heads] */
    int status = weights != NULL ? find_weights(self, call, tokens, &x->v, weights, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = widen(call, tokens, sizes->heads, sizes->head_dim, NULL, 1.0f / (float)sizes->scaling, &x->q, error);
    }
    return status == GRAFT_OK ? widen(call, tokens, sizes->kv_heads, sizes->head_dim, weights, 0.0f, &x->k, error)
                              : status;
}
