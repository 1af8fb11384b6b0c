/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of a decoder: projects, norms and rotates queries and keys as the family says, attends, and projects the
 * output. */
#include "arch/decoder/attention.h"

#include "arch/decoder/attention_keep.h"
#include "arch/decoder/choices.h"
#include "arch/decoder/roles.h"
#include "arch/role.h"
#include "graft/describe.h"

/* The name of the projection that gives queries, keys and values in one; NULL: there are three projections. */
static const char *qkv_name(const struct graft_description *description, const struct graft_attention_kept *kept) {
    return kept->qkv_joined ? "qkv_proj" : graft_description_name(description, D_QKV);
}

/* Declares the projections of hidden states to queries, keys and values. */
static int describe_inputs(const struct graft_description *description, const struct graft_attention_kept *kept,
                           int32_t k_bias, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &kept->sizes;
    const int64_t q_size = sizes->heads * sizes->head_dim;
    const int64_t k_size = sizes->kv_heads * sizes->head_dim;
    const int64_t v_size = sizes->kv_heads * kept->value_dim;
    const char *qkv = qkv_name(description, kept);
    if (qkv != NULL) {
        return graft_describe_linear(sink, qkv, sizes->hidden_size, q_size + k_size + v_size, sizes->qkv_bias, error);
    }
    graft_describe_linear(sink, graft_description_name(description, D_QUERY), sizes->hidden_size,
                          kept->gate == D_GATE_QUERY ? 2 * q_size : q_size, sizes->qkv_bias, error);
    if (!graft_attention_borrows(kept)) {
        graft_describe_linear(sink, graft_description_name(description, D_KEY), sizes->hidden_size, k_size, k_bias,
                              error);
    }
    if (!graft_attention_borrows(kept) && !kept->value_is_key) {
        graft_describe_linear(sink, graft_description_name(description, D_VALUE), sizes->hidden_size, v_size,
                              sizes->qkv_bias, error);
    }
    return error->code;
}

/* Declares the projection of the gate, and its bias, unless the projection of queries gives the gate as well. */
static int describe_gate(const struct graft_description *description, const struct graft_attention_kept *kept,
                         const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &kept->sizes;
    const char *bias = graft_description_name(description, D_GATE_BIAS);
    const int64_t width = kept->gate == D_GATE_HEAD ? 1 : kept->value_dim;
    if (kept->gate != D_GATE_NUMBER && kept->gate != D_GATE_HEAD) {
        return GRAFT_OK;
    }
    graft_describe_linear(sink, graft_description_name(description, D_GATE_NAME), sizes->hidden_size,
                          sizes->heads * width, 0, error);
    if (bias != NULL) {
        graft_describe_vector(sink, bias, sizes->heads, error);
    }
    return error->code;
}

/* Declares the norm of values, which has no weight. */
static int describe_value_norm(const struct graft_description *description, const struct graft_attention_kept *kept,
                               const struct graft_args *args, const struct graft_sink *sink,
                               struct graft_error *error) {
    const char *name = graft_description_name(description, D_VALUE_NORM);
    const struct graft_arg given[] = {graft_int_arg("hidden_size", kept->value_dim),
                                      graft_real_arg("eps", graft_args_real(args, "eps", 1e-6)),
                                      graft_int_arg("weight", 0)};
    return name != NULL && !graft_attention_borrows(kept)
               ? graft_describe_child(sink, name, graft_decoder_class_name(description, D_CLASS_HEAD_NORM),
                                      GRAFT_INTERFACE_NORM, given, 3, error)
               : GRAFT_OK;
}

