/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/moe/router_input.h"

#include <math.h>

#include "arch/decoder/choices.h"
#include "graft/describe.h"

void graft_router_input_outline(struct graft_outline *of, struct graft_router_input *self, int64_t hidden_size) {
    const char *norm = graft_outline_name(of, D_MOE_ROUTER_NORM);
    const char *scale = graft_outline_name(of, D_MOE_ROUTER_SCALE);
    const struct graft_arg args[] = {graft_int_arg("hidden_size", hidden_size),
                                     graft_real_arg("eps", graft_read_real(&of->reader, D_NORM_EPS)),
                                     graft_int_arg("weight", 0)};
    if (norm == NULL && scale != NULL) {
        graft_reader_fail(&of->reader, D_MOE_ROUTER_SCALE, "expected moe.router_norm beside it");
    }
    graft_outline_child(of, &self->norm, norm, graft_outline_name(of, D_CLASS_NORM), GRAFT_INTERFACE_NORM, args, 3);
    graft_outline_vector(of, &self->scale, scale, hidden_size);
}

const float *graft_router_input_run(const struct graft_router_input *self, const struct graft_pass *pass,
                                    int64_t hidden_size, const float *x) {
    const float factor = 1.0f / sqrtf((float)hidden_size);
    if (self->norm == NULL) {
        return x;
    }
    float *seen = graft_pass_columns(pass, x, hidden_size, 0, hidden_size);
    float *normed = graft_pass_normed(pass, self->norm, seen, hidden_size);
    const float *scale = graft_pass_widen(pass, self->scale);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * hidden_size; i++) {
        normed[i] *= factor * (scale != NULL ? scale[i % hidden_size] : 1.0f);
    }
    return normed;
}
