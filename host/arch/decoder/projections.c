/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "arch/decoder/attention.h"
#include "arch/decoder/choices.h"

/* Memory for a gate that has a projection of its own; x is NULL if there is none. */
static struct graft_heads gate_room(const struct graft_attention *self, const struct graft_pass *pass) {
    const int64_t heads = self->sizes.heads, dim = self->gate_kind == D_GATE_HEAD ? 1 : self->value_dim;
    return graft_heads_packed(self->gate != NULL ? graft_pass_floats(pass, heads * dim) : NULL, heads, dim);
}

/* Computes queries, keys and values, and possibly a gate, with a projection for each; the products run together. */
static struct graft_projected project_each(const struct graft_attention *self, const struct graft_pass *pass,
                                           const struct graft_self_attention_args *args, const float *x) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const int64_t dim = sizes->head_dim, v_dim = self->value_dim;
    const int64_t q_dim = self->gate_kind == D_GATE_QUERY ? 2 * dim : dim;
    float *q = graft_pass_floats(pass, sizes->heads * q_dim);
    float *k = self->k != NULL ? graft_pass_floats(pass, sizes->kv_heads * dim) : NULL;
    float *v = self->k != NULL ? graft_pass_floats(pass, sizes->kv_heads * v_dim) : NULL;
    struct graft_projected out = {graft_heads_packed(q, sizes->heads, q_dim),
                                  graft_heads_packed(k, sizes->kv_heads, dim),
                                  graft_heads_packed(v, sizes->kv_heads, v_dim), gate_room(self, pass)};
    const struct graft_module *const modules[] = {self->q, self->k, self->v, self->gate};
    float *const made[] = {q, k, v, out.gate.x};
    graft_pass_linears(pass, modules, x, made, 4);
    if (q_dim != dim && q != NULL) {
        out.gate = graft_heads_packed(q + dim, sizes->heads, q_dim);
    }
    if (self->value_is_key && self->k != NULL && graft_pass_ok(pass)) {
        memcpy(v, k, (size_t)(pass->rows * sizes->kv_heads * v_dim) * sizeof *v);
    }
    if (self->k == NULL) {
        graft_attention_borrow(self, pass, args, &out);
    }
    return out;
}

/* Splits the layout D_QKV_BLOCKS: a row has four blocks, each with the queries, values and keys of a quarter of the
 * heads. */
static void split_blocks(const struct graft_attention *self, const struct graft_pass *pass, const float *qkv,
                         struct graft_projected *out) {
    const int64_t heads = self->sizes.heads, dim = self->sizes.head_dim;
    const int64_t part = heads * dim / GRAFT_QKV_BLOCKS;
    struct graft_heads *const parts[] = {&out->q, &out->v, &out->k};
    for (int64_t p = 0; p < 3; p++) {
        const struct graft_pass blocks = {pass->call, pass->rows * GRAFT_QKV_BLOCKS, pass->error};
        *parts[p] = graft_heads_packed(graft_pass_columns(&blocks, qkv, 3 * part, p * part, part), heads, dim);
    }
}

/* Finds the heads of queries, keys and values in the rows of one projection. The distance between queries of different
 * groups varies, so queries are copied to be contiguous. */
static void split(const struct graft_attention *self, const struct graft_pass *pass, float *qkv, int64_t row,
                  struct graft_projected *out) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const int64_t dim = sizes->head_dim, queries = sizes->heads / sizes->kv_heads, group = (queries + 2) * dim;
    const struct graft_pass groups = {pass->call, pass->rows * sizes->kv_heads, pass->error};
    if (self->qkv_layout == D_QKV_JOINED) {
        out->q = (struct graft_heads){qkv, row, dim};
        out->k = (struct graft_heads){qkv + sizes->heads * dim, row, dim};
        out->v = (struct graft_heads){out->k.x + sizes->kv_heads * dim, row, self->value_dim};
    } else if (self->qkv_layout == D_QKV_BLOCKS) {
        split_blocks(self, pass, qkv, out);
    } else {
        out->q = (struct graft_heads){qkv, row, group};
        out->k = (struct graft_heads){qkv + queries * dim, row, group};
        out->v = (struct graft_heads){out->k.x + dim, row, group};
        if (queries > 1) {
            out->q = graft_heads_packed(graft_pass_columns(&groups, qkv, group, 0, queries * dim), sizes->heads, dim);
        }
    }
}

