/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of a decoder: projects, norms and rotates queries and keys as the family says, attends, and projects the
 * output. */
#include "arch/decoder/attention.h"

#include "arch/decoder/choices.h"
#include "arch/decoder/roles.h"
#include "arch/role.h"
#include "graft/describe.h"

/* The name of the projection that gives queries, keys and values in one; NULL: there are three projections. */
static const char *qkv_name(const struct graft_outline *of, const struct graft_attention *self) {
    return self->qkv_joined ? "qkv_proj" : graft_outline_name(of, D_QKV);
}

/* Lays out the projections of hidden states to queries, keys and values. */
static void outline_inputs(struct graft_outline *of, struct graft_attention *self) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const int64_t hidden = sizes->hidden_size, q_size = sizes->heads * sizes->head_dim;
    const int64_t k_size = sizes->kv_heads * sizes->head_dim, v_size = sizes->kv_heads * self->value_dim;
    const int32_t bias = sizes->qkv_bias;
    const int32_t k_bias = graft_read_is_null(&of->reader, D_K_BIAS) ? bias : graft_read_bool(&of->reader, D_K_BIAS);
    if (qkv_name(of, self) != NULL) {
        graft_outline_linear(of, &self->qkv, qkv_name(of, self), hidden, q_size + k_size + v_size, bias);
        return;
    }
    graft_outline_linear(of, &self->q, graft_outline_name(of, D_QUERY), hidden,
                         self->gate_kind == D_GATE_QUERY ? 2 * q_size : q_size, bias);
    if (!graft_attention_borrows(self)) {
        graft_outline_linear(of, &self->k, graft_outline_name(of, D_KEY), hidden, k_size, k_bias);
    }
    if (!graft_attention_borrows(self) && !self->value_is_key) {
        graft_outline_linear(of, &self->v, graft_outline_name(of, D_VALUE), hidden, v_size, bias);
    }
}

/* Lays out the output projection, the norm before it, and the gate with its bias, unless the projection of queries
 * gives the gate as well. */
static void outline_outputs(struct graft_outline *of, struct graft_attention *self) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const int64_t width = sizes->heads * self->value_dim;
    graft_outline_linear(of, &self->output, graft_outline_name(of, D_OUTPUT), width, sizes->hidden_size,
                         sizes->o_proj_bias);
    graft_outline_norm(of, &self->output_norm, graft_outline_name(of, D_OUTPUT_NORM),
                       graft_outline_name(of, D_CLASS_NORM), width, graft_args_real(of->args, "eps", 1e-6));
    if (self->gate_kind == D_GATE_NUMBER || self->gate_kind == D_GATE_HEAD) {
        graft_outline_linear(of, &self->gate, graft_outline_name(of, D_GATE_NAME), sizes->hidden_size,
                             self->gate_kind == D_GATE_HEAD ? sizes->heads : width, 0);
        graft_outline_vector(of, &self->gate_bias, graft_outline_name(of, D_GATE_BIAS), sizes->heads);
    }
}

/* A choice of norms of queries and keys; where it is null, that of other norms. */
static int32_t read_or(struct graft_reader *reader, int32_t choice, int32_t other) {
    return graft_read_bool(reader, graft_read_is_null(reader, choice) ? other : choice);
}

/* Declares a norm of `heads` heads, as attention.head_norm says. */
static void describe_norm(struct graft_outline *of, const struct graft_attention *self, const char *name,
                          int64_t heads) {
    const int32_t kind = graft_read_word(&of->reader, D_HEAD_NORM);
    struct graft_arg given[5];
    int32_t n = 0;
    given[n++] = graft_int_arg("hidden_size", (kind == D_HEAD_NORM_ALL ? heads : 1) * self->sizes.head_dim);
    if (graft_args_find(of->args, "eps", GRAFT_ARG_REAL) != NULL) {
        given[n++] = graft_real_arg("eps", graft_args_real(of->args, "eps", 0.0));
    }
    if (!read_or(&of->reader, D_HEAD_NORM_WEIGHT, D_NORM_WEIGHT)) {
        given[n++] = graft_int_arg("weight", 0);
    }
    if (!read_or(&of->reader, D_HEAD_NORM_BIAS, D_NORM_BIAS)) {
        given[n++] = graft_int_arg("bias", 0);
    }
    if (kind == D_HEAD_NORM_EACH) {
        given[n++] = graft_int_arg("heads", heads);
    }
    if (kind != D_HEAD_NORM_NONE && of->error->code == GRAFT_OK) {
        (void)graft_describe_child(of->sink, name, graft_decoder_class_name(of->reader.description, D_CLASS_HEAD_NORM),
                                   GRAFT_INTERFACE_NORM, given, n, of->error);
    }
}

