/* SPDX-License-Identifier: Apache-2.0 */
/* Attention among the patches of a frame. Queries and keys are rotated by row and column; in some towers each head is
 * normed first. */
#include <math.h>

#include "arch/decoder/attend.h"
#include "arch/role.h"
#include "arch/vision/choices.h"

/* Queries, keys and values, of which only the first two may have norms. */
enum { N_PARTS = 3, N_NORMS = 2 };

struct attention {
    struct graft_instance base;
    struct graft_parts_attention_sizes sizes;
    const struct graft_module *qkv;            /* hidden_size -> all three widths; NULL: `parts` */
    const struct graft_module *parts[N_PARTS]; /* hidden_size -> the width of queries, keys or values */
    const struct graft_module *norms[N_NORMS]; /* norms of a head; NULL: none */
    const struct graft_module *output;         /* hidden_size -> hidden_size */
};

static const int32_t part_names[N_PARTS] = {V_ATTENTION_QUERY, V_ATTENTION_KEY, V_ATTENTION_VALUE};
static const int32_t norm_names[N_NORMS] = {V_ATTENTION_Q_NORM, V_ATTENTION_K_NORM};

static void outline_children(struct graft_outline *of, struct attention *self) {
    const int64_t hidden = self->sizes.hidden_size, kv_width = self->sizes.kv_heads * self->sizes.head_dim;
    const int32_t bias = graft_read_bool(&of->reader, V_ATTENTION_QKV_BIAS);
    const int32_t output_bias = graft_read_bool(&of->reader, V_ATTENTION_OUTPUT_BIAS);
    const double eps = graft_read_real(&of->reader, V_NORM_EPS);
    const char *qkv = graft_outline_name(of, V_ATTENTION_QKV);
    for (int32_t i = 0; i < N_PARTS && qkv == NULL; i++) {
        graft_outline_linear(of, &self->parts[i], graft_outline_name(of, part_names[i]), hidden,
                             i == 0 ? hidden : kv_width, bias);
    }
    graft_outline_linear(of, &self->qkv, qkv, hidden, hidden + 2 * kv_width, bias);
    graft_outline_linear(of, &self->output, graft_outline_name(of, V_ATTENTION_OUTPUT), hidden, hidden, output_bias);
    for (int32_t i = 0; i < N_NORMS; i++) {
        graft_outline_norm(of, &self->norms[i], graft_outline_name(of, norm_names[i]),
                           graft_outline_name(of, V_CLASS_NORM), self->sizes.head_dim, eps);
    }
}

static void outline(struct graft_outline *of, struct attention *self) {
    const int64_t hidden = graft_args_int(of->args, "hidden_size", 0);
    const int64_t heads = graft_args_int(of->args, "num_attention_heads", 0);
    if (hidden < 1 || heads < 1 || hidden % heads != 0) {
        (void)graft_error_set(of->error, GRAFT_ERROR_PLUGIN, of->sink->path,
                              "argument num_attention_heads: expected a divisor of hidden_size (%lld), got %lld",
                              (long long)hidden, (long long)heads);
        return;
    }
    const int64_t given = graft_read_int(&of->reader, V_ATTENTION_KV_HEADS), head_dim = hidden / heads;
    self->sizes = (struct graft_parts_attention_sizes){
        .hidden_size = hidden,
        .heads = heads,
        .kv_heads = given > 0 ? given : heads,
        .head_dim = head_dim,
        .rotary_width = head_dim,
        .scaling = 1.0 / sqrt((double)head_dim),
        .rope_layout = GRAFT_ROPE_HALVES,
    };
    if (heads % self->sizes.kv_heads != 0) {
        graft_reader_fail(&of->reader, V_ATTENTION_KV_HEADS,
                          "expected a divisor of the heads of queries (%lld), got %lld", (long long)heads,
                          (long long)self->sizes.kv_heads);
    }
    outline_children(of, self);
}

GRAFT_VISION_OUTLINED(graft_vision_attention, struct attention)

/* Fills in x [3]: queries, keys and values. */
static void project(const struct attention *self, const struct graft_pass *pass, const float *hidden_states,
                    struct graft_heads x[N_PARTS]) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const int64_t hidden = sizes->hidden_size, kv_width = sizes->kv_heads * sizes->head_dim;
    const int64_t row = hidden + 2 * kv_width;
    float *made[N_PARTS], *at = graft_pass_floats(pass, row);
    for (int32_t i = 0; graft_pass_ok(pass) && i < N_PARTS; i++) {
        const int64_t width = i == 0 ? hidden : kv_width;
        made[i] = at;
        x[i] = (struct graft_heads){at, self->qkv != NULL ? row : width, sizes->head_dim};
        at += (self->qkv != NULL ? 1 : pass->rows) * width;
    }
    if (self->qkv == NULL) {
        graft_pass_linears(pass, self->parts, hidden_states, made, N_PARTS);
    } else if (graft_pass_ok(pass)) {
        graft_pass_linear(pass, self->qkv, hidden_states, made[0]);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_vision_attention_args *args,
                   struct graft_error *error) {
    const struct attention *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_NONE};
    const struct graft_self_attention_args own = {
        .struct_size = sizeof own, .batch = args->batch, .cos = args->cos, .sin = args->sin, .mask = &mask};
    struct graft_heads x[N_PARTS] = {{NULL, 0, 0}};
    project(self, &pass, args->hidden_states, x);
    for (int32_t i = 0; i < N_NORMS; i++) {
        const int64_t heads = i == 0 ? self->sizes.heads : self->sizes.kv_heads, dim = self->sizes.head_dim;
        const struct graft_pass of_heads = {call, pass.rows * heads, error};
        if (self->norms[i] != NULL) {
            float *packed = graft_heads_copy(&pass, &x[i], heads, dim, NULL);
            x[i] = graft_heads_packed(graft_pass_normed(&of_heads, self->norms[i], packed, dim), heads, dim);
        }
    }
    const struct graft_projected projected = {.q = x[0], .k = x[1], .v = x[2]};
    graft_pass_linear(&pass, self->output, graft_heads_attend(&self->sizes, &pass, &own, &projected), args->output);
    return error->code;
}

const struct graft_vision_attention graft_vision_attention_vtable = {
    .struct_size = sizeof graft_vision_attention_vtable, .forward = forward};
