/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, 2.1): of each token the cache keeps one latent for all
 * heads, normed, and one part of a key that is rotated.
 *
 * Keys and values of the heads are products of kv_b_proj and latents. Where many tokens are new, those are made. Where
 * few are, each query and each result is multiplied by kv_b_proj instead, and attention is over latents themselves.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "deepseek.h"
#include "graft/describe.h"
#include "graft/kernels.h"

/* Numbers that are not worth a second thread to copy. */
enum { COPIED_AT_ONCE = 1 << 15 };

struct attention {
    struct deepseek_sizes sizes;
    const struct graft_module *q_proj; /* hidden -> heads * (nope + rope); NULL with q_lora */
    const struct graft_module *q_a_proj;
    const struct graft_module *q_a_layernorm;
    const struct graft_module *q_b_proj;
    const struct graft_module *kv_a_proj; /* hidden -> kv_lora + rope */
    const struct graft_module *kv_a_layernorm;
    const struct graft_module *kv_b_proj;         /* kv_lora -> heads * (nope + v) */
    const struct graft_module *o_proj;            /* heads * v -> hidden */
    _Atomic(struct deepseek_absorbed *) absorbed; /* made when first needed */
};

/* --- Parts --- */

/* The norms within have an eps of their own, not that of config.json. */
static const double latent_eps = 1e-6;

static int describe_queries(const struct deepseek_sizes *sizes, const char *norm, int32_t bias,
                            const struct graft_sink *sink, struct graft_error *error) {
    int64_t width = sizes->heads * (sizes->nope + sizes->rope);
    if (sizes->q_lora == 0) {
        return graft_describe_linear(sink, "q_proj", sizes->hidden, width, 0, error);
    }
    int status = graft_describe_linear(sink, "q_a_proj", sizes->hidden, sizes->q_lora, bias, error);
    if (status == GRAFT_OK) {
        status = graft_describe_norm(sink, "q_a_layernorm", norm, sizes->q_lora, latent_eps, error);
    }
    return status == GRAFT_OK ? graft_describe_linear(sink, "q_b_proj", sizes->q_lora, width, 0, error) : status;
}

static int describe_latents(const struct deepseek_sizes *sizes, const char *norm, int32_t bias,
                            const struct graft_sink *sink, struct graft_error *error) {
    int status =
        graft_describe_linear(sink, "kv_a_proj_with_mqa", sizes->hidden, sizes->kv_lora + sizes->rope, bias, error);
    if (status == GRAFT_OK) {
        status = graft_describe_norm(sink, "kv_a_layernorm", norm, sizes->kv_lora, latent_eps, error);
    }
    return status == GRAFT_OK ? graft_describe_linear(sink, "kv_b_proj", sizes->kv_lora,
                                                      sizes->heads * (sizes->nope + sizes->v), 0, error)
                              : status;
}

int deepseek_attention_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    const struct deepseek_traits *traits = self->data;
    int32_t bias = graft_args_int(args, "qkv_bias", 0) != 0;
    struct deepseek_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    int status = sizes != NULL ? deepseek_sizes_read(config, args, sink, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = describe_queries(sizes, traits->rms_norm, bias, sink, error);
    }
    if (status == GRAFT_OK) {
        status = describe_latents(sizes, traits->rms_norm, bias, sink, error);
    }
    return status == GRAFT_OK ? graft_describe_linear(sink, "o_proj", sizes->heads * sizes->v, sizes->hidden,
                                                      graft_args_int(args, "o_proj_bias", 0) != 0, error)
                              : status;
}