/* Lays out the norms of queries and keys, which a derived class may declare, too, and that of values, which has no
 * weight. */
static void outline_norms(struct graft_outline *of, struct graft_attention *self) {
    const struct graft_arg given[] = {graft_int_arg("hidden_size", self->value_dim),
                                      graft_real_arg("eps", graft_args_real(of->args, "eps", 1e-6)),
                                      graft_int_arg("weight", 0)};
    const char *const names[] = {graft_outline_name(of, D_QUERY_NORM), graft_outline_name(of, D_KEY_NORM)};
    const int borrows = graft_attention_borrows(self);
    describe_norm(of, self, names[0], self->sizes.heads);
    if (!borrows) {
        describe_norm(of, self, names[1], self->sizes.kv_heads);
    }
    graft_outline_find_child(of, &self->q_norm.module, names[0]);
    graft_outline_find_child(of, &self->k_norm.module, names[1]);
    graft_outline_child(of, &self->v_norm.module, borrows ? NULL : graft_outline_name(of, D_VALUE_NORM),
                        graft_decoder_class_name(of->reader.description, D_CLASS_HEAD_NORM), GRAFT_INTERFACE_NORM,
                        given, 3);
}

/* Checks that the heads fit the layout of the projection: by_head and blocks need as many heads of keys as of queries,
 * and blocks needs a multiple of four heads. */
static int check_layout(const struct graft_outline *of, const struct graft_attention *self) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const int32_t layout = self->qkv_layout;
    const int needs_even = self->gate_kind == D_GATE_QUERY || (qkv_name(of, self) != NULL && layout != D_QKV_JOINED);
    if (self->value_dim != sizes->head_dim && needs_even) {
        return graft_error_set(of->error, GRAFT_ERROR_MODEL, of->sink->path,
                               "heads of values have %lld numbers, expected head_dim (%lld), as the layout of its "
                               "projection needs",
                               (long long)self->value_dim, (long long)sizes->head_dim);
    }
    if (layout == D_QKV_BLOCKS && sizes->heads % GRAFT_QKV_BLOCKS != 0) {
        return graft_error_set(of->error, GRAFT_ERROR_MODEL, of->sink->path,
                               "%lld heads cannot be divided into %d blocks", (long long)sizes->heads,
                               GRAFT_QKV_BLOCKS);
    }
    return (layout == D_QKV_BY_HEAD || layout == D_QKV_BLOCKS) && sizes->kv_heads != sizes->heads
               ? graft_error_set(of->error, GRAFT_ERROR_PLUGIN, of->sink->path,
                                 "argument num_key_value_heads: expected num_attention_heads (%lld), got %lld",
                                 (long long)sizes->heads, (long long)sizes->kv_heads)
               : GRAFT_OK;
}

static void read_gain(struct graft_reader *reader, struct graft_attention *self) {
    self->query_gain = (float)graft_read_real(reader, D_QUERY_GAIN);
    self->query_power = (float)graft_read_real(reader, D_QUERY_POWER);
    self->query_gain_period = graft_read_int(reader, D_QUERY_GAIN_PERIOD);
    self->query_gain_from = graft_read_int(reader, D_QUERY_GAIN_FROM);
    if ((self->query_gain != 0.0f || self->query_power != 0.0f) && self->query_gain_period == 0) {
        graft_reader_fail(reader, D_QUERY_GAIN_PERIOD, "missing, expected an integer");
    }
}

