/* SPDX-License-Identifier: Apache-2.0 */
/* Attention among the patches of a frame. Queries and keys are rotated by row and column; in some towers each head is
 * normed first. */
#include <math.h>
#include <string.h>

#include "arch/role.h"
#include "arch/vision/choices.h"
#include "graft/describe.h"
#include "graft/kernels.h"

/* Queries, keys and values, of which only the first two may have norms. */
enum { N_PARTS = 3, N_NORMS = 2 };

struct attention {
    struct graft_instance base;
    const struct graft_module *qkv;            /* hidden_size -> all three widths; NULL: `parts` */
    const struct graft_module *parts[N_PARTS]; /* hidden_size -> widths[i] */
    const struct graft_module *norms[N_NORMS]; /* norms of a head; NULL: none */
    const struct graft_module *output;         /* hidden_size -> hidden_size */
    int64_t hidden_size;
    int64_t heads;
    int64_t kv_heads;
};

struct sizes {
    int64_t hidden_size;
    int64_t heads;
    int64_t kv_heads;
};

/* The width of the queries (part 0), or of the keys or values. */
static int64_t width_of(int64_t hidden_size, int64_t heads, int64_t kv_heads, int32_t part) {
    return part == 0 ? hidden_size : hidden_size / heads * kv_heads;
}

static const int32_t part_names[N_PARTS] = {V_ATTENTION_QUERY, V_ATTENTION_KEY, V_ATTENTION_VALUE};
static const int32_t norm_names[N_NORMS] = {V_ATTENTION_Q_NORM, V_ATTENTION_K_NORM};

static void describe_children(struct graft_vision_reader *reader, const struct sizes *sizes,
                              const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = reader->of.description;
    const int64_t hidden = sizes->hidden_size;
    const int32_t bias = graft_read_bool(&reader->of, V_ATTENTION_QKV_BIAS);
    const int32_t output_bias = graft_read_bool(&reader->of, V_ATTENTION_OUTPUT_BIAS);
    const double eps = graft_read_real(&reader->of, V_NORM_EPS);
    const char *qkv = graft_description_name(description, V_ATTENTION_QKV);
    for (int32_t i = 0; i < (qkv == NULL ? N_PARTS : 0) && reader->of.status == GRAFT_OK; i++) {
        graft_describe_linear(sink, graft_description_name(description, part_names[i]), hidden,
                              width_of(hidden, sizes->heads, sizes->kv_heads, i), bias, error);
    }
    if (qkv != NULL && reader->of.status == GRAFT_OK) {
        graft_describe_linear(sink, qkv, hidden, hidden + 2 * width_of(hidden, sizes->heads, sizes->kv_heads, 1), bias,
                              error);
    }
    if (reader->of.status == GRAFT_OK) {
        graft_describe_linear(sink, graft_description_name(description, V_ATTENTION_OUTPUT), hidden, hidden,
                              output_bias, error);
    }
    for (int32_t i = 0; i < N_NORMS && reader->of.status == GRAFT_OK; i++) {
        const char *name = graft_description_name(description, norm_names[i]);
        if (name != NULL) {
            graft_describe_norm(sink, name, graft_description_name(description, V_CLASS_NORM), hidden / sizes->heads,
                                eps, error);
        }
    }
}

int graft_vision_attention_describe(const struct graft_class *self, const struct graft_config *config,
                                    const struct graft_args *args, const struct graft_sink *sink,
                                    struct graft_error *error) {
    int64_t hidden = graft_args_int(args, "hidden_size", 0);
    int64_t heads = graft_args_int(args, "num_attention_heads", 0);
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    struct graft_vision_reader reader;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_vision_reader_start(&reader, self->data, config, error);
    if (hidden < 1 || heads < 1 || hidden % heads != 0) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, sink->path,
                               "argument num_attention_heads: expected a divisor of hidden_size (%lld), got %lld",
                               (long long)hidden, (long long)heads);
    }
    const int64_t given = graft_read_int(&reader.of, V_ATTENTION_KV_HEADS);
    *sizes = (struct sizes){hidden, heads, given > 0 ? given : heads};
    if (reader.of.status == GRAFT_OK && heads % sizes->kv_heads != 0) {
        graft_reader_fail(&reader.of, V_ATTENTION_KV_HEADS,
                          "expected a divisor of the heads of queries (%lld), got %lld", (long long)heads,
                          (long long)sizes->kv_heads);
    }
    if (reader.of.status != GRAFT_OK) {
        return reader.of.status;
    }
    describe_children(&reader, sizes, sink, error);
    return error->code;
}

int graft_vision_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                  struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    const struct graft_description *description = cls->data;
    const char *qkv = graft_description_name(description, V_ATTENTION_QKV);
    struct attention *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = sizes->hidden_size;
    self->heads = sizes->heads;
    self->kv_heads = sizes->kv_heads;
    if (qkv != NULL) {
        self->qkv = graft_build_child(build, qkv, error);
    }
    for (int32_t i = 0; i < N_PARTS && qkv == NULL; i++) {
        self->parts[i] = graft_build_child(build, graft_description_name(description, part_names[i]), error);
    }
    for (int32_t i = 0; i < N_NORMS; i++) {
        const char *name = graft_description_name(description, norm_names[i]);
        self->norms[i] = name != NULL ? graft_build_child(build, name, error) : NULL;
    }
    self->output = graft_build_child(build, graft_description_name(description, V_ATTENTION_OUTPUT), error);
    return graft_instance_finish(self, instance, error);
}

