/* SPDX-License-Identifier: Apache-2.0 */
/* Computes queries and latents. */
#include "arch/mla/mla.h"

/* Norms the latents of kept [tokens, rank + rope]. */
static void norm_latents(const struct graft_mla *self, const struct graft_pass *pass, float *kept) {
    const int64_t width = self->sizes.rank, stride = width + self->sizes.rope;
    float *latents = graft_pass_columns(pass, kept, stride, 0, width);
    const float *normed = graft_pass_normed(pass, self->kv_a_layernorm, latents, width);
    if (graft_pass_ok(pass)) {
        graft_mla_copy_rows(normed, width, pass->rows, width, kept, stride);
    }
}

/* Rotates some numbers of x, of `heads` heads that are `head_stride` apart. */
static void rotate(const struct graft_mla_sizes *sizes, const struct graft_pass *pass,
                   const struct graft_self_attention_args *args, float *x, int64_t heads, int64_t head_stride) {
    const struct graft_rope_args rope_args = {sizeof rope_args, sizes->rope_layout, x,     heads * head_stride,
                                              head_stride,      pass->rows,         heads, sizes->rotated,
                                              args->cos,        args->sin};
    if (args->cos != NULL && graft_pass_ok(pass)) {
        (void)pass->call->kernels->rope(pass->call, &rope_args, pass->error);
    }
}

struct graft_mla_projected graft_mla_project(const struct graft_mla *self, const struct graft_pass *pass,
                                             const struct graft_self_attention_args *args) {
    const struct graft_mla_sizes *sizes = &self->sizes;
    const int64_t width = sizes->nope + sizes->rope, kept = sizes->rank + sizes->rope;
    const struct graft_mla_projected projected = {graft_pass_floats(pass, sizes->heads * width),
                                                  graft_pass_floats(pass, kept)};
    float *first = self->q_proj != NULL ? projected.q : graft_pass_floats(pass, sizes->query_rank);
    const struct graft_module *linears[] = {self->q_proj != NULL ? self->q_proj : self->q_a_proj, self->kv_a_proj};
    float *const made[] = {first, projected.kept};
    graft_pass_linears(pass, linears, args->hidden_states, made, 2);
    if (self->q_proj == NULL) {
        first = graft_pass_normed(pass, self->q_a_layernorm, first, sizes->query_rank);
        graft_pass_linear(pass, self->q_b_proj, first, projected.q);
    }
    norm_latents(self, pass, projected.kept);
    if (graft_pass_ok(pass)) {
        rotate(sizes, pass, args, projected.q + sizes->nope, sizes->heads, width);
        rotate(sizes, pass, args, projected.kept + sizes->rank, 1, kept);
    }
    return projected;
}