/* Declares the norms of queries and keys, where the family has them. */
static int describe_norms(struct graft_reader *reader, const struct graft_attention_kept *kept,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &kept->sizes;
    const int n_norms = graft_attention_borrows(kept) ? 1 : 2;
    const char *const names[] = {graft_description_name(reader->description, D_QUERY_NORM),
                                 graft_description_name(reader->description, D_KEY_NORM)};
    const int32_t head_norm = graft_read_word(reader, D_HEAD_NORM);
    const int64_t heads[] = {sizes->heads, sizes->kv_heads};
    const int32_t bias = graft_read_is_null(reader, D_HEAD_NORM_BIAS) ? graft_read_bool(reader, D_NORM_BIAS)
                                                                      : graft_read_bool(reader, D_HEAD_NORM_BIAS);
    const int32_t weight = graft_read_is_null(reader, D_HEAD_NORM_WEIGHT) ? graft_read_bool(reader, D_NORM_WEIGHT)
                                                                          : graft_read_bool(reader, D_HEAD_NORM_WEIGHT);
    int status = reader->status;
    for (int i = 0; i < n_norms && head_norm != D_HEAD_NORM_NONE && status == GRAFT_OK; i++) {
        struct graft_arg given[5];
        int32_t n = 0;
        given[n++] = graft_int_arg("hidden_size", (head_norm == D_HEAD_NORM_ALL ? heads[i] : 1) * sizes->head_dim);
        if (graft_args_find(args, "eps", GRAFT_ARG_REAL) != NULL) {
            given[n++] = graft_real_arg("eps", graft_args_real(args, "eps", 0.0));
        }
        if (!weight) {
            given[n++] = graft_int_arg("weight", 0);
        }
        if (!bias) {
            given[n++] = graft_int_arg("bias", 0);
        }
        if (head_norm == D_HEAD_NORM_EACH) {
            given[n++] = graft_int_arg("heads", heads[i]);
        }
        status = graft_describe_child(sink, names[i], graft_decoder_class_name(reader->description, D_CLASS_HEAD_NORM),
                                      GRAFT_INTERFACE_NORM, given, n, error);
    }
    return status == GRAFT_OK ? describe_value_norm(reader->description, kept, args, sink, error) : status;
}

/* Checks that the heads fit the layout of the projection: by_head and blocks need as many heads of keys as of queries,
 * and blocks needs a multiple of four heads. */
static int check_layout(const struct graft_description *description, const struct graft_attention_kept *kept,
                        const char *path, struct graft_error *error) {
    const int is_even = kept->value_dim == kept->sizes.head_dim;
    if (!is_even &&
        (kept->gate == D_GATE_QUERY || (qkv_name(description, kept) != NULL && kept->qkv_layout != D_QKV_JOINED))) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                               "heads of values have %lld numbers, expected head_dim (%lld), as the layout of its "
                               "projection needs",
                               (long long)kept->value_dim, (long long)kept->sizes.head_dim);
    }
    if (kept->qkv_layout == D_QKV_BLOCKS && kept->sizes.heads % GRAFT_QKV_BLOCKS != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path, "%lld heads cannot be divided into %d blocks",
                               (long long)kept->sizes.heads, GRAFT_QKV_BLOCKS);
    }
    return (kept->qkv_layout == D_QKV_BY_HEAD || kept->qkv_layout == D_QKV_BLOCKS) &&
                   kept->sizes.kv_heads != kept->sizes.heads
               ? graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                 "argument num_key_value_heads: expected num_attention_heads (%lld), got %lld",
                                 (long long)kept->sizes.heads, (long long)kept->sizes.kv_heads)
               : GRAFT_OK;
}

static void read_gain(struct graft_reader *reader, struct graft_attention_kept *kept) {
    kept->query_gain = (float)graft_read_real(reader, D_QUERY_GAIN);
    kept->query_power = (float)graft_read_real(reader, D_QUERY_POWER);
    kept->query_gain_period = graft_read_int(reader, D_QUERY_GAIN_PERIOD);
    kept->query_gain_from = graft_read_int(reader, D_QUERY_GAIN_FROM);
    if ((kept->query_gain != 0.0f || kept->query_power != 0.0f) && kept->query_gain_period == 0) {
        graft_reader_fail(reader, D_QUERY_GAIN_PERIOD, "missing, expected an integer");
    }
}