static void read_choices(struct graft_reader *reader, const struct graft_args *args, struct graft_attention *self) {
    self->qkv_joined = graft_args_int(args, "qkv_joined", 0) != 0;
    self->qkv_layout = self->qkv_joined ? D_QKV_JOINED : graft_read_word(reader, D_QKV_LAYOUT);
    self->gate_kind = graft_read_word(reader, D_GATE);
    self->gate_act = graft_read_word(reader, D_GATE_ACT);
    self->value_dim =
        graft_read_is_null(reader, D_VALUE_DIM) ? self->sizes.head_dim : graft_read_int(reader, D_VALUE_DIM);
    self->value_scale = (float)graft_read_real(reader, D_VALUE_SCALE);
    self->key_scale = (float)graft_read_real(reader, D_KEY_SCALE);
    self->input_scale = (float)graft_read_real(reader, D_ATTENTION_INPUT_SCALE);
    self->output_scale = (float)graft_read_real(reader, D_ATTENTION_OUTPUT_SCALE);
    self->norm_after_rotary = graft_read_bool(reader, D_HEAD_NORM_AFTER_ROTARY);
    self->clip = (float)graft_read_real(reader, D_CLIP);
    read_gain(reader, self);
    self->alibi = (float)graft_read_real(reader, D_ALIBI);
    self->alibi_rounded = graft_read_bool(reader, D_ALIBI_ROUNDED);
    self->differential = graft_read_bool(reader, D_DIFFERENTIAL);
    self->kv_layer = (int32_t)graft_args_int(args, "kv_layer_idx", -1);
    graft_attention_read_sharing(reader, self);
    self->eps = (float)graft_args_real(args, "eps", 1e-6);
}

static void outline(struct graft_outline *of, struct graft_attention *self) {
    if (graft_parts_read_attention_sizes(of->args, of->sink->path, &self->sizes, of->error) != GRAFT_OK) {
        return;
    }
    read_choices(&of->reader, of->args, self);
    const int32_t sinks = graft_read_bool(&of->reader, D_SINKS);
    const int64_t kv_heads = self->sizes.kv_heads;
    if (of->reader.status != GRAFT_OK || check_layout(of, self) != GRAFT_OK) {
        return;
    }
    outline_inputs(of, self);
    outline_outputs(of, self);
    outline_norms(of, self);
    graft_differential_outline(of, self);
    if (graft_outline_name(of, D_KEY_WEIGHTS) != NULL) {
        graft_outline_linear(of, &self->key_weights, graft_outline_name(of, D_KEY_WEIGHTS), kv_heads * self->value_dim,
                             kv_heads, self->sizes.qkv_bias);
        graft_outline_vector(of, &self->key_rates, "A", kv_heads);
    }
    graft_relative_outline(of, &self->relative, self->sizes.heads);
    graft_outline_find_weight(of, &self->sinks, "sinks");
    if (sinks && of->error->code == GRAFT_OK) {
        graft_describe_vector(of->sink, "sinks", self->sizes.heads, of->error);
    }
}

GRAFT_OUTLINED(graft_attention, struct graft_attention)

/* Finds the width of a norm: a head, or all `heads` of a token. */
static void find_width(const struct graft_build *build, const char *name, int64_t heads, int64_t head_dim,
                       struct graft_head_norm *norm, struct graft_error *error) {
    if (norm->module == NULL) {
        return;
    }
    norm->width = graft_args_int(build->child_args(build->data, name), "hidden_size", head_dim);
    if (norm->width != head_dim && norm->width != heads * head_dim) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, build->path,
                              "argument hidden_size of %s: expected %lld for each head or %lld for all, got %lld", name,
                              (long long)head_dim, (long long)(heads * head_dim), (long long)norm->width);
    }
}

int graft_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct graft_description *description = cls->data;
    struct graft_attention *self = graft_outline_make(build, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    find_width(build, graft_description_name(description, D_QUERY_NORM), sizes->heads, sizes->head_dim, &self->q_norm,
               error);
    find_width(build, graft_description_name(description, D_KEY_NORM), sizes->kv_heads, sizes->head_dim, &self->k_norm,
               error);
    find_width(build, graft_description_name(description, D_VALUE_NORM), 1, self->value_dim, &self->v_norm, error);
    if (self->sinks != NULL && self->sinks->rows * self->sinks->columns != sizes->heads) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, build->path,
                              "parameter sinks: expected %lld elements, got %lld", (long long)sizes->heads,
                              (long long)(self->sinks->rows * self->sinks->columns));
    }
    return graft_instance_finish(self, instance, error);
}