static struct graft_projected project_joined(const struct graft_attention *self, const struct graft_pass *pass,
                                             const float *x) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const int64_t row = (sizes->heads + sizes->kv_heads) * sizes->head_dim + sizes->kv_heads * self->value_dim;
    struct graft_projected out = {.gate = gate_room(self, pass)};
    const struct graft_module *const projections[] = {self->qkv, self->gate};
    float *const made[] = {graft_pass_floats(pass, row), out.gate.x};
    graft_pass_linears(pass, projections, x, made, 2);
    if (graft_pass_ok(pass)) {
        split(self, pass, made[0], row, &out);
    }
    return out;
}

static void scale(const struct graft_pass *pass, const struct graft_heads *x, int64_t heads, int64_t head_dim,
                  float factor) {
    for (int64_t i = 0; factor != 1.0f && graft_pass_ok(pass) && i < pass->rows * heads; i++) {
        float *head = graft_heads_at(x, heads, i);
        for (int64_t d = 0; d < head_dim; d++) {
            head[d] *= factor;
        }
    }
}

struct graft_projected graft_attention_project(const struct graft_attention *self, const struct graft_pass *pass,
                                               const struct graft_self_attention_args *args) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const int has_keys = !graft_attention_borrows(self);
    const float *x = args->hidden_states;
    if (self->input_scale != 1.0f) {
        float *scaled = graft_pass_columns(pass, x, sizes->hidden_size, 0, sizes->hidden_size);
        graft_pass_scale(pass, scaled, sizes->hidden_size, self->input_scale);
        x = scaled;
    }
    const struct graft_projected out =
        self->qkv != NULL ? project_joined(self, pass, x) : project_each(self, pass, args, x);
    scale(pass, &out.k, sizes->kv_heads, sizes->head_dim, has_keys ? self->key_scale : 1.0f);
    scale(pass, &out.v, sizes->kv_heads, self->value_dim, has_keys ? self->value_scale : 1.0f);
    return out;
}

void graft_attention_norm(const struct graft_head_norm *norm, const struct graft_pass *pass, int64_t heads,
                          int64_t head_dim, struct graft_heads *x) {
    const int64_t width = heads * head_dim;
    const int is_packed = x->stride == width && x->head_stride == head_dim;
    if (norm->module == NULL) {
        return;
    }
    const struct graft_pass vectors = {pass->call, pass->rows * (width / norm->width), pass->error};
    float *packed = is_packed ? x->x : graft_heads_copy(pass, x, heads, head_dim, NULL);
    *x = graft_heads_packed(graft_pass_normed(&vectors, norm->module, packed, norm->width), heads, head_dim);
}

void graft_attention_gain(const struct graft_attention *self, const struct graft_pass *pass,
                          const struct graft_batch *batch, const struct graft_heads *q) {
    const int multiplies = self->query_gain != 0.0f || self->query_power != 0.0f;
    for (int64_t t = 0; multiplies && graft_pass_ok(pass) && t < batch->tokens; t++) {
        const int64_t at = batch->positions[t] + self->query_gain_from;
        const int64_t whole_periods = at / self->query_gain_period;
        const float periods = (float)at / (float)self->query_gain_period;
        const float factor =
            (1.0f + self->query_gain * logf((float)(1 + whole_periods))) * powf(1.0f + periods, self->query_power);
        const struct graft_pass one = {pass->call, 1, pass->error};
        const struct graft_heads own = {q->x + t * q->stride, q->stride, q->head_stride};
        scale(&one, &own, self->sizes.heads, self->sizes.head_dim, factor);
    }
}