int graft_attention_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct graft_reader reader;
    struct graft_attention_kept *kept = graft_attention_keep(self, config, args, sink, sizeof *kept, &reader, error);
    if (kept == NULL) {
        return error->code;
    }
    kept->qkv_joined = graft_args_int(args, "qkv_joined", 0) != 0;
    kept->qkv_layout = kept->qkv_joined ? D_QKV_JOINED : graft_read_word(&reader, D_QKV_LAYOUT);
    kept->gate = graft_read_word(&reader, D_GATE);
    kept->gate_act = graft_read_word(&reader, D_GATE_ACT);
    kept->value_dim =
        graft_read_is_null(&reader, D_VALUE_DIM) ? kept->sizes.head_dim : graft_read_int(&reader, D_VALUE_DIM);
    kept->value_scale = (float)graft_read_real(&reader, D_VALUE_SCALE);
    kept->key_scale = (float)graft_read_real(&reader, D_KEY_SCALE);
    kept->input_scale = (float)graft_read_real(&reader, D_ATTENTION_INPUT_SCALE);
    kept->output_scale = (float)graft_read_real(&reader, D_ATTENTION_OUTPUT_SCALE);
    kept->norm_after_rotary = graft_read_bool(&reader, D_HEAD_NORM_AFTER_ROTARY);
    kept->clip = (float)graft_read_real(&reader, D_CLIP);
    read_gain(&reader, kept);
    kept->alibi = (float)graft_read_real(&reader, D_ALIBI);
    kept->alibi_rounded = graft_read_bool(&reader, D_ALIBI_ROUNDED);
    kept->differential = graft_read_bool(&reader, D_DIFFERENTIAL);
    kept->kv_layer = graft_args_int(args, "kv_layer_idx", -1);
    graft_attention_read_sharing(&reader, kept);
    kept->eps = (float)graft_args_real(args, "eps", 1e-6);
    const int32_t sinks = graft_read_bool(&reader, D_SINKS);
    const int32_t k_bias =
        graft_read_is_null(&reader, D_K_BIAS) ? kept->sizes.qkv_bias : graft_read_bool(&reader, D_K_BIAS);
    if (reader.status != GRAFT_OK || check_layout(description, kept, sink->path, error) != GRAFT_OK) {
        return error->code;
    }
    describe_inputs(description, kept, k_bias, sink, error);
    graft_attention_describe_output(description, kept, args, sink, error);
    describe_gate(description, kept, sink, error);
    describe_norms(&reader, kept, args, sink, error);
    graft_differential_describe(kept, sink, error);
    graft_key_weights_describe(description, kept, sink, error);
    graft_relative_describe(&reader, kept->sizes.heads, sink, &kept->relative, error);
    if (sinks) {
        graft_describe_vector(sink, "sinks", kept->sizes.heads, error);
    }
    return error->code;
}

/* Finds a norm of queries or keys, which a class may declare or leave out: over each head, or over all `heads` of a
 * token. */
static struct graft_head_norm find_norm(const struct graft_build *build, const char *name, int64_t heads,
                                        int64_t head_dim, struct graft_error *error) {
    const struct graft_head_norm norm = {build->child(build->data, name),
                                         graft_args_int(build->child_args(build->data, name), "hidden_size", head_dim)};
    if (norm.module != NULL && norm.width != head_dim && norm.width != heads * head_dim) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, build->path,
                              "argument hidden_size of %s: expected %lld for each head or %lld for all, got %lld", name,
                              (long long)head_dim, (long long)(heads * head_dim), (long long)norm.width);
    }
    return norm;
}

/* Finds the sinks, which a class may declare or leave out. */
static const struct graft_weight *find_sinks(const struct graft_build *build, int64_t heads,
                                             struct graft_error *error) {
    const struct graft_weight *sinks = build->weight(build->data, "sinks");
    if (sinks != NULL && sinks->rows * sinks->columns != heads) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, build->path,
                              "parameter sinks: expected %lld elements, got %lld", (long long)heads,
                              (long long)(sinks->rows * sinks->columns));
    }
    return sinks;
}