static void norm_heads(const struct graft_attention *self, const struct graft_pass *pass, struct graft_projected *x) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    graft_attention_norm(&self->q_norm, pass, sizes->heads, sizes->head_dim, &x->q);
    graft_attention_norm(&self->k_norm, pass, sizes->kv_heads, sizes->head_dim, &x->k);
    graft_attention_norm(&self->v_norm, pass, sizes->kv_heads, self->value_dim, &x->v);
}

static void clip_heads(const struct graft_pass *pass, const struct graft_heads *x, int64_t heads, int64_t head_dim,
                       float limit) {
    for (int64_t i = 0; limit > 0.0f && graft_pass_ok(pass) && i < pass->rows * heads; i++) {
        float *head = graft_heads_at(x, heads, i);
        for (int64_t d = 0; d < head_dim; d++) {
            head[d] = head[d] > limit ? limit : head[d] < -limit ? -limit : head[d];
        }
    }
}

/* context [tokens, heads, value_dim], or twice that for differential attention, which concatenates the values of two
 * heads. */
static float *attend(const struct graft_attention *self, const struct graft_pass *pass,
                     const struct graft_self_attention_args *args, const struct graft_projected *x) {
    const int borrows = graft_attention_borrows(self);
    struct graft_attention_args attention_args = graft_heads_args(&self->sizes, args, x);
    struct graft_mask biased;
    if (self->relative.table != NULL) {
        graft_struct_copy(&biased, sizeof biased, args->mask);
        graft_relative_fill(&self->relative, pass, &biased);
        attention_args.mask = &biased;
    }
    attention_args.layer = borrows ? self->kv_layer : self->sizes.layer;
    attention_args.shared = borrows;
    attention_args.head_dim += self->key_weights != NULL;
    attention_args.v_head_dim = (self->differential ? 2 : 1) * self->value_dim;
    attention_args.sinks = graft_pass_widen(pass, self->sinks);
    attention_args.alibi = graft_attention_slopes(self, pass);
    attention_args.alibi_rounded = self->alibi_rounded;
    return graft_heads_run(pass, &attention_args);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct graft_attention *self = instance;
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const int has_keys = !graft_attention_borrows(self);
    struct graft_projected x = graft_attention_project(self, &pass, args);
    if (!self->norm_after_rotary) {
        norm_heads(self, &pass, &x);
    }
    clip_heads(&pass, &x.q, sizes->heads, sizes->head_dim, self->clip);
    clip_heads(&pass, &x.k, sizes->kv_heads, sizes->head_dim, has_keys ? self->clip : 0.0f);
    clip_heads(&pass, &x.v, sizes->kv_heads, self->value_dim, has_keys ? self->clip : 0.0f);
    graft_heads_rotate(sizes, &pass, args, &x, has_keys);
    if (self->norm_after_rotary) {
        norm_heads(self, &pass, &x);
    }
    graft_attention_leave(self, &pass, args, &x);
    graft_attention_gain(self, &pass, args->batch, &x.q);
    if (self->differential) {
        graft_differential_values(self, &pass, &x.v);
    }
    if (self->key_weights != NULL) {
        graft_key_weights_add(self, &pass, &x);
    }
    float *context = attend(self, &pass, args, &x);
    if (self->differential) {
        graft_differential_combine(self, &pass, context);
    }
    graft_attention_give(self, &pass, &x.gate, context, args->output);
    graft_pass_scale(&pass, args->output, sizes->hidden_size, self->output_scale);
    return error->code;
}

const struct graft_self_attention graft_attention_vtable = {
    .struct_size = sizeof graft_attention_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH | GRAFT_SELF_ATTENTION_ROPE_INTERLEAVE |
                GRAFT_SELF_ATTENTION_SHARED_KEYS,
    .forward = forward,
};