/* The heads of all patches, in scratch memory. */
struct heads {
    float *x;       /* [patches, heads, head_dim] */
    int64_t stride; /* floats from one patch to the next */
    int64_t count;  /* heads */
};

static int project(const struct attention *self, const struct graft_call *call,
                   const struct graft_vision_attention_args *args, struct heads heads[N_PARTS],
                   struct graft_error *error) {
    const int64_t patches = args->batch->tokens, hidden = self->hidden_size;
    const int joined = self->qkv != NULL;
    const int64_t row = hidden + 2 * width_of(hidden, self->heads, self->kv_heads, 1);
    float *x = graft_scratch_floats(call, patches, row, error);
    struct graft_linear_args each[N_PARTS];
    if (x == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t i = 0; i < N_PARTS; i++) {
        const int64_t width = width_of(hidden, self->heads, self->kv_heads, i);
        heads[i] = (struct heads){x, joined ? row : width, i == 0 ? self->heads : self->kv_heads};
        each[i] = (struct graft_linear_args){sizeof each[i], 0, patches, args->hidden_states, x};
        x += (joined ? 1 : patches) * width;
    }
    return joined ? graft_linear_forward(self->qkv, call, &each[0], error)
                  : graft_linear_forward_all(self->parts, call, each, N_PARTS, error);
}

/* Replaces `heads` by a contiguous normed copy, if there is a norm. */
static int norm(const struct attention *self, const struct graft_module *module, const struct graft_call *call,
                int64_t patches, struct heads *heads, struct graft_error *error) {
    const int64_t width = self->hidden_size / self->heads * heads->count;
    if (module == NULL) {
        return GRAFT_OK;
    }
    float *packed = graft_scratch_floats(call, patches, width, error);
    float *normed = graft_scratch_floats(call, patches, width, error);
    if (packed == NULL || normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t p = 0; p < patches; p++) {
        memcpy(packed + p * width, heads->x + p * heads->stride, (size_t)width * sizeof *packed);
    }
    const struct graft_norm_args args = {sizeof args, 0, patches * heads->count, packed, NULL, normed};
    *heads = (struct heads){normed, width, heads->count};
    return graft_norm_forward(module, call, &args, error);
}

static int rotate(const struct attention *self, const struct graft_call *call,
                  const struct graft_vision_attention_args *args, const struct heads *heads,
                  struct graft_error *error) {
    const int64_t head_dim = self->hidden_size / self->heads;
    const struct graft_rope_args rope_args = {
        sizeof rope_args,    GRAFT_ROPE_HALVES, heads->x, heads->stride, head_dim,
        args->batch->tokens, heads->count,      head_dim, args->cos,     args->sin};
    return call->kernels->rope(call, &rope_args, error);
}

/* Computes context [patches, heads, head_dim]. */
static int attend(const struct attention *self, const struct graft_call *call,
                  const struct graft_vision_attention_args *args, const struct heads heads[N_PARTS], float *context,
                  struct graft_error *error) {
    const struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_NONE};
    const int64_t head_dim = self->hidden_size / self->heads;
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .batch = args->batch,
        .mask = &mask,
        .heads = self->heads,
        .kv_heads = self->kv_heads,
        .head_dim = head_dim,
        .scaling = (float)(1.0 / sqrt((double)head_dim)),
        .q = heads[0].x,
        .q_stride = heads[0].stride,
        .k = heads[1].x,
        .k_stride = heads[1].stride,
        .v = heads[2].x,
        .v_stride = heads[2].stride,
        .output = context,
        .output_stride = self->hidden_size,
    };
    return call->kernels->attention(call, &attention_args, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_vision_attention_args *args,
                   struct graft_error *error) {
    const struct attention *self = instance;
    const int64_t patches = args->batch->tokens;
    float *context = graft_scratch_floats(call, patches, self->hidden_size, error);
    struct heads heads[N_PARTS];
    if (context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = project(self, call, args, heads, error);
    for (int32_t i = 0; i < N_NORMS && status == GRAFT_OK; i++) {
        status = norm(self, self->norms[i], call, patches, &heads[i], error);
        if (status == GRAFT_OK && args->cos != NULL) {
            status = rotate(self, call, args, &heads[i], error);
        }
    }
    if (status == GRAFT_OK) {
        status = attend(self, call, args, heads, context, error);
    }
    const struct graft_linear_args output_args = {sizeof output_args, 0, patches, context, args->output};
    return status == GRAFT_OK ? graft_linear_forward(self->output, call, &output_args, error) : status;
}

const struct graft_vision_attention graft_vision_attention_vtable = {
    .struct_size = sizeof graft_vision_attention_vtable,
    .forward = forward,
};
