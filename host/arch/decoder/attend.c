/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/attend.h"

#include <string.h>

float *graft_heads_copy(const struct graft_pass *pass, const struct graft_heads *x, int64_t heads, int64_t head_dim,
                        float *copy) {
    float *y = copy != NULL ? copy : graft_pass_floats(pass, heads * head_dim);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * heads; i++) {
        memcpy(y + i * head_dim, graft_heads_at(x, heads, i), (size_t)head_dim * sizeof *y);
    }
    return y;
}

static void rotate(const struct graft_parts_attention_sizes *sizes, const struct graft_pass *pass,
                   const struct graft_self_attention_args *args, const struct graft_heads *x, int64_t heads) {
    const struct graft_rope_args rope_args = {sizeof rope_args, sizes->rope_layout, x->x,  x->stride,
                                              x->head_stride,   pass->rows,         heads, sizes->rotary_width,
                                              args->cos,        args->sin};
    if (graft_pass_ok(pass)) {
        (void)pass->call->kernels->rope(pass->call, &rope_args, pass->error);
    }
}

void graft_heads_rotate(const struct graft_parts_attention_sizes *sizes, const struct graft_pass *pass,
                        const struct graft_self_attention_args *args, const struct graft_projected *x, int has_keys) {
    /* Keys that follow queries in each row are rotated with them. */
    const int together = has_keys && x->k.stride == x->q.stride && x->k.head_stride == x->q.head_stride &&
                         graft_pass_ok(pass) && x->k.x == x->q.x + sizes->heads * x->q.head_stride;
    if (args->cos == NULL) {
        return;
    }
    rotate(sizes, pass, args, &x->q, together ? sizes->heads + sizes->kv_heads : sizes->heads);
    if (has_keys && !together) {
        rotate(sizes, pass, args, &x->k, sizes->kv_heads);
    }
}

struct graft_attention_args graft_heads_args(const struct graft_parts_attention_sizes *sizes,
                                             const struct graft_self_attention_args *args,
                                             const struct graft_projected *x) {
    return (struct graft_attention_args){
        .struct_size = sizeof(struct graft_attention_args),
        .layer = sizes->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = sizes->heads,
        .kv_heads = sizes->kv_heads,
        .head_dim = sizes->head_dim,
        .scaling = (float)sizes->scaling,
        .softcap = (float)sizes->softcap,
        .q = x->q.x,
        .q_stride = x->q.stride,
        .q_head_stride = x->q.head_stride,
        .k = x->k.x,
        .k_stride = x->k.stride,
        .k_head_stride = x->k.head_stride,
        .v = x->v.x,
        .v_stride = x->v.stride,
        .v_head_stride = x->v.head_stride,
    };
}

float *graft_heads_run(const struct graft_pass *pass, struct graft_attention_args *args) {
    args->output_stride = args->heads * (args->v_head_dim > 0 ? args->v_head_dim : args->head_dim);
    args->output = graft_pass_floats(pass, args->output_stride);
    if (graft_pass_ok(pass)) {
        (void)pass->call->kernels->attention(pass->call, args, pass->error);
    }
    return args->output;
}

float *graft_heads_attend(const struct graft_parts_attention_sizes *sizes, const struct graft_pass *pass,
                          const struct graft_self_attention_args *args, const struct graft_projected *x) {
    struct graft_attention_args attention_args = graft_heads_args(sizes, args, x);
    graft_heads_rotate(sizes, pass, args, x, 1);
    return graft_heads_run(pass, &attention_args);
}
