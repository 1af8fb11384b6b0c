/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over latents. */
#include "arch/mla/mla.h"

static const struct graft_mla_absorbed *get_absorbed(struct graft_mla *self, const struct graft_call *call,
                                                     struct graft_error *error) {
    struct graft_mla_absorbed *known = atomic_load(&self->absorbed);
    if (known != NULL) {
        return known;
    }
    struct graft_mla_absorbed *made = graft_mla_absorbed_make(self, call, error);
    if (made != NULL && !atomic_compare_exchange_strong(&self->absorbed, &known, made)) {
        graft_mla_absorbed_free(self->base.host, made); /* another thread has set it in the meantime */
        return known;
    }
    return made;
}

/* y [tokens, heads, y_head] = for each head, its rows [rows, columns] of the weight times the first `columns` numbers
 * of x [tokens, heads, x_head]. */
static int multiply_heads(const struct graft_call *call, const struct graft_weight *weight, int64_t heads,
                          int64_t tokens, const float *x, int64_t x_head, float *y, int64_t y_head,
                          struct graft_error *error) {
    int64_t rows = weight->rows / heads;
    struct graft_product *products = call->scratch_alloc(call->scratch, heads * (int64_t)sizeof *products);
    if (products == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int64_t h = 0; h < heads; h++) {
        products[h] = graft_product_of(weight, NULL, h * rows, rows, tokens, x + h * x_head, y + h * y_head);
        products[h].x_stride = heads * x_head;
        products[h].y_stride = heads * y_head;
    }
    return call->kernels->linear(call, products, (int32_t)heads, sizeof products[0], error);
}

int graft_mla_attend_to_latents(struct graft_mla *self, const struct graft_call *call,
                                const struct graft_self_attention_args *args,
                                const struct graft_mla_projected *projected, float *context,
                                struct graft_error *error) {
    const struct graft_mla_sizes *sizes = &self->sizes;
    int64_t tokens = args->batch->tokens;
    int64_t q_width = sizes->nope + sizes->rope;
    int64_t width = sizes->rank + sizes->rope;
    const struct graft_mla_absorbed *absorbed = get_absorbed(self, call, error);
    float *q = graft_scratch_floats(call, tokens, sizes->heads * width, error);          /* [.., heads, width] */
    float *sums = graft_scratch_floats(call, tokens, sizes->heads * sizes->rank, error); /* [.., heads, rank] */
    if (absorbed == NULL || q == NULL || sums == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = sizes->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = sizes->heads,
        .kv_heads = 1,
        .head_dim = width,
        .v_head_dim = sizes->rank,
        .scaling = sizes->scaling,
        .softcap = sizes->softcap,
        .q = q,
        .q_stride = sizes->heads * width,
        .k = projected->kept,
        .k_stride = width,
        .output = sums,
        .output_stride = sizes->heads * sizes->rank,
    };
    int status = multiply_heads(call, absorbed->key, sizes->heads, tokens, projected->q, q_width, q, width, error);
    graft_mla_copy_rows(projected->q + sizes->nope, q_width, tokens * sizes->heads, sizes->rope, q + sizes->rank,
                        width);
    if (status == GRAFT_OK) {
        status = call->kernels->attention(call, &attention_args, error);
    }
    return status == GRAFT_OK ? multiply_heads(call, absorbed->value, sizes->heads, tokens, sums, sizes->rank, context,
                                               sizes->value, error)
                              : status;
}
