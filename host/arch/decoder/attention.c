/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of a decoder with rotary positions: q_proj, k_proj, v_proj, and o_proj on the way out. */
#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct head_norm {
    const struct graft_module *module; /* NULL: none */
    int64_t width;                     /* head_dim, or that of all heads together */
};

struct attention {
    struct graft_instance base;
    struct graft_parts_attention_sizes sizes;
    const struct graft_module *q_proj; /* hidden_size -> heads * head_dim */
    const struct graft_module *k_proj; /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *v_proj; /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *o_proj; /* heads * head_dim -> hidden_size */
    struct head_norm q_norm;
    struct head_norm k_norm;
    const struct graft_weight *sinks; /* [heads], of a class that describes them; NULL: none */
};

static int describe_projections(const struct graft_parts_attention_sizes *sizes, const struct graft_sink *sink,
                                struct graft_error *error) {
    int64_t q_size = sizes->heads * sizes->head_dim;
    int64_t kv_size = sizes->kv_heads * sizes->head_dim;
    const struct {
        const char *name;
        int64_t in_features;
        int64_t out_features;
        int32_t bias;
    } linears[] = {
        {"q_proj", sizes->hidden_size, q_size, sizes->qkv_bias},
        {"k_proj", sizes->hidden_size, kv_size, sizes->qkv_bias},
        {"v_proj", sizes->hidden_size, kv_size, sizes->qkv_bias},
        {"o_proj", q_size, sizes->hidden_size, sizes->o_proj_bias},
    };
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof linears / sizeof linears[0] && status == GRAFT_OK; i++) {
        status = graft_describe_linear(sink, linears[i].name, linears[i].in_features, linears[i].out_features,
                                       linears[i].bias, error);
    }
    return status;
}

/* Of heads of queries and keys; where the parent gives no eps, as the config says. */
static int describe_norms(const struct graft_decoder_traits *traits, const struct graft_parts_attention_sizes *sizes,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    static const char *const names[] = {"q_norm", "k_norm"};
    const struct graft_arg given[] = {graft_int_arg("hidden_size", sizes->head_dim),
                                      graft_real_arg("eps", graft_args_real(args, "eps", 0.0))};
    const int32_t n_given = graft_args_find(args, "eps", GRAFT_ARG_REAL) != NULL ? 2 : 1;
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == GRAFT_OK; i++) {
        status = graft_describe_child(sink, names[i], traits->rms_norm, GRAFT_INTERFACE_NORM, given, n_given, error);
    }
    return status;
}

int graft_attention_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_decoder_traits *traits = self->data;
    struct graft_parts_attention_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    (void)config;
    int status =
        sizes != NULL ? graft_parts_read_attention_sizes(args, sink->path, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = describe_projections(sizes, sink, error);
    }
    if (status == GRAFT_OK && traits->query_key_norm) {
        status = describe_norms(traits, sizes, args, sink, error);
    }
    return status;
}

/* A norm of queries or keys, which a class may describe or not: over each head, or over all `heads` of a token. */
static struct head_norm find_norm(const struct graft_build *build, const char *name, int64_t heads, int64_t head_dim,
                                  int *status, struct graft_error *error) {
    const struct head_norm norm = {build->child(build->data, name),
                                   graft_args_int(build->child_args(build->data, name), "hidden_size", head_dim)};
    if (norm.module != NULL && norm.width != head_dim && norm.width != heads * head_dim) {
        *status = graft_error_set(error, GRAFT_ERROR_PLUGIN, build->path,
                                  "argument hidden_size of %s: expected %lld for each head or %lld for all, got %lld",
                                  name, (long long)head_dim, (long long)(heads * head_dim), (long long)norm.width);
    }
    return norm;
}

/* Sinks, which a class may describe or not. */
static const struct graft_weight *find_sinks(const struct graft_build *build, int64_t heads, int *status,
                                             struct graft_error *error) {
    const struct graft_weight *sinks = build->weight(build->data, "sinks");
    if (sinks != NULL && sinks->rows * sinks->columns != heads) {
        *status =
            graft_error_set(error, GRAFT_ERROR_PLUGIN, build->path, "parameter sinks: expected %lld elements, got %lld",
                            (long long)heads, (long long)(sinks->rows * sinks->columns));
    }
    return sinks;
}

int graft_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = build->kept;
    int status = GRAFT_OK;
    (void)cls;
    struct attention *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    self->q_proj = graft_build_child(build, "q_proj", &status, error);
    self->k_proj = graft_build_child(build, "k_proj", &status, error);
    self->v_proj = graft_build_child(build, "v_proj", &status, error);
    self->o_proj = graft_build_child(build, "o_proj", &status, error);
    self->q_norm = find_norm(build, "q_norm", sizes->heads, sizes->head_dim, &status, error);
    self->k_norm = find_norm(build, "k_norm", sizes->kv_heads, sizes->head_dim, &status, error);
    self->sinks = find_sinks(build, sizes->heads, &status, error);
    return graft_instance_finish(self, status, instance);
}

