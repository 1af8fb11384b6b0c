/* SPDX-License-Identifier: Apache-2.0 */
/* A mixture of attention heads (Zhang et al. 2022; JetMoE): the projections of queries and of the output are experts. A
 * token is routed to k of them, and has k queries for each head of keys. */
#include <string.h>

#include "arch/decoder/attention_keep.h"
#include "arch/decoder/choices.h"
#include "arch/decoder/roles.h"
#include "arch/role.h"
#include "graft/describe.h"

struct kept {
    struct graft_parts_attention_sizes sizes; /* first, for graft_attention_keep; heads is k * kv_heads */
    int64_t experts;
    int64_t k;
};

struct routed_attention {
    struct graft_instance base;
    struct kept kept;
    const struct graft_module *router;
    const struct graft_module *kv_proj;       /* hidden -> 2 * kv_heads * head_dim, keys first */
    const struct graft_weight *input_linear;  /* [experts, kv_heads * head_dim, hidden] */
    const struct graft_weight *output_linear; /* [experts, hidden, kv_heads * head_dim] */
    const struct graft_weight *bias;          /* [hidden]: bias of the output */
};

static void describe_parameters(const struct kept *kept, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t width = kept->sizes.kv_heads * kept->sizes.head_dim, hidden = kept->sizes.hidden_size;
    const int64_t in[] = {kept->experts, width, hidden}, out[] = {kept->experts, hidden, width};
    graft_describe_linear(sink, "kv_proj", hidden, 2 * width, kept->sizes.qkv_bias, error);
    graft_describe_parameter(sink, "input_linear", 3, in, 0, GRAFT_INIT_NONE, error);
    graft_describe_parameter(sink, "output_linear", 3, out, 0, GRAFT_INIT_NONE, error);
    graft_describe_vector(sink, "bias", hidden, error);
}

int graft_routed_attention_describe(const struct graft_class *self, const struct graft_config *config,
                                    const struct graft_args *args, const struct graft_sink *sink,
                                    struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct graft_reader reader;
    struct kept *kept = graft_attention_keep(self, config, args, sink, sizeof *kept, &reader, error);
    if (kept == NULL) {
        return error->code;
    }
    kept->experts = graft_read_int(&reader, D_MOE_EXPERTS);
    kept->k = graft_read_int(&reader, D_MOE_TOP_K);
    if (reader.status == GRAFT_OK && kept->k > kept->experts) {
        graft_reader_fail(&reader, D_MOE_TOP_K, "expected at most the number of experts (%lld), got %lld",
                          (long long)kept->experts, (long long)kept->k);
    }
    if (reader.status == GRAFT_OK && kept->sizes.heads != kept->k * kept->sizes.kv_heads) {
        graft_reader_fail(&reader, D_HEADS,
                          "expected %lld, as many for each head of keys as a token has experts, got %lld",
                          (long long)(kept->k * kept->sizes.kv_heads), (long long)kept->sizes.heads);
    }
    if (reader.status != GRAFT_OK) {
        return reader.status;
    }
    const struct graft_arg layer = graft_int_arg("layer_idx", kept->sizes.layer);
    graft_describe_child(sink, graft_description_name(description, D_MOE_ROUTER_NAME),
                         graft_description_name(description, D_CLASS_ROUTER), GRAFT_INTERFACE_ROUTER, &layer, 1, error);
    describe_parameters(kept, sink, error);
    return error->code;
}

int graft_routed_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                  struct graft_error *error) {
    struct routed_attention *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->kept = *(const struct kept *)build->kept;
    self->router = graft_build_child(build, graft_description_name(cls->data, D_MOE_ROUTER_NAME), error);
    self->kv_proj = graft_build_child(build, "kv_proj", error);
    self->input_linear = graft_build_weight(build, "input_linear", error);
    self->output_linear = graft_build_weight(build, "output_linear", error);
    self->bias = graft_build_weight(build, "bias", error);
    return graft_instance_finish(self, instance, error);
}

/* The pairs of a token and an expert, and arrays for them. */
struct pairs {
    int32_t *expert; /* [tokens, k] */
    float *weight;   /* [tokens, k] */
    int64_t n;       /* tokens * k */
    int64_t tokens;
};

