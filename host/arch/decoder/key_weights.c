/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic masks (Shi et al. 2025): each key has a weight, computed from its value, which is added to its scores with
 * all queries. To keep scores plain products, queries and keys are extended by one number. */
#include <math.h>
#include <string.h>

#include "arch/basic/activation.h"
#include "arch/decoder/attention.h"

/* weights [tokens, kv_heads] = exp(A * softplus(dt_proj(values))) */
static float *find_weights(const struct graft_attention *self, const struct graft_pass *pass,
                           const struct graft_heads *v) {
    const int64_t heads = self->sizes.kv_heads;
    const float *rates = graft_pass_widen(pass, self->key_rates);
    float *values = graft_heads_copy(pass, v, heads, self->value_dim, NULL);
    float *weights = graft_pass_product(pass, self->key_weights, values, heads);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * heads; i++) {
        weights[i] = expf(rates[i % heads] * graft_softplus(weights[i]));
    }
    return weights;
}

/* Replaces x [tokens, heads, dim] by a copy [tokens, heads, dim + 1] with one of `numbers`, or `number`, after each
 * head. */
static void widen(const struct graft_pass *pass, int64_t heads, int64_t dim, const float *numbers, float number,
                  struct graft_heads *x) {
    float *wide = graft_pass_floats(pass, heads * (dim + 1));
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * heads; i++) {
        memcpy(wide + i * (dim + 1), graft_heads_at(x, heads, i), (size_t)dim * sizeof *wide);
        wide[i * (dim + 1) + dim] = numbers != NULL ? numbers[i] : number;
    }
    *x = graft_heads_packed(wide, heads, dim + 1);
}

void graft_key_weights_add(const struct graft_attention *self, const struct graft_pass *pass,
                           struct graft_projected *x) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const float *weights = find_weights(self, pass, &x->v);
    widen(pass, sizes->heads, sizes->head_dim, NULL, 1.0f / (float)sizes->scaling, &x->q);
    widen(pass, sizes->kv_heads, sizes->head_dim, weights, 0.0f, &x->k);
}