/* Queries, keys and values of a batch. */
struct projected {
    float *q; /* [tokens, heads, head_dim] */
    float *k; /* [tokens, kv_heads, head_dim] */
    float *v; /* [tokens, kv_heads, head_dim] */
};

static int project(const struct attention *self, const struct graft_call *call,
                   const struct graft_self_attention_args *args, struct projected *out, struct graft_error *error) {
    int64_t tokens = args->batch->tokens;
    out->q = graft_scratch_floats(call, tokens, self->sizes.heads * self->sizes.head_dim, error);
    out->k = graft_scratch_floats(call, tokens, self->sizes.kv_heads * self->sizes.head_dim, error);
    out->v = graft_scratch_floats(call, tokens, self->sizes.kv_heads * self->sizes.head_dim, error);
    if (out->q == NULL || out->k == NULL || out->v == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_module *projections[] = {self->q_proj, self->k_proj, self->v_proj};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, out->q},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, out->k},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, out->v},
    };
    return graft_linear_forward_all(projections, call, projection_args, 3, error);
}

/* *x [tokens, size] becomes its normed copy, or stays without a norm. */
static int norm_heads(const struct head_norm *norm, const struct graft_call *call, float **x, int64_t tokens,
                      int64_t size, struct graft_error *error) {
    if (norm->module == NULL) {
        return GRAFT_OK;
    }
    float *normed = graft_scratch_floats(call, tokens, size, error);
    const struct graft_norm_args args = {sizeof args, 0, tokens * (size / norm->width), *x, NULL, normed};
    if (normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *x = normed;
    return graft_norm_forward(norm->module, call, &args, error);
}

/* Into scratch memory. */
static int widen_sinks(const struct attention *self, const struct graft_call *call, float **sinks,
                       struct graft_error *error) {
    *sinks = graft_scratch_floats(call, self->sizes.heads, 1, error);
    return *sinks != NULL ? call->kernels->widen(call, self->sinks, *sinks, error) : GRAFT_ERROR_INTERNAL;
}

/* context [tokens, heads, head_dim] = attention of the rotated queries and keys. */
static int attend(const struct attention *self, const struct graft_call *call,
                  const struct graft_self_attention_args *args, const struct projected *in, float *context,
                  struct graft_error *error) {
    int64_t tokens = args->batch->tokens;
    int64_t q_size = self->sizes.heads * self->sizes.head_dim;
    int64_t kv_size = self->sizes.kv_heads * self->sizes.head_dim;
    float *sinks = NULL;
    int status = self->sinks != NULL ? widen_sinks(self, call, &sinks, error) : GRAFT_OK;
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = self->sizes.layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = self->sizes.heads,
        .kv_heads = self->sizes.kv_heads,
        .head_dim = self->sizes.head_dim,
        .scaling = (float)self->sizes.scaling,
        .softcap = (float)self->sizes.softcap,
        .sinks = sinks,
        .q = in->q,
        .q_stride = q_size,
        .k = in->k,
        .k_stride = kv_size,
        .v = in->v,
        .v_stride = kv_size,
        .output = context,
        .output_stride = q_size,
    };
    const struct graft_rope_args rope_args[] = {
        {sizeof rope_args[0], self->sizes.rope_layout, in->q, q_size, self->sizes.head_dim, tokens, self->sizes.heads,
         self->sizes.rotary_width, args->cos, args->sin},
        {sizeof rope_args[0], self->sizes.rope_layout, in->k, kv_size, self->sizes.head_dim, tokens,
         self->sizes.kv_heads, self->sizes.rotary_width, args->cos, args->sin},
    };
    for (int i = 0; i < 2 && args->cos != NULL && status == GRAFT_OK; i++) {
        status = call->kernels->rope(call, &rope_args[i], error);
    }
    return status == GRAFT_OK ? call->kernels->attention(call, &attention_args, error) : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct attention *self = instance;
    int64_t tokens = args->batch->tokens;
    struct projected projected;
    float *context = graft_scratch_floats(call, tokens, self->sizes.heads * self->sizes.head_dim, error);
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, context, args->output};
    if (context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = project(self, call, args, &projected, error);
    if (status == GRAFT_OK) {
        status = norm_heads(&self->q_norm, call, &projected.q, tokens, self->sizes.heads * self->sizes.head_dim, error);
    }
    if (status == GRAFT_OK) {
        status =
            norm_heads(&self->k_norm, call, &projected.k, tokens, self->sizes.kv_heads * self->sizes.head_dim, error);
    }
    if (status == GRAFT_OK) {
        status = attend(self, call, args, &projected, context, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->o_proj, call, &output_args, error) : status;
}

const struct graft_self_attention graft_attention_vtable = {
    .struct_size = sizeof graft_attention_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH | GRAFT_SELF_ATTENTION_ROPE_INTERLEAVE,
    .forward = forward,
};
