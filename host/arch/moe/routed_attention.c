/* SPDX-License-Identifier: Apache-2.0 */
/* A mixture of attention heads (Zhang et al. 2022; JetMoE): the projections of queries and of the output are experts. A
 * token is routed to k of them, and has k queries for each head of keys. */
#include <string.h>

#include "arch/decoder/attend.h"
#include "arch/decoder/choices.h"
#include "arch/moe/expert_pairs.h"
#include "arch/moe/mixture.h"
#include "arch/role.h"

struct routed_attention {
    struct graft_instance base;
    struct graft_parts_attention_sizes sizes; /* heads is k * kv_heads */
    int64_t experts;
    int64_t k;
    const struct graft_module *router;
    const struct graft_module *kv_proj;       /* hidden -> 2 * kv_heads * head_dim, keys first */
    const struct graft_weight *input_linear;  /* [experts, kv_heads * head_dim, hidden] */
    const struct graft_weight *output_linear; /* [experts, hidden, kv_heads * head_dim] */
    const struct graft_weight *bias;          /* [hidden]: bias of the output */
};

static void check(struct graft_reader *reader, const struct routed_attention *self) {
    if (reader->status == GRAFT_OK && self->k > self->experts) {
        graft_reader_fail(reader, D_MOE_TOP_K, "expected at most the number of experts (%lld), got %lld",
                          (long long)self->experts, (long long)self->k);
    }
    if (reader->status == GRAFT_OK && self->sizes.heads != self->k * self->sizes.kv_heads) {
        graft_reader_fail(reader, D_HEADS,
                          "expected %lld, as many for each head of keys as a token has experts, got %lld",
                          (long long)(self->k * self->sizes.kv_heads), (long long)self->sizes.heads);
    }
}

static void outline(struct graft_outline *of, struct routed_attention *self) {
    if (graft_parts_read_attention_sizes(of->args, of->sink->path, &self->sizes, of->error) != GRAFT_OK) {
        return;
    }
    self->experts = graft_read_int(&of->reader, D_MOE_EXPERTS);
    self->k = graft_read_int(&of->reader, D_MOE_TOP_K);
    check(&of->reader, self);
    const int64_t width = self->sizes.kv_heads * self->sizes.head_dim, hidden = self->sizes.hidden_size;
    const int64_t in[] = {self->experts, width, hidden}, out[] = {self->experts, hidden, width};
    const struct graft_arg layer = graft_int_arg("layer_idx", self->sizes.layer);
    graft_outline_child(of, &self->router, graft_outline_name(of, D_MOE_ROUTER_NAME),
                        graft_outline_name(of, D_CLASS_ROUTER), GRAFT_INTERFACE_ROUTER, &layer, 1);
    graft_outline_linear(of, &self->kv_proj, "kv_proj", hidden, 2 * width, self->sizes.qkv_bias);
    graft_outline_parameter(of, &self->input_linear, "input_linear", 3, in);
    graft_outline_parameter(of, &self->output_linear, "output_linear", 3, out);
    graft_outline_vector(of, &self->bias, "bias", hidden);
}

GRAFT_OUTLINED(graft_routed_attention, struct routed_attention)

/* y [pairs, rows] = W x for each pair of a token and one of its k experts, where W [rows, columns] is the expert's part
 * of `weight` and x [pairs / x_shared, columns] has one row for `x_shared` pairs. Pairs are gathered by expert, so that
 * each expert is multiplied once. */
