/* SPDX-License-Identifier: Apache-2.0 */
/* Both heads: a Linear, a function that is always the same one, and a Linear that gives the logits. */
#include "graft/describe.h"
#include "roberta.h"

struct head {
    struct graft_instance base;
    const struct graft_module *dense;      /* hidden_size -> hidden_size */
    const struct graft_module *layer_norm; /* NULL: none */
    const struct graft_module *output;     /* hidden_size -> out_features */
    int64_t hidden_size;
    int32_t activation; /* GRAFT_ACTIVATION_... */
};

/* Declares the Linears, and keeps hidden_size for `create`. */
static int describe_linears(const char *output, const struct graft_config *config, const struct graft_args *args,
                            const struct graft_sink *sink, int64_t **hidden_size, struct graft_error *error) {
    *hidden_size = sink->keep(sink->data, sizeof **hidden_size, error);
    int status = *hidden_size != NULL
                     ? graft_config_need_int(config, "hidden_size", 1, GRAFT_PARTS_MAX_SIZE, *hidden_size, error)
                     : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "dense", **hidden_size, **hidden_size, 1, error);
    }
    return status == GRAFT_OK
               ? graft_describe_linear(sink, output, **hidden_size, graft_args_int(args, "out_features", 0), 1, error)
               : status;
}

static int create(const struct graft_build *build, const char *output, int32_t activation, void **instance,
                  struct graft_error *error) {
    const int64_t *hidden_size = build->kept;
    struct head *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = *hidden_size;
    self->activation = activation;
    self->dense = graft_build_child(build, "dense", error);
    self->layer_norm = build->child(build->data, "layer_norm");
    self->output = graft_build_child(build, output, error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_head_args *args,
                   struct graft_error *error) {
    const struct head *self = instance;
    float *hidden = graft_scratch_floats(call, args->tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    float *normed = graft_scratch_floats(call, args->tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_linear_args dense_args = {sizeof dense_args, 0, args->tokens, args->hidden_states, hidden};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, args->tokens, hidden, NULL, normed};
    const struct graft_linear_args output_args = {sizeof output_args, 0, args->tokens,
                                                  self->layer_norm != NULL ? normed : hidden, args->logits};
    if (hidden == NULL || normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->dense, call, &dense_args, error);
    if (status == GRAFT_OK) {
        status =
            call->kernels->activation(call, self->activation, hidden, args->tokens * self->hidden_size, hidden, error);
    }
    if (status == GRAFT_OK && self->layer_norm != NULL) {
        status = graft_norm_forward(self->layer_norm, call, &norm_args, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->output, call, &output_args, error) : status;
}

/* --- RobertaLMHead --- */

int roberta_lm_head_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t out_features = graft_args_int(args, "out_features", 0);
    int64_t *hidden_size;
    double eps = 1e-12;
    (void)self;
    int status = describe_linears("decoder", config, args, sink, &hidden_size, error);
    if (status == GRAFT_OK) {
        status = graft_config_real(config, "layer_norm_eps", 0.0, &eps, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_layer_norm(sink, "layer_norm", *hidden_size, eps, error);
    }
    /* Where checkpoints keep the decoder's bias, which is tied to it. */
    return status == GRAFT_OK ? graft_describe_parameter(sink, "bias", 1, &out_features, 0, GRAFT_INIT_NONE, error)
                              : status;
}

int roberta_lm_head_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    (void)cls;
    return create(build, "decoder", GRAFT_ACTIVATION_GELU, instance, error);
}

const struct graft_head roberta_lm_head_vtable = {
    .struct_size = sizeof roberta_lm_head_vtable,
    .forward = forward,
};

/* --- RobertaClassificationHead --- */

int roberta_classification_head_describe(const struct graft_class *self, const struct graft_config *config,
                                         const struct graft_args *args, const struct graft_sink *sink,
                                         struct graft_error *error) {
    int64_t *hidden_size;
    (void)self;
    return describe_linears("out_proj", config, args, sink, &hidden_size, error);
}

int roberta_classification_head_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                       struct graft_error *error) {
    (void)cls;
    return create(build, "out_proj", GRAFT_ACTIVATION_TANH, instance, error);
}

const struct graft_head roberta_classification_head_vtable = {
    .struct_size = sizeof roberta_classification_head_vtable,
    .forward = forward,
};