int deepseek_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    const struct deepseek_sizes *sizes = build->kept;
    struct attention *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->sizes = *sizes;
    if (sizes->q_lora == 0) {
        self->q_proj = graft_build_child(build, "q_proj", &status, error);
    } else {
        self->q_a_proj = graft_build_child(build, "q_a_proj", &status, error);
        self->q_a_layernorm = graft_build_child(build, "q_a_layernorm", &status, error);
        self->q_b_proj = graft_build_child(build, "q_b_proj", &status, error);
    }
    self->kv_a_proj = graft_build_child(build, "kv_a_proj_with_mqa", &status, error);
    self->kv_a_layernorm = graft_build_child(build, "kv_a_layernorm", &status, error);
    self->kv_b_proj = graft_build_child(build, "kv_b_proj", &status, error);
    self->o_proj = graft_build_child(build, "o_proj", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

void deepseek_attention_destroy(void *instance) {
    struct attention *self = instance;
    deepseek_absorbed_free(atomic_load(&self->absorbed));
    free(self);
}

/* --- Queries and latents --- */

/* Of a batch. */
struct projected {
    float *q;    /* [tokens, heads, nope + rope], rotated */
    float *kept; /* [tokens, kv_lora + rope]: latents, normed, and the rotated parts of keys */
};

/* x [tokens, stride] -> y [tokens, width], the first `width` numbers of each row. */
static void copy_rows(const float *x, int64_t x_stride, int64_t tokens, int64_t width, float *y, int64_t y_stride) {
    for (int64_t t = 0; t < tokens; t++) {
        memcpy(y + t * y_stride, x + t * x_stride, (size_t)width * sizeof *y);
    }
}

static int norm_latents(const struct attention *self, const struct graft_call *call, int64_t tokens, float *kept,
                        struct graft_error *error) {
    int64_t width = self->sizes.kv_lora;
    float *latents = graft_scratch_floats(call, tokens, width, error); /* [tokens, kv_lora] */
    float *normed = graft_scratch_floats(call, tokens, width, error);  /* [tokens, kv_lora] */
    const struct graft_norm_args args = {sizeof args, 0, tokens, latents, NULL, normed};
    if (latents == NULL || normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    copy_rows(kept, width + self->sizes.rope, tokens, width, latents, width);
    int status = graft_norm_forward(self->kv_a_layernorm, call, &args, error);
    copy_rows(normed, width, tokens, width, kept, width + self->sizes.rope);
    return status;
}

/* q [tokens, heads, nope + rope] of what q_a_proj made. */
static int widen_queries(const struct attention *self, const struct graft_call *call, int64_t tokens, float *compressed,
                         float *q, struct graft_error *error) {
    float *normed = graft_scratch_floats(call, tokens, self->sizes.q_lora, error); /* [tokens, q_lora] */
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, compressed, NULL, normed};
    const struct graft_linear_args linear_args = {sizeof linear_args, 0, tokens, normed, q};
    int status =
        normed != NULL ? graft_norm_forward(self->q_a_layernorm, call, &norm_args, error) : GRAFT_ERROR_INTERNAL;
    return status == GRAFT_OK ? graft_linear_forward(self->q_b_proj, call, &linear_args, error) : status;
}

static int rotate(const struct deepseek_sizes *sizes, const struct graft_call *call,
                  const struct graft_self_attention_args *args, const struct projected *projected,
                  struct graft_error *error) {
    int64_t tokens = args->batch->tokens;
    int64_t width = sizes->nope + sizes->rope;
    int64_t kept = sizes->kv_lora + sizes->rope;
    const struct graft_rope_args rope_args[] = {
        {sizeof rope_args[0], sizes->rope_layout, projected->q + sizes->nope, sizes->heads * width, width, tokens,
         sizes->heads, sizes->rope, args->cos, args->sin},
        {sizeof rope_args[0], sizes->rope_layout, projected->kept + sizes->kv_lora, kept, kept, tokens, 1, sizes->rope,
         args->cos, args->sin},
    };
    int status = call->kernels->rope(call, &rope_args[0], error);
    return status == GRAFT_OK ? call->kernels->rope(call, &rope_args[1], error) : status;
}

static int project(const struct attention *self, const struct graft_call *call,
                   const struct graft_self_attention_args *args, struct projected *projected,
                   struct graft_error *error) {
    const struct deepseek_sizes *sizes = &self->sizes;
    int64_t tokens = args->batch->tokens;
    projected->q = graft_scratch_floats(call, tokens, sizes->heads * (sizes->nope + sizes->rope), error);
    projected->kept = graft_scratch_floats(call, tokens, sizes->kv_lora + sizes->rope, error);
    float *first = self->q_proj != NULL ? projected->q : graft_scratch_floats(call, tokens, sizes->q_lora, error);
    if (projected->q == NULL || projected->kept == NULL || first == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_module *linears[] = {self->q_proj != NULL ? self->q_proj : self->q_a_proj, self->kv_a_proj};
    const struct graft_linear_args linear_args[] = {
        {sizeof linear_args[0], 0, tokens, args->hidden_states, first},
        {sizeof linear_args[0], 0, tokens, args->hidden_states, projected->kept},
    };
    int status = graft_linear_forward_all(linears, call, linear_args, 2, error);
    if (status == GRAFT_OK && self->q_proj == NULL) {
        status = widen_queries(self, call, tokens, first, projected->q, error);
    }
    if (status == GRAFT_OK) {
        status = norm_latents(self, call, tokens, projected->kept, error);
    }
    return status == GRAFT_OK ? rotate(sizes, call, args, projected, error) : status;
}

/* --- Attention over latents --- */

static const struct deepseek_absorbed *get_absorbed(struct attention *self, const struct graft_call *call,
                                                    struct graft_error *error) {
    struct deepseek_absorbed *known = atomic_load(&self->absorbed);
    if (known != NULL) {
        return known;
    }
    struct deepseek_absorbed *made = deepseek_absorbed_make(&self->sizes, self->kv_b_proj, call, error);
    if (made != NULL && !atomic_compare_exchange_strong(&self->absorbed, &known, made)) {
        deepseek_absorbed_free(made); /* another thread was faster */
        return known;
    }
    return made;
}

/* y [tokens, heads, y_head] = for each head its rows of the weight, [rows, columns], times x [tokens, heads, x_head],
 * of which the first `columns` numbers count. */
static int multiply_heads(const struct graft_call *call, const struct graft_weight *weight, int64_t heads,
                          int64_t tokens, const float *x, int64_t x_head, float *y, int64_t y_head,
                          struct graft_error *error) {
    int64_t rows = weight->rows / heads;
    struct graft_product *products = call->scratch_alloc(call->scratch, heads * (int64_t)sizeof *products);
    if (products == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int64_t h = 0; h < heads; h++) {
        products[h] = (struct graft_product){
            .struct_size = sizeof products[h],
            .weight = weight,
            .first_row = h * rows,
            .rows = rows,
            .x = x + h * x_head,
            .x_stride = heads * x_head,
            .tokens = tokens,
            .y = y + h * y_head,
            .y_stride = heads * y_head,
        };
    }
    return call->kernels->linear(call, products, (int32_t)heads, sizeof products[0], error);
}

/* context [tokens, heads, v] */
static int attend_to_latents(struct attention *self, const struct graft_call *call,
                             const struct graft_self_attention_args *args, const struct projected *projected,
                             float *context, struct graft_error *error) {
    const struct deepseek_sizes *sizes = &self->sizes;
    int64_t tokens = args->batch->tokens;
    int64_t q_width = sizes->nope + sizes->rope;
    int64_t width = sizes->kv_lora + sizes->rope;
    const struct deepseek_absorbed *absorbed = get_absorbed(self, call, error);
    float *q = graft_scratch_floats(call, tokens, sizes->heads * width, error);             /* [.., heads, width] */
    float *sums = graft_scratch_floats(call, tokens, sizes->heads * sizes->kv_lora, error); /* [.., heads, kv_lora] */
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
        .v_head_dim = sizes->kv_lora,
        .scaling = (float)sizes->scaling,
        .q = q,
        .q_stride = sizes->heads * width,
        .k = projected->kept,
        .k_stride = width,
        .output = sums,
        .output_stride = sizes->heads * sizes->kv_lora,
    };
    int status = multiply_heads(call, absorbed->key, sizes->heads, tokens, projected->q, q_width, q, width, error);
    copy_rows(projected->q + sizes->nope, q_width, tokens * sizes->heads, sizes->rope, q + sizes->kv_lora, width);
    if (status == GRAFT_OK) {
        status = call->kernels->attention(call, &attention_args, error);
    }
    return status == GRAFT_OK ? multiply_heads(call, absorbed->value, sizes->heads, tokens, sums, sizes->kv_lora,
                                               context, sizes->v, error)
                              : status;
}

/* --- Attention over keys and values made from latents --- */

/* Of some tokens: what is made from what. */
struct expansion {
    const struct deepseek_sizes *sizes;
    int64_t tokens;
    const float *rows;   /* [tokens, kv_lora + rope] */
    const float *halves; /* [tokens, heads, nope + v]: what kv_b_proj makes of latents */
    float *k;            /* [heads, tokens, nope + rope] */
    float *v;            /* [heads, tokens, v] */
};

static void distribute(void *data, int64_t begin, int64_t end) {
    const struct expansion *expansion = data;
    const struct deepseek_sizes *sizes = expansion->sizes;
    int64_t width = sizes->nope + sizes->v;
    for (int64_t h = begin; h < end; h++) {
        float *k = expansion->k + h * expansion->tokens * (sizes->nope + sizes->rope);
        float *v = expansion->v + h * expansion->tokens * sizes->v;
        const float *from = expansion->halves + h * width;
        copy_rows(from, sizes->heads * width, expansion->tokens, sizes->nope, k, sizes->nope + sizes->rope);
        copy_rows(expansion->rows + sizes->kv_lora, sizes->kv_lora + sizes->rope, expansion->tokens, sizes->rope,
                  k + sizes->nope, sizes->nope + sizes->rope);
        copy_rows(from + sizes->nope, sizes->heads * width, expansion->tokens, sizes->v, v, sizes->v);
    }
}

static int expand(void *instance, const struct graft_call *call, const float *rows, int64_t tokens, float *k, float *v,
                  struct graft_error *error) {
    const struct attention *self = instance;
    const struct deepseek_sizes *sizes = &self->sizes;
    float *latents = graft_scratch_floats(call, tokens, sizes->kv_lora, error); /* [tokens, kv_lora] */
    float *halves = graft_scratch_floats(call, tokens, sizes->heads * (sizes->nope + sizes->v), error);
    const struct graft_linear_args args = {sizeof args, 0, tokens, latents, halves};
    struct expansion expansion = {sizes, tokens, rows, halves, k, v};
    if (latents == NULL || halves == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    copy_rows(rows, sizes->kv_lora + sizes->rope, tokens, sizes->kv_lora, latents, sizes->kv_lora);
    int status = graft_linear_forward(self->kv_b_proj, call, &args, error);
    if (status == GRAFT_OK) {
        call->threads->parallel_for(sizes->heads, 1 + COPIED_AT_ONCE / (tokens * sizes->nope + 1), distribute,
                                    &expansion);
    }
    return status;
}

static int attend_to_keys(struct attention *self, const struct graft_call *call,
                          const struct graft_self_attention_args *args, const struct projected *projected,
                          float *context, struct graft_error *error) {
    const struct deepseek_sizes *sizes = &self->sizes;
    const struct graft_attention_latents latents = {
        .struct_size = sizeof latents,
        .width = sizes->kv_lora + sizes->rope,
        .rows = projected->kept,
        .expand = expand,
        .instance = self,
    };
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = sizes->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = sizes->heads,
        .kv_heads = sizes->heads,
        .head_dim = sizes->nope + sizes->rope,
        .v_head_dim = sizes->v,
        .scaling = (float)sizes->scaling,
        .q = projected->q,
        .q_stride = sizes->heads * (sizes->nope + sizes->rope),
        .output = context,
        .output_stride = sizes->heads * sizes->v,
        .latents = &latents,
    };
    return call->kernels->attention(call, &attention_args, error);
}

/* --- All together --- */

/* Whether attention over latents takes fewer multiplications for a sequence. What is new is multiplied by kv_b_proj
 * either way; keys and values are also made of what is old, but are shorter than latents. The results round otherwise,
 * so other sequences have no say. */
static int is_for_latents(const struct deepseek_sizes *sizes, const struct graft_batch *batch, int32_t sequence) {
    int64_t first = batch->cu_seqlens[sequence];
    double tokens = (double)(batch->cu_seqlens[sequence + 1] - first);
    double old = batch->cache != NULL && tokens > 0.0 ? (double)batch->positions[first] : 0.0;
    double pairs = tokens * (old + tokens); /* of a query and a key */
    double made = (double)((sizes->nope + sizes->v) * sizes->kv_lora);
    double longer = (double)(2 * sizes->kv_lora - sizes->nope - sizes->v);
    return old * made >= pairs * longer;
}

/* Sequences [begin, end) of a batch as one of their own. */
struct part {
    struct graft_batch batch;
    struct graft_mask mask;
    struct graft_self_attention_args args;
    struct projected projected;
};

static int part_init(struct part *part, const struct deepseek_sizes *sizes, const struct graft_call *call,
                     const struct graft_self_attention_args *args, const struct projected *projected, int32_t begin,
                     int32_t end, struct graft_error *error) {
    const struct graft_batch *batch = args->batch;
    int64_t first = batch->cu_seqlens[begin];
    int64_t *cu_seqlens = call->scratch_alloc(call->scratch, (end - begin + 1) * (int64_t)sizeof *cu_seqlens);
    if (cu_seqlens == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int32_t s = begin; s <= end; s++) {
        cu_seqlens[s - begin] = batch->cu_seqlens[s] - first;
    }
    part->batch = (struct graft_batch){
        .struct_size = sizeof part->batch,
        .sequences = end - begin,
        .tokens = cu_seqlens[end - begin],
        .cu_seqlens = cu_seqlens,
        .positions = batch->positions + first,
        .slots = batch->cache != NULL ? batch->slots + begin : NULL,
        .cache = batch->cache,
    };
    graft_struct_copy(&part->mask, sizeof part->mask, args->mask);
    part->mask.bias = args->mask->kind == GRAFT_MASK_DENSE ? args->mask->bias + first * args->mask->bias_stride : NULL;
    part->args = (struct graft_self_attention_args){
        .struct_size = sizeof part->args, .batch = &part->batch, .mask = &part->mask};
    part->projected = *projected;
    part->projected.q += first * sizes->heads * (sizes->nope + sizes->rope);
    part->projected.kept += first * (sizes->kv_lora + sizes->rope);
    return GRAFT_OK;
}

/* context [tokens, heads, v]: of sequences in a row for which the same is better, together. */
static int attend(struct attention *self, const struct graft_call *call, const struct graft_self_attention_args *args,
                  const struct projected *projected, float *context, struct graft_error *error) {
    const struct deepseek_sizes *sizes = &self->sizes;
    const struct graft_batch *batch = args->batch;
    int status = GRAFT_OK;
    for (int32_t begin = 0, end; begin < batch->sequences && status == GRAFT_OK; begin = end) {
        int for_latents = is_for_latents(sizes, batch, begin);
        struct part part;
        for (end = begin + 1; end < batch->sequences && is_for_latents(sizes, batch, end) == for_latents;) {
            end++;
        }
        int64_t mark = call->scratch_mark(call->scratch);
        float *to = context + batch->cu_seqlens[begin] * sizes->heads * sizes->v;
        status = part_init(&part, sizes, call, args, projected, begin, end, error);
        if (status == GRAFT_OK) {
            status = for_latents ? attend_to_latents(self, call, &part.args, &part.projected, to, error)
                                 : attend_to_keys(self, call, &part.args, &part.projected, to, error);
        }
        call->scratch_release(call->scratch, mark);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    struct attention *self = instance;
    int64_t tokens = args->batch->tokens;
    struct projected projected;
    float *context = graft_scratch_floats(call, tokens, self->sizes.heads * self->sizes.v, error);
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, context, args->output};
    if (context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = project(self, call, args, &projected, error);
    if (status == GRAFT_OK) {
        status = attend(self, call, args, &projected, context, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->o_proj, call, &output_args, error) : status;
}

const struct graft_self_attention deepseek_attention_vtable = {
    .struct_size = sizeof deepseek_attention_vtable,
    .forward = forward,
};
