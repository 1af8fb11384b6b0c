/* SPDX-License-Identifier: Apache-2.0 */
/* The transform before a head's last Linear: a Linear, an activation, and in some families a norm. */
#include "graft/activation.h"
#include "graft/describe.h"
#include "graft/parts.h"

int graft_parts_transform_declare(const struct graft_parts_transform_info *info, const struct graft_sink *sink,
                                  struct graft_error *error) {
    const struct graft_arg norm_args[] = {graft_int_arg("hidden_size", info->out_features),
                                          graft_real_arg("eps", info->eps), graft_int_arg("bias", 0)};
    const char *act_class = info->dense != NULL ? sink->activation_class(sink->data, info->act_name) : NULL;
    if (info->dense == NULL) {
        return GRAFT_OK;
    }
    if (act_class == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, sink->path, "unknown activation \"%s\" before the head",
                               info->act_name);
    }
    graft_describe_linear(sink, info->dense, info->in_features, info->out_features, info->bias, error);
    graft_describe_child(sink, info->act, act_class, GRAFT_INTERFACE_ACTIVATION, NULL, 0, error);
    if (info->norm != NULL) {
        graft_describe_child(sink, info->norm, info->norm_class, GRAFT_INTERFACE_NORM, norm_args,
                             info->norm_bias ? 2 : 3, error);
    }
    return error->code;
}

void graft_parts_transform_find(struct graft_parts_transform *self, const struct graft_parts_transform_info *info,
                                const struct graft_build *build, struct graft_error *error) {
    *self = (struct graft_parts_transform){.out_features = info->out_features};
    if (info->dense != NULL) {
        self->dense = graft_build_child(build, info->dense, error);
        self->act = graft_build_child(build, info->act, error);
    }
    if (info->dense != NULL && info->norm != NULL) {
        self->norm = graft_build_child(build, info->norm, error);
    }
}

int graft_parts_transform_apply(const struct graft_parts_transform *self, const struct graft_call *call, int64_t rows,
                                float **x, struct graft_error *error) {
    if (self->dense == NULL) {
        return GRAFT_OK;
    }
    float *dense = graft_scratch_floats(call, rows, self->out_features, error);
    float *normed = self->norm != NULL ? graft_scratch_floats(call, rows, self->out_features, error) : dense;
    const struct graft_linear_args dense_args = {sizeof dense_args, 0, rows, *x, dense};
    const struct graft_activation_args act_args = {sizeof act_args, 0, rows * self->out_features, dense, dense};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, rows, dense, NULL, normed};
    if (dense == NULL || normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *x = normed;
    int status = graft_linear_forward(self->dense, call, &dense_args, error);
    if (status == GRAFT_OK) {
        status = graft_activation_forward(self->act, call, &act_args, error);
    }
    return status == GRAFT_OK && self->norm != NULL ? graft_norm_forward(self->norm, call, &norm_args, error) : status;
}
