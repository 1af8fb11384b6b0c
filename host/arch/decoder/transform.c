/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/transform.h"

#include "arch/decoder/choices.h"

void graft_transform_outline(struct graft_outline *of, struct graft_transform *self, const char *dense, const char *act,
                             const char *act_kind, const char *norm, int64_t in, int64_t out, int32_t bias) {
    const double eps = graft_read_real(&of->reader, D_NORM_EPS);
    const int32_t norm_bias = graft_read_bool(&of->reader, D_NORM_BIAS);
    self->out = out;
    if (dense == NULL || of->error->code != GRAFT_OK) {
        return;
    }
    const char *act_class = of->sink->activation_class(of->sink->data, act_kind);
    if (act_class == NULL) {
        (void)graft_error_set(of->error, GRAFT_ERROR_MODEL, of->sink->path, "unknown activation \"%s\" before the head",
                              act_kind);
    }
    graft_outline_linear(of, &self->dense, dense, in, out, bias);
    graft_outline_child(of, &self->act, act, act_class, GRAFT_INTERFACE_ACTIVATION, NULL, 0);
    graft_outline_norm_biased(of, &self->norm, norm, graft_outline_name(of, D_CLASS_NORM), out, eps, norm_bias);
}

float *graft_transform_run(const struct graft_transform *self, const struct graft_pass *pass, float *x) {
    if (self->dense == NULL) {
        return x;
    }
    float *y = graft_pass_product(pass, self->dense, x, self->out);
    graft_pass_activate(pass, self->act, y, self->out);
    return graft_pass_normed(pass, self->norm, y, self->out);
}
