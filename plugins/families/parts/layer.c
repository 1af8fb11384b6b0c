/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "graft/attention.h"
#include "graft/describe.h"
#include "parts.h"

struct layer {
    const struct graft_module *attention_norm;
    const struct graft_module *attention;
    const struct graft_module *mlp_norm;
    const struct graft_module *mlp;
    int64_t hidden_size;
    int32_t parallel;
};

int parts_layer_describe(const struct graft_class *self, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct parts_layer *names = self->data;
    const char *const children[][3] = {{names->attention_norm, "LayerNorm", GRAFT_INTERFACE_NORM},
                                       {names->attention, names->attention_class, GRAFT_INTERFACE_SELF_ATTENTION},
                                       {names->mlp_norm, "LayerNorm", GRAFT_INTERFACE_NORM},
                                       {names->mlp, names->mlp_class, GRAFT_INTERFACE_MLP}};
    int32_t *parallel = sink->keep(sink->data, sizeof *parallel, error);
    int status = parallel != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && names->parallel) {
        *parallel = 1;
        status = graft_config_bool(config, "use_parallel_residual", parallel, error);
    }
    for (size_t i = 0; i < sizeof children / sizeof children[0] && status == GRAFT_OK; i++) {
        status = graft_describe_given(sink, children[i][0], children[i][1], children[i][2], args, error);
    }
    return status;
}

int parts_layer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                       struct graft_error *error) {
    const struct parts_layer *names = cls->data;
    const int32_t *parallel = build->kept;
    struct layer *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->parallel = *parallel;
    self->attention_norm = graft_build_child(build, names->attention_norm, &status, error);
    self->attention = graft_build_child(build, names->attention, &status, error);
    self->mlp_norm = graft_build_child(build, names->mlp_norm, &status, error);
    self->mlp = graft_build_child(build, names->mlp, &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* What both ways begin with: attended [tokens, hidden_size] = attention(norm(hidden_states)). */
static int attend(const struct layer *self, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                  float *normed, float *attended, struct graft_error *error) {
    const struct graft_norm_args norm_args = {sizeof norm_args,    0,    args->batch->tokens,
                                              args->hidden_states, NULL, normed};
    const struct graft_self_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .batch = args->batch,
        .hidden_states = normed,
        .cos = args->cos,
        .sin = args->sin,
        .mask = args->mask,
        .output = attended,
    };
    int status = graft_norm_forward(self->attention_norm, call, &norm_args, error);
    return status == GRAFT_OK ? graft_self_attention_forward(self->attention, call, &attention_args, error) : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                   struct graft_error *error) {
    const struct layer *self = instance;
    int64_t tokens = args->batch->tokens;
    int64_t count = tokens * self->hidden_size;
    float *normed = graft_scratch_floats(call, tokens, self->hidden_size, error);   /* [tokens, hidden_size] */
    float *attended = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    float *output = graft_scratch_floats(call, tokens, self->hidden_size, error);   /* [tokens, hidden_size] */
    if (normed == NULL || attended == NULL || output == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    /* The second norm adds a residual to hidden_states before it norms them: with both at once there is none yet. */
    const struct graft_norm_args norm_args = {
        sizeof norm_args, 0, tokens, args->hidden_states, self->parallel ? NULL : attended, normed};
    const struct graft_mlp_args mlp_args = {sizeof mlp_args, 0, tokens, normed, output};
    int status = attend(self, call, args, normed, attended, error);
    if (status == GRAFT_OK) {
        status = graft_norm_forward(self->mlp_norm, call, &norm_args, error);
    }
    if (status == GRAFT_OK) {
        status = graft_mlp_forward(self->mlp, call, &mlp_args, error);
    }
    if (status == GRAFT_OK && self->parallel) {
        status = call->kernels->add(call, args->hidden_states, attended, count, error);
    }
    return status == GRAFT_OK ? call->kernels->add(call, args->hidden_states, output, count, error) : status;
}

const struct graft_decoder_layer parts_layer_vtable = {
    .struct_size = sizeof parts_layer_vtable,
    .forward = forward,
};
