/* SPDX-License-Identifier: Apache-2.0 */
/* What stands before a decoder or classifier: norm(act(dense(x))). */
#include "graft/describe.h"
#include "modernbert.h"

struct head {
    struct graft_instance base;
    const struct graft_module *dense; /* hidden_size -> hidden_size */
    const struct graft_module *act;
    const struct graft_module *norm;
    int64_t hidden_size;
};

int modernbert_head_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct modernbert_config *kept = sink->keep(sink->data, sizeof *kept, error);
    (void)self;
    (void)args;
    int status = kept != NULL ? modernbert_read(config, kept, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "dense", kept->sizes.hidden_size, kept->sizes.hidden_size,
                                       kept->classifier_bias, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_activation(sink, "act", config, NULL, "classifier_activation", error);
    }
    return status == GRAFT_OK ? modernbert_describe_norm(kept, "norm", sink, error) : status;
}

int modernbert_head_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct modernbert_config *kept = build->kept;
    (void)cls;
    struct head *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = kept->sizes.hidden_size;
    self->dense = graft_build_child(build, "dense", error);
    self->act = graft_build_child(build, "act", error);
    self->norm = graft_build_child(build, "norm", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_transform_args *args,
                   struct graft_error *error) {
    const struct head *self = instance;
    float *hidden = graft_scratch_floats(call, args->tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_linear_args dense_args = {sizeof dense_args, 0, args->tokens, args->hidden_states, hidden};
    const struct graft_activation_args act_args = {sizeof act_args, 0, args->tokens * self->hidden_size, hidden,
                                                   hidden};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, args->tokens, hidden, NULL, args->output};
    if (hidden == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->dense, call, &dense_args, error);
    if (status == GRAFT_OK) {
        status = graft_activation_forward(self->act, call, &act_args, error);
    }
    return status == GRAFT_OK ? graft_norm_forward(self->norm, call, &norm_args, error) : status;
}

const struct graft_transform modernbert_head_vtable = {
    .struct_size = sizeof modernbert_head_vtable,
    .forward = forward,
};