static int choose(const struct routed_attention *self, const struct graft_call *call,
                  const struct graft_self_attention_args *args, struct pairs *pairs, struct graft_error *error) {
    const int64_t tokens = args->batch->tokens;
    float *logits = graft_scratch_floats(call, tokens, self->kept.experts, error);
    pairs->tokens = tokens;
    pairs->n = tokens * self->kept.k;
    pairs->expert = graft_scratch_ints(call, pairs->n, error);
    pairs->weight = graft_scratch_floats(call, pairs->n, 1, error);
    const struct graft_router_args router_args = {
        .struct_size = sizeof router_args,
        .tokens = tokens,
        .experts = self->kept.experts,
        .k = self->kept.k,
        .hidden_states = args->hidden_states,
        .logits = logits,
        .top_k_index = pairs->expert,
        .top_k_weights = pairs->weight,
    };
    return logits != NULL && pairs->expert != NULL && pairs->weight != NULL
               ? graft_router_forward(self->router, call, &router_args, error)
               : GRAFT_ERROR_INTERNAL;
}

/* y [pairs, rows] = W x for each pair of a token and an expert, where W [rows, columns] is the expert's part of
 * `weight` and x [pairs / x_shared, columns] has one row for `x_shared` pairs. Pairs are gathered by expert, so that
 * each expert is multiplied once. */
static int multiply(const struct graft_call *call, const struct pairs *pairs, int64_t experts,
                    const struct graft_weight *weight, const float *x, int64_t x_shared, float *y,
                    struct graft_error *error) {
    const int64_t rows = weight->rows / experts, columns = weight->columns;
    int32_t *order = graft_scratch_ints(call, pairs->n, error); /* indices of the pairs, sorted by expert */
    float *from = graft_scratch_floats(call, pairs->n, columns, error);
    float *to = graft_scratch_floats(call, pairs->n, rows, error);
    struct graft_product *products = call->scratch_alloc(call->scratch, experts * (int64_t)sizeof *products);
    struct graft_call space;
    int32_t n_products = 0;
    int64_t n = 0;
    if (order == NULL || from == NULL || to == NULL || products == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int64_t e = 0; e < experts; e++) {
        const int64_t first = n;
        for (int64_t i = 0; i < pairs->n; i++) {
            if (pairs->expert[i] == e) {
                memcpy(from + n * columns, x + i / x_shared * columns, (size_t)columns * sizeof *from);
                order[n++] = (int32_t)i;
            }
        }
        if (n > first) {
            products[n_products++] = (struct graft_product){
                .struct_size = sizeof *products,
                .weight = weight,
                .first_row = e * rows,
                .rows = rows,
                .x = from + first * columns,
                .x_stride = columns,
                .tokens = n - first,
                .y = to + first * rows,
                .y_stride = rows,
            };
        }
    }
    /* Whether it is a small batch depends on all tokens, not on how many are routed to an expert. */
    int status = call->kernels->linear(graft_call_among(call, pairs->tokens, &space), products, n_products,
                                       sizeof *products, error);
    for (int64_t i = 0; i < n && status == GRAFT_OK; i++) {
        memcpy(y + order[i] * rows, to + i * rows, (size_t)rows * sizeof *y);
    }
    return status;
}

/* Transposes rows [tokens, k, kv_heads, head_dim] of pairs to heads [tokens, kv_heads, k, head_dim], in which those of
 * one head of keys are adjacent; or the reverse. */
static void turn(const struct kept *kept, int64_t tokens, float *of_pairs, float *of_heads, int to_heads) {
    const int64_t dim = kept->sizes.head_dim, kv = kept->sizes.kv_heads, k = kept->k;
    for (int64_t i = 0; i < tokens * k * kv; i++) {
        const int64_t t = i / (k * kv), slot = i / kv % k, head = i % kv;
        float *turned = of_heads + ((t * kv + head) * k + slot) * dim;
        memcpy(to_heads ? turned : of_pairs + i * dim, to_heads ? of_pairs + i * dim : turned,
               (size_t)dim * sizeof *turned);
    }
}

