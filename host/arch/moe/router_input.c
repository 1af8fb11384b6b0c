/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/moe/router_input.h"

#include <math.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "graft/describe.h"

int graft_router_input_describe(struct graft_reader *reader, int64_t hidden_size, const struct graft_sink *sink,
                                struct graft_error *error) {
    const char *norm = graft_description_name(reader->description, D_MOE_ROUTER_NORM);
    const char *scale = graft_description_name(reader->description, D_MOE_ROUTER_SCALE);
    const struct graft_arg args[] = {graft_int_arg("hidden_size", hidden_size),
                                     graft_real_arg("eps", graft_read_real(reader, D_NORM_EPS)),
                                     graft_int_arg("weight", 0)};
    if (norm == NULL && scale != NULL) {
        graft_reader_fail(reader, D_MOE_ROUTER_SCALE, "expected moe.router_norm beside it");
    }
    if (norm != NULL) {
        graft_describe_child(sink, norm, graft_description_name(reader->description, D_CLASS_NORM),
                             GRAFT_INTERFACE_NORM, args, 3, error);
    }
    if (scale != NULL) {
        graft_describe_vector(sink, scale, hidden_size, error);
    }
    return error->code;
}

void graft_router_input_find(struct graft_router_input *self, const struct graft_description *description,
                             int64_t hidden_size, const struct graft_build *build, struct graft_error *error) {
    const char *norm = graft_description_name(description, D_MOE_ROUTER_NORM);
    const char *scale = graft_description_name(description, D_MOE_ROUTER_SCALE);
    self->hidden_size = hidden_size;
    self->norm = norm != NULL ? graft_build_child(build, norm, error) : NULL;
    self->scale = scale != NULL ? graft_build_weight(build, scale, error) : NULL;
}

int graft_router_input_run(const struct graft_router_input *self, const struct graft_call *call, int64_t tokens,
                           const float **x, struct graft_error *error) {
    const int64_t width = self->hidden_size;
    const float factor = 1.0f / sqrtf((float)width);
    if (self->norm == NULL) {
        return GRAFT_OK;
    }
    float *seen = graft_scratch_floats(call, tokens, width, error);
    float *normed = graft_scratch_floats(call, tokens, width, error);
    const float *scale = self->scale != NULL ? graft_scratch_widened(call, self->scale, error) : NULL;
    const struct graft_norm_args args = {sizeof args, 0, tokens, seen, NULL, normed};
    if (seen == NULL || normed == NULL || (self->scale != NULL && scale == NULL)) {
        return GRAFT_ERROR_INTERNAL;
    }
    memcpy(seen, *x, (size_t)(tokens * width) * sizeof *seen);
    *x = normed;
    int status = graft_norm_forward(self->norm, call, &args, error);
    for (int64_t i = 0; i < tokens * width && status == GRAFT_OK; i++) {
        normed[i] *= factor * (scale != NULL ? scale[i % width] : 1.0f);
    }
    return status;
}