int graft_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct graft_description *description = cls->data;
    const struct graft_attention_kept *kept = build->kept;
    const char *qkv = qkv_name(description, kept);
    struct graft_attention *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->kept = *kept;
    if (qkv != NULL) {
        self->qkv = graft_build_child(build, qkv, error);
    } else {
        self->q = graft_build_child(build, graft_description_name(description, D_QUERY), error);
    }
    if (qkv == NULL && !graft_attention_borrows(kept)) {
        self->k = graft_build_child(build, graft_description_name(description, D_KEY), error);
    }
    if (qkv == NULL && !graft_attention_borrows(kept) && !kept->value_is_key) {
        self->v = graft_build_child(build, graft_description_name(description, D_VALUE), error);
    }
    if (kept->gate == D_GATE_NUMBER || kept->gate == D_GATE_HEAD) {
        const char *bias = graft_description_name(description, D_GATE_BIAS);
        self->gate = graft_build_child(build, graft_description_name(description, D_GATE_NAME), error);
        self->gate_bias = bias != NULL ? graft_build_weight(build, bias, error) : NULL;
    }
    self->output = graft_build_child(build, graft_description_name(description, D_OUTPUT), error);
    if (graft_description_name(description, D_OUTPUT_NORM) != NULL) {
        self->output_norm = graft_build_child(build, graft_description_name(description, D_OUTPUT_NORM), error);
    }
    self->q_norm = find_norm(build, graft_description_name(description, D_QUERY_NORM), kept->sizes.heads,
                             kept->sizes.head_dim, error);
    self->k_norm = find_norm(build, graft_description_name(description, D_KEY_NORM), kept->sizes.kv_heads,
                             kept->sizes.head_dim, error);
    if (graft_description_name(description, D_VALUE_NORM) != NULL) {
        self->v_norm = find_norm(build, graft_description_name(description, D_VALUE_NORM), 1, kept->value_dim, error);
    }
    if (kept->relative.buckets > 0) {
        self->relative = graft_build_child(build, graft_description_name(description, D_RELATIVE_NAME), error);
    }
    self->sinks = find_sinks(build, kept->sizes.heads, error);
    graft_differential_find(build, self, error);
    graft_key_weights_find(description, build, self, error);
    return graft_instance_finish(self, instance, error);
}

static int norm_heads(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                      struct graft_projected *x, struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    int status = graft_attention_norm(&self->q_norm, call, tokens, sizes->heads, sizes->head_dim, &x->q, error);
    if (status == GRAFT_OK) {
        status = graft_attention_norm(&self->k_norm, call, tokens, sizes->kv_heads, sizes->head_dim, &x->k, error);
    }
    return status == GRAFT_OK
               ? graft_attention_norm(&self->v_norm, call, tokens, sizes->kv_heads, self->kept.value_dim, &x->v, error)
               : status;
}

static void clip_heads(const struct graft_heads *x, int64_t tokens, int64_t heads, int64_t head_dim, float limit) {
    for (int64_t i = 0; i < tokens * heads; i++) {
        float *head = x->x + i / heads * x->stride + i % heads * x->head_stride;
        for (int64_t d = 0; d < head_dim; d++) {
            head[d] = head[d] > limit ? limit : head[d] < -limit ? -limit : head[d];
        }
    }
}

static void clip(const struct graft_attention *self, int64_t tokens, const struct graft_projected *x) {
    const struct graft_attention_kept *kept = &self->kept;
    if (kept->clip > 0.0f) {
        clip_heads(&x->q, tokens, kept->sizes.heads, kept->sizes.head_dim, kept->clip);
    }
    if (kept->clip > 0.0f && !graft_attention_borrows(kept)) {
        clip_heads(&x->k, tokens, kept->sizes.kv_heads, kept->sizes.head_dim, kept->clip);
        clip_heads(&x->v, tokens, kept->sizes.kv_heads, kept->value_dim, kept->clip);
    }
}

static int rotate(const struct graft_attention *self, const struct graft_call *call,
                  const struct graft_self_attention_args *args, const struct graft_projected *x,
                  struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    /* Keys that follow queries in each row are rotated with them. */
    const int32_t together = x->k.stride == x->q.stride && x->k.head_stride == x->q.head_stride &&
                             x->k.x == x->q.x + sizes->heads * x->q.head_stride;
    const struct graft_rope_args rope_args[] = {
        {sizeof rope_args[0], sizes->rope_layout, x->q.x, x->q.stride, x->q.head_stride, args->batch->tokens,
         together ? sizes->heads + sizes->kv_heads : sizes->heads, sizes->rotary_width, args->cos, args->sin},
        {sizeof rope_args[0], sizes->rope_layout, x->k.x, x->k.stride, x->k.head_stride, args->batch->tokens,
         sizes->kv_heads, sizes->rotary_width, args->cos, args->sin},
    };
    const int n = together || graft_attention_borrows(&self->kept) ? 1 : 2;
    int status = GRAFT_OK;
    for (int i = 0; i < n && args->cos != NULL && status == GRAFT_OK; i++) {
        status = call->kernels->rope(call, &rope_args[i], error);
    }
    return status;
}