static int attend(const struct routed_attention *self, const struct graft_call *call,
                  const struct graft_self_attention_args *args, float *q, float *kv, float *context,
                  struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    const int64_t tokens = args->batch->tokens, dim = sizes->head_dim, width = sizes->kv_heads * dim;
    const struct graft_rope_args rope_args[] = {
        {sizeof rope_args[0], sizes->rope_layout, q, sizes->heads * dim, dim, tokens, sizes->heads, sizes->rotary_width,
         args->cos, args->sin},
        {sizeof rope_args[0], sizes->rope_layout, kv, 2 * width, dim, tokens, sizes->kv_heads, sizes->rotary_width,
         args->cos, args->sin},
    };
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = sizes->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = sizes->heads,
        .kv_heads = sizes->kv_heads,
        .head_dim = dim,
        .scaling = (float)sizes->scaling,
        .softcap = (float)sizes->softcap,
        .q = q,
        .q_stride = sizes->heads * dim,
        .k = kv,
        .k_stride = 2 * width,
        .v = kv + width,
        .v_stride = 2 * width,
        .output = context,
        .output_stride = sizes->heads * dim,
    };
    int status = GRAFT_OK;
    for (int i = 0; i < 2 && args->cos != NULL && status == GRAFT_OK; i++) {
        status = call->kernels->rope(call, &rope_args[i], error);
    }
    return status == GRAFT_OK ? call->kernels->attention(call, &attention_args, error) : status;
}

/* args->output = bias + the weighted outputs of a token's experts for its contexts. */
static int sum(const struct routed_attention *self, const struct graft_call *call,
               const struct graft_self_attention_args *args, const struct pairs *pairs, const float *made,
               struct graft_error *error) {
    const int64_t hidden = self->kept.sizes.hidden_size, k = self->kept.k;
    const float *bias = graft_scratch_widened(call, self->bias, error); /* [hidden] */
    for (int64_t i = 0; bias != NULL && i < args->batch->tokens * hidden; i++) {
        float number = 0.0f;
        for (int64_t j = i / hidden * k; j < (i / hidden + 1) * k; j++) {
            number += pairs->weight[j] * made[j * hidden + i % hidden];
        }
        args->output[i] = number + bias[i % hidden];
    }
    return bias != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct routed_attention *self = instance;
    const struct kept *kept = &self->kept;
    const int64_t tokens = args->batch->tokens, width = kept->sizes.kv_heads * kept->sizes.head_dim;
    float *of_pairs = graft_scratch_floats(call, tokens, kept->k * width, error); /* [tokens, k, kv_heads, head_dim] */
    float *q = graft_scratch_floats(call, tokens, kept->k * width, error);        /* [tokens, kv_heads, k, head_dim] */
    float *context = graft_scratch_floats(call, tokens, kept->k * width, error);  /* likewise */
    float *kv = graft_scratch_floats(call, tokens, 2 * width, error);
    float *made =
        graft_scratch_floats(call, tokens, kept->k * kept->sizes.hidden_size, error); /* [tokens, k, hidden] */
    const struct graft_linear_args kv_args = {sizeof kv_args, 0, tokens, args->hidden_states, kv};
    struct pairs pairs;
    if (of_pairs == NULL || q == NULL || context == NULL || kv == NULL || made == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = choose(self, call, args, &pairs, error);
    if (status == GRAFT_OK) {
        status =
            multiply(call, &pairs, kept->experts, self->input_linear, args->hidden_states, kept->k, of_pairs, error);
    }
    if (status == GRAFT_OK) {
        turn(kept, tokens, of_pairs, q, 1);
        status = graft_linear_forward(self->kv_proj, call, &kv_args, error);
    }
    if (status == GRAFT_OK) {
        status = attend(self, call, args, q, kv, context, error);
    }
    if (status == GRAFT_OK) {
        turn(kept, tokens, of_pairs, context, 0);
        status = multiply(call, &pairs, kept->experts, self->output_linear, of_pairs, 1, made, error);
    }
    return status == GRAFT_OK ? sum(self, call, args, &pairs, made, error) : status;
}

const struct graft_self_attention graft_routed_attention_vtable = {
    .struct_size = sizeof graft_routed_attention_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH | GRAFT_SELF_ATTENTION_ROPE_INTERLEAVE,
    .forward = forward,
};
