/* SPDX-License-Identifier: Apache-2.0 */
/* A transform before a head's last Linear, or of a pooler: norm(act(dense(x))). */
#ifndef GRAFT_ARCH_DECODER_TRANSFORM_H
#define GRAFT_ARCH_DECODER_TRANSFORM_H

#include "arch/outline.h"
#include "arch/pass.h"

struct graft_transform {
    const struct graft_module *dense; /* in -> out; NULL: there is no transform */
    const struct graft_module *act;   /* NULL if `dense` is */
    const struct graft_module *norm;  /* NULL: none */
    int64_t out;
};

/* [load] Lays out the children by their names; without `dense` there are none. `act_kind` is the activation, as ACT2FN
 * calls it. */
void graft_transform_outline(struct graft_outline *of, struct graft_transform *self, const char *dense, const char *act,
                             const char *act_kind, const char *norm, int64_t in, int64_t out, int32_t bias);

/* [forward] The transform of x [rows, in]; x itself where there is none. */
float *graft_transform_run(const struct graft_transform *self, const struct graft_pass *pass, float *x);

#endif