/* The width of the values that attention sums: differential attention concatenates the values of two heads. */
static int64_t attended_dim(const struct graft_attention *self) {
    return (self->kept.differential ? 2 : 1) * self->kept.value_dim;
}

/* context [tokens, heads, attended_dim] = attention of rotated queries and keys. */
static int attend(const struct graft_attention *self, const struct graft_call *call,
                  const struct graft_self_attention_args *args, const struct graft_projected *x, float *context,
                  struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    const int64_t attended = attended_dim(self);
    const int32_t borrows = graft_attention_borrows(&self->kept);
    float *slopes = NULL;
    struct graft_mask biased;
    const float *sinks = self->sinks != NULL ? graft_scratch_widened(call, self->sinks, error) : NULL;
    int status = self->sinks == NULL || sinks != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = graft_attention_slopes(&self->kept, call, &slopes, error);
    }
    if (status == GRAFT_OK && self->relative != NULL) {
        graft_struct_copy(&biased, sizeof biased, args->mask);
        status = graft_relative_fill(&self->kept.relative, self->relative, call, &biased, error);
    }
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = borrows ? self->kept.kv_layer : sizes->layer,
        .shared = borrows,
        .batch = args->batch,
        .mask = self->relative != NULL ? &biased : args->mask,
        .heads = sizes->heads,
        .kv_heads = sizes->kv_heads,
        .head_dim = sizes->head_dim + (self->key_weights != NULL),
        .v_head_dim = attended,
        .scaling = (float)sizes->scaling,
        .softcap = (float)sizes->softcap,
        .sinks = sinks,
        .alibi = slopes,
        .alibi_rounded = self->kept.alibi_rounded,
        .q = x->q.x,
        .q_stride = x->q.stride,
        .q_head_stride = x->q.head_stride,
        .k = x->k.x,
        .k_stride = x->k.stride,
        .k_head_stride = x->k.head_stride,
        .v = x->v.x,
        .v_stride = x->v.stride,
        .v_head_stride = x->v.head_stride,
        .output = context,
        .output_stride = sizes->heads * attended,
    };
    return status == GRAFT_OK ? call->kernels->attention(call, &attention_args, error) : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct graft_attention *self = instance;
    int64_t tokens = args->batch->tokens;
    struct graft_projected x;
    float *context = graft_scratch_floats(call, tokens, self->kept.sizes.heads * attended_dim(self), error);
    int status = context != NULL ? graft_attention_project(self, call, args, &x, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && !self->kept.norm_after_rotary) {
        status = norm_heads(self, call, tokens, &x, error);
    }
    if (status == GRAFT_OK) {
        clip(self, tokens, &x);
        status = rotate(self, call, args, &x, error);
    }
    if (status == GRAFT_OK && self->kept.norm_after_rotary) {
        status = norm_heads(self, call, tokens, &x, error);
    }
    if (status == GRAFT_OK) {
        graft_attention_leave(self, args, &x);
        graft_attention_gain(self, args->batch, &x.q);
        status = self->kept.differential ? graft_differential_values(self, call, tokens, &x.v, error) : GRAFT_OK;
    }
    if (status == GRAFT_OK && self->key_weights != NULL) {
        status = graft_key_weights_add(self, call, tokens, &x, error);
    }
    if (status == GRAFT_OK) {
        status = attend(self, call, args, &x, context, error);
    }
    if (status == GRAFT_OK && self->kept.differential) {
        status = graft_differential_combine(self, call, tokens, context, error);
    }
    if (status == GRAFT_OK) {
        status = graft_attention_give(self, call, tokens, &x.gate, context, args->output, error);
    }
    for (int64_t i = 0; self->kept.output_scale != 1.0f && i < tokens * self->kept.sizes.hidden_size; i++) {
        args->output[i] *= self->kept.output_scale;
    }
    return status;
}

const struct graft_self_attention graft_attention_vtable = {
    .struct_size = sizeof graft_attention_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH | GRAFT_SELF_ATTENTION_ROPE_INTERLEAVE |
                GRAFT_SELF_ATTENTION_SHARED_KEYS,
    .forward = forward,
};
