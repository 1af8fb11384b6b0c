/* SPDX-License-Identifier: Apache-2.0 */
/* Computes queries, keys, values, gates and decays with the projections that a family has. */
#include <string.h>

#include "arch/mixers/delta_net.h"
#include "graft/linear.h"

/* Separates one token's q, k, v and z, which are stored by heads of keys, into contiguous arrays. */
static void ungroup(const struct graft_delta_net *self, const float *qkvz, float *qkv, float *z) {
    const int64_t dim = self->key_dim;
    const int64_t shared = graft_delta_values(self) / self->key_heads; /* width of the values that share a key */
    for (int64_t h = 0; h < self->key_heads; h++, qkvz += 2 * (dim + shared)) {
        const float *v = qkvz + 2 * dim;
        memcpy(qkv + h * dim, qkvz, (size_t)dim * sizeof *qkv);
        memcpy(qkv + graft_delta_keys(self) + h * dim, qkvz + dim, (size_t)dim * sizeof *qkv);
        memcpy(qkv + 2 * graft_delta_keys(self) + h * shared, v, (size_t)shared * sizeof *qkv);
        memcpy(z + h * shared, v + shared, (size_t)shared * sizeof *z);
    }
}

/* Separates one token's b and a, which are stored by heads of keys, into contiguous arrays. */
static void ungroup_heads(const struct graft_delta_net *self, const float *ba, float *b, float *a) {
    const int64_t shared = self->value_heads / self->key_heads;
    for (int64_t h = 0; h < self->key_heads; h++, ba += 2 * shared) {
        memcpy(b + h * shared, ba, (size_t)shared * sizeof *b);
        memcpy(a + h * shared, ba + shared, (size_t)shared * sizeof *a);
    }
}

static void project_grouped(const struct graft_delta_net *self, const struct graft_pass *pass, const float *x,
                            const struct graft_delta_run *run) {
    const int64_t conv_dim = graft_delta_conv_dim(self), values = graft_delta_values(self), heads = self->value_heads;
    const struct graft_module *modules[] = {self->qkvz, self->ba};
    /* [tokens, key_heads, {q, k} [key_dim], {v, z} [value_heads / key_heads, value_dim]], and
     * [tokens, key_heads, {b, a} [value_heads / key_heads]] */
    float *const made[] = {graft_pass_floats(pass, conv_dim + values), graft_pass_floats(pass, 2 * heads)};
    graft_pass_linears(pass, modules, x, made, 2);
    for (int64_t t = 0; graft_pass_ok(pass) && t < pass->rows; t++) {
        ungroup(self, made[0] + t * (conv_dim + values), run->unmixed + t * conv_dim, run->z + t * values);
        ungroup_heads(self, made[1] + t * 2 * heads, run->b + t * heads, run->a + t * heads);
    }
}

/* Runs a projection for each input, some after a narrow one, or with q, k and v joined. */
static void project_each(const struct graft_delta_net *self, const struct graft_pass *pass, const float *x,
                         const struct graft_delta_run *run) {
    const int64_t conv_dim = graft_delta_conv_dim(self), keys = graft_delta_keys(self);
    const int64_t widths[] = {keys, keys, graft_delta_values(self)};
    const int is_narrow = self->narrow_z != NULL;
    float *narrow_z = is_narrow ? graft_pass_floats(pass, self->gate_rank) : run->z;
    float *narrow_a = is_narrow ? graft_pass_floats(pass, self->gate_rank) : run->a;
    const struct graft_module *const modules[] = {self->q,
                                                  self->k,
                                                  self->v,
                                                  self->qkv,
                                                  self->b,
                                                  is_narrow ? self->narrow_z : self->z,
                                                  is_narrow ? self->narrow_a : self->a};
    float *made[] = {NULL, NULL, NULL, run->unmixed, run->b, narrow_z, narrow_a};
    for (int i = 0; i < 3 && self->qkv == NULL; i++) {
        made[i] = graft_pass_floats(pass, widths[i]);
    }
    graft_pass_linears(pass, modules, x, made, 7);
    for (int64_t t = 0; self->qkv == NULL && graft_pass_ok(pass) && t < pass->rows; t++) {
        float *row = run->unmixed + t * conv_dim;
        for (int i = 0; i < 3; row += widths[i++]) {
            memcpy(row, made[i] + t * widths[i], (size_t)widths[i] * sizeof *row);
        }
    }
    const struct graft_module *const wide[] = {self->z, self->a};
    const struct graft_linear_args wide_args[] = {{sizeof wide_args[0], 0, pass->rows, narrow_z, run->z},
                                                  {sizeof wide_args[0], 0, pass->rows, narrow_a, run->a}};
    if (is_narrow && graft_pass_ok(pass)) {
        (void)graft_linear_forward_all(wide, pass->call, wide_args, 2, pass->error);
    }
}

struct graft_delta_run graft_delta_project(const struct graft_delta_net *self, const struct graft_pass *pass,
                                           const float *x) {
    const struct graft_delta_run run = {
        .unmixed = graft_pass_floats(pass, graft_delta_conv_dim(self)),
        .z = graft_pass_floats(pass, graft_delta_values(self)),
        .b = graft_pass_floats(pass, self->value_heads),
        .a = graft_pass_floats(pass, self->value_heads * self->decays),
    };
    if (self->qkvz != NULL) {
        project_grouped(self, pass, x, &run);
    } else {
        project_each(self, pass, x, &run);
    }
    return run;
}
