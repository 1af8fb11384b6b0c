/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "arch/decoder/attention.h"
#include "arch/decoder/choices.h"
#include "graft/linear.h"
#include "graft/norm.h"

static struct graft_heads packed(float *x, int64_t heads, int64_t head_dim) {
    return (struct graft_heads){x, heads * head_dim, head_dim};
}

void graft_attention_copy(const struct graft_heads *x, int64_t tokens, int64_t heads, int64_t head_dim, float *copy) {
    for (int64_t i = 0; i < tokens * heads; i++) {
        memcpy(copy + i * head_dim, x->x + i / heads * x->stride + i % heads * x->head_stride,
               (size_t)head_dim * sizeof *copy);
    }
}

/* Allocates memory for a gate that has a projection of its own; x is NULL if there is none. */
static int gate_room(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                     struct graft_heads *gate, struct graft_error *error) {
    const int64_t heads = self->kept.sizes.heads;
    const int64_t dim = self->kept.gate == D_GATE_HEAD ? 1 : self->kept.value_dim;
    *gate = packed(NULL, heads, dim);
    if (self->gate == NULL) {
        return GRAFT_OK;
    }
    gate->x = graft_scratch_floats(call, tokens, heads * dim, error);
    return gate->x != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

/* Computes queries, keys and values, and possibly a gate, with a projection for each; the products run together. */
static int project_each(const struct graft_attention *self, const struct graft_call *call,
                        const struct graft_self_attention_args *args, struct graft_projected *out,
                        struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    int64_t tokens = args->batch->tokens;
    int64_t dim = sizes->head_dim;
    int64_t q_dim = self->kept.gate == D_GATE_QUERY ? 2 * dim : dim;
    int64_t v_dim = self->kept.value_dim;
    float *q = graft_scratch_floats(call, tokens, sizes->heads * q_dim, error);
    float *k = self->k != NULL ? graft_scratch_floats(call, tokens, sizes->kv_heads * dim, error) : NULL;
    float *v = self->k != NULL ? graft_scratch_floats(call, tokens, sizes->kv_heads * v_dim, error) : NULL;
    int status = gate_room(self, call, tokens, &out->gate, error);
    if (q == NULL || (self->k != NULL && (k == NULL || v == NULL)) || status != GRAFT_OK) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct {
        const struct graft_module *module;
        float *output;
    } each[] = {{self->q, q}, {self->k, k}, {self->v, v}, {self->gate, out->gate.x}};
    const struct graft_module *projections[4];
    struct graft_linear_args projection_args[4];
    int32_t n = 0;
    for (int i = 0; i < 4; i++) {
        if (each[i].module != NULL) {
            projections[n] = each[i].module;
            projection_args[n++] =
                (struct graft_linear_args){sizeof projection_args[0], 0, tokens, args->hidden_states, each[i].output};
        }
    }
    out->q = packed(q, sizes->heads, q_dim);
    out->k = packed(k, sizes->kv_heads, dim);
    out->v = packed(v, sizes->kv_heads, v_dim);
    out->gate = q_dim != dim ? packed(q + dim, sizes->heads, q_dim) : out->gate;
    status = graft_linear_forward_all(projections, call, projection_args, n, error);
    if (status == GRAFT_OK && self->kept.value_is_key && self->k != NULL) {
        memcpy(v, k, (size_t)(tokens * sizes->kv_heads * v_dim) * sizeof *v);
    }
    return status == GRAFT_OK && self->k == NULL ? graft_attention_borrow(self, args, out, error) : status;
}

/* Splits the layout D_QKV_BLOCKS: a row has four blocks, each with the queries, values and keys of a quarter of the
 * heads. */
static int split_blocks(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                        const float *qkv, struct graft_projected *out, struct graft_error *error) {
    const int64_t heads = self->kept.sizes.heads, dim = self->kept.sizes.head_dim;
    const int64_t all = heads * dim, part = all / GRAFT_QKV_BLOCKS;
    struct graft_heads *const parts[] = {&out->q, &out->v, &out->k};
    for (int64_t p = 0; p < 3; p++) {
        float *x = graft_scratch_floats(call, tokens, all, error);
        if (x == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        for (int64_t i = 0; i < tokens * GRAFT_QKV_BLOCKS; i++) {
            memcpy(x + i * part, qkv + (3 * i + p) * part, (size_t)part * sizeof *x);
        }
        *parts[p] = packed(x, heads, dim);
    }
    return GRAFT_OK;
}

/* Finds the heads of queries, keys and values in the rows of one projection. The distance between queries of different
 * groups varies, so queries are copied to be contiguous. */
static int split(const struct graft_attention *self, const struct graft_call *call, int64_t tokens, float *qkv,
                 struct graft_projected *out, struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    int64_t dim = sizes->head_dim;
    int64_t row = (sizes->heads + sizes->kv_heads) * dim + sizes->kv_heads * self->kept.value_dim;
    int64_t queries = sizes->heads / sizes->kv_heads;
    int64_t group = (queries + 2) * dim;
    if (self->kept.qkv_layout == D_QKV_JOINED) {
        out->q = (struct graft_heads){qkv, row, dim};
        out->k = (struct graft_heads){qkv + sizes->heads * dim, row, dim};
        out->v = (struct graft_heads){out->k.x + sizes->kv_heads * dim, row, self->kept.value_dim};
        return GRAFT_OK;
    }
    if (self->kept.qkv_layout == D_QKV_BLOCKS) {
        return split_blocks(self, call, tokens, qkv, out, error);
    }
    out->q = (struct graft_heads){qkv, row, group};
    out->k = (struct graft_heads){qkv + queries * dim, row, group};
    out->v = (struct graft_heads){out->k.x + dim, row, group};
    if (queries == 1) {
        return GRAFT_OK;
    }
    float *q = graft_scratch_floats(call, tokens, sizes->heads * dim, error);
    if (q == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < tokens * sizes->kv_heads; i++) {
        memcpy(q + i * queries * dim, qkv + i * group, (size_t)(queries * dim) * sizeof *q);
    }
    out->q = packed(q, sizes->heads, dim);
    return GRAFT_OK;
}

static int project_joined(const struct graft_attention *self, const struct graft_call *call,
                          const struct graft_self_attention_args *args, struct graft_projected *out,
                          struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    int64_t tokens = args->batch->tokens;
    int64_t row = (sizes->heads + sizes->kv_heads) * sizes->head_dim + sizes->kv_heads * self->kept.value_dim;
    float *qkv = graft_scratch_floats(call, tokens, row, error);
    int status = gate_room(self, call, tokens, &out->gate, error);
    if (qkv == NULL || status != GRAFT_OK) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_module *projections[] = {self->qkv, self->gate};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, qkv},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, out->gate.x},
    };
    status = graft_linear_forward_all(projections, call, projection_args, self->gate != NULL ? 2 : 1, error);
    return status == GRAFT_OK ? split(self, call, tokens, qkv, out, error) : status;
}