static float *multiply(const struct routed_attention *self, const struct graft_pass *pass, const int32_t *expert,
                       const struct graft_weight *weight, const float *x, int64_t x_shared) {
    const int64_t rows = weight->rows / self->experts, columns = weight->columns;
    const struct graft_pass pairs = {pass->call, pass->rows * self->k, pass->error};
    int32_t *order = graft_scratch_ints(pass->call, pairs.rows, pass->error); /* the pairs, sorted by expert */
    float *from = graft_pass_floats(&pairs, columns), *to = graft_pass_floats(&pairs, rows);
    float *y = graft_pass_floats(&pairs, rows);
    struct graft_product *products =
        graft_scratch_zeroed(pass->call, self->experts * (int64_t)sizeof *products, pass->error);
    struct graft_call space;
    int32_t n_products = 0;
    int64_t n = 0;
    for (int64_t e = 0; graft_pass_ok(pass) && e < self->experts; e++) {
        const int64_t first = n;
        for (int64_t i = 0; i < pairs.rows; i++) {
            if (expert[i] == e) {
                memcpy(from + n * columns, x + i / x_shared * columns, (size_t)columns * sizeof *from);
                order[n++] = (int32_t)i;
            }
        }
        if (n > first) {
            products[n_products++] =
                graft_product_of(weight, NULL, e * rows, rows, n - first, from + first * columns, to + first * rows);
        }
    }
    /* Whether it is a small batch depends on all tokens, not on how many are routed to an expert. */
    if (graft_pass_ok(pass)) {
        (void)pass->call->kernels->linear(graft_call_among(pass->call, pass->rows, &space), products, n_products,
                                          sizeof *products, pass->error);
    }
    for (int64_t i = 0; graft_pass_ok(pass) && i < n; i++) {
        memcpy(y + order[i] * rows, to + i * rows, (size_t)rows * sizeof *y);
    }
    return y;
}

/* Transposes rows [tokens, k, kv_heads, head_dim] of pairs to heads [tokens, kv_heads, k, head_dim], in which those of
 * one head of keys are adjacent; or the reverse. */
static float *turn(const struct routed_attention *self, const struct graft_pass *pass, const float *x, int to_heads) {
    const int64_t dim = self->sizes.head_dim, kv = self->sizes.kv_heads, k = self->k;
    float *y = graft_pass_floats(pass, k * kv * dim);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * k * kv; i++) {
        const int64_t t = i / (k * kv), slot = i / kv % k, head = i % kv, turned = (t * kv + head) * k + slot;
        memcpy(y + (to_heads ? turned : i) * dim, x + (to_heads ? i : turned) * dim, (size_t)dim * sizeof *y);
    }
    return y;
}

/* args->output = bias + the weighted outputs of a token's experts for its contexts, `made` [tokens, k, hidden]. */
static void sum(const struct routed_attention *self, const struct graft_pass *pass, const float *weights,
                const float *made, float *output) {
    const int64_t hidden = self->sizes.hidden_size, k = self->k;
    const float *bias = graft_pass_widen(pass, self->bias); /* [hidden] */
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * hidden; i++) {
        float number = 0.0f;
        for (int64_t j = i / hidden * k; j < (i / hidden + 1) * k; j++) {
            number += weights[j] * made[j * hidden + i % hidden];
        }
        output[i] = number + bias[i % hidden];
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct routed_attention *self = instance;
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const int64_t dim = sizes->head_dim, width = sizes->kv_heads * dim;
    const struct graft_experts_args chosen =
        graft_mixture_route(self->router, &pass, self->experts, self->k, args->hidden_states);
    float *of_pairs = multiply(self, &pass, chosen.top_k_index, self->input_linear, args->hidden_states, self->k);
    float *kv = graft_pass_product(&pass, self->kv_proj, args->hidden_states, 2 * width);
    const struct graft_projected heads = {.q = {turn(self, &pass, of_pairs, 1), sizes->heads * dim, dim},
                                          .k = {kv, 2 * width, dim},
                                          .v = {kv != NULL ? kv + width : NULL, 2 * width, dim}};
    float *context = graft_heads_attend(sizes, &pass, args, &heads);
    const float *made =
        multiply(self, &pass, chosen.top_k_index, self->output_linear, turn(self, &pass, context, 0), 1);
    sum(self, &pass, chosen.top_k_weights, made, args->output);
    return error->code;
}

const struct graft_self_attention graft_routed_attention_vtable = {
    .struct_size = sizeof graft_routed_attention_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH | GRAFT_SELF_ATTENTION_ROPE_INTERLEAVE,
    .forward = forward,
};