static void scale(const struct graft_heads *x, int64_t tokens, int64_t heads, int64_t head_dim, float factor) {
    for (int64_t i = 0; i < tokens * heads; i++) {
        float *head = x->x + i / heads * x->stride + i % heads * x->head_stride;
        for (int64_t d = 0; d < head_dim; d++) {
            head[d] *= factor;
        }
    }
}

/* The input of the projections, x times the input's scale, in scratch memory. NULL with an error recorded on failure.
 */
static const float *scaled_input(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                                 const float *x, struct graft_error *error) {
    const int64_t width = self->kept.sizes.hidden_size;
    float *scaled = graft_scratch_floats(call, tokens, width, error); /* [tokens, hidden_size] */
    for (int64_t i = 0; scaled != NULL && i < tokens * width; i++) {
        scaled[i] = x[i] * self->kept.input_scale;
    }
    return scaled;
}

int graft_attention_project(const struct graft_attention *self, const struct graft_call *call,
                            const struct graft_self_attention_args *args, struct graft_projected *out,
                            struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->kept.sizes;
    int64_t tokens = args->batch->tokens;
    struct graft_self_attention_args scaled;
    if (self->kept.input_scale != 1.0f) {
        graft_struct_copy(&scaled, sizeof scaled, args);
        scaled.hidden_states = scaled_input(self, call, tokens, args->hidden_states, error);
        args = &scaled;
    }
    if (args->hidden_states == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status =
        self->qkv != NULL ? project_joined(self, call, args, out, error) : project_each(self, call, args, out, error);
    if (status == GRAFT_OK && self->kept.key_scale != 1.0f && !graft_attention_borrows(&self->kept)) {
        scale(&out->k, tokens, sizes->kv_heads, sizes->head_dim, self->kept.key_scale);
    }
    if (status == GRAFT_OK && self->kept.value_scale != 1.0f && !graft_attention_borrows(&self->kept)) {
        scale(&out->v, tokens, sizes->kv_heads, self->kept.value_dim, self->kept.value_scale);
    }
    return status;
}

/* Replaces x by a copy without gaps, if it has gaps. */
static int pack(const struct graft_call *call, int64_t tokens, int64_t heads, int64_t head_dim, struct graft_heads *x,
                struct graft_error *error) {
    if (x->stride == heads * head_dim && x->head_stride == head_dim) {
        return GRAFT_OK;
    }
    float *copy = graft_scratch_floats(call, tokens, heads * head_dim, error);
    if (copy == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_attention_copy(x, tokens, heads, head_dim, copy);
    *x = packed(copy, heads, head_dim);
    return GRAFT_OK;
}

int graft_attention_norm(const struct graft_head_norm *norm, const struct graft_call *call, int64_t tokens,
                         int64_t heads, int64_t head_dim, struct graft_heads *x, struct graft_error *error) {
    if (norm->module == NULL) {
        return GRAFT_OK;
    }
    float *normed = graft_scratch_floats(call, tokens, heads * head_dim, error);
    if (normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = pack(call, tokens, heads, head_dim, x, error);
    const struct graft_norm_args args = {sizeof args, 0, tokens * (heads * head_dim / norm->width), x->x, NULL, normed};
    *x = packed(normed, heads, head_dim);
    return status == GRAFT_OK ? graft_norm_forward(norm->module, call, &args, error) : status;
}

void graft_attention_gain(const struct graft_attention *self, const struct graft_batch *batch,
                          const struct graft_heads *q) {
    const struct graft_attention_kept *kept = &self->kept;
    const int multiplies = kept->query_gain != 0.0f || kept->query_power != 0.0f;
    for (int64_t t = 0; multiplies && t < batch->tokens; t++) {
        const int64_t at = batch->positions[t] + kept->query_gain_from;
        const int64_t whole_periods = at / kept->query_gain_period;
        const float periods = (float)at / (float)kept->query_gain_period;
        const float factor =
            (1.0f + kept->query_gain * logf((float)(1 + whole_periods))) * powf(1.0f + periods, kept->query_power);
        for (int64_t h = 0; factor != 1.0f && h < kept->sizes.heads; h++) {
            float *head = q->x + t * q->stride + h * q->head_stride;
            for (int64_t d = 0; d < kept->sizes.head_dim; d++) {
                head[d] *= factor;
            }
        }
    }
}
