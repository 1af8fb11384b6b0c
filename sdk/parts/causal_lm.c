/* SPDX-License-Identifier: Apache-2.0 */
/* A model with its head, which only sees the tokens whose logits are wanted. */
#include <stdio.h>

#include "graft/activation.h"
#include "graft/describe.h"
#include "graft/parts.h"

enum { MAX_NAME = 264 };

struct kept {
    const char *model;
    const char *head;
    const char *transform; /* NULL: none; so are the next two */
    const char *transform_act;
    const char *transform_norm;
    struct graft_parts_causal_lm_sizes sizes;
};

struct causal_lm {
    struct graft_instance base;
    const struct graft_module *model;
    const struct graft_module *transform; /* model_size -> hidden_size, then act and norm; NULL: none of them */
    const struct graft_module *act;
    const struct graft_module *norm;
    const struct graft_module *lm_head; /* hidden_size -> vocab_size */
    int64_t model_size;                 /* hidden_size without a transform */
    int64_t hidden_size;
    int64_t vocab_size;
    float logit_scale; /* 1: none */
    float softcap;     /* of logits; 0: none */
};

static int describe_transform(const struct graft_parts_causal_lm *part, const struct graft_parts_causal_lm_sizes *sizes,
                              const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg norm_args[] = {graft_int_arg("hidden_size", sizes->hidden_size),
                                          graft_real_arg("eps", sizes->transform_eps), graft_int_arg("bias", 0)};
    if (part->transform == NULL) {
        return GRAFT_OK;
    }
    const char *act_class = sink->activation_class(sink->data, sizes->act);
    if (act_class == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, sink->path, "unknown activation \"%s\" before the head",
                               sizes->act);
    }
    int status = graft_describe_linear(sink, part->transform, sizes->transform_size, sizes->hidden_size,
                                       sizes->transform_bias, error);
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, part->transform_act, act_class, GRAFT_INTERFACE_ACTIVATION, NULL, 0, error);
    }
    return status == GRAFT_OK
               ? graft_describe_child(sink, part->transform_norm, part->transform_norm_class, GRAFT_INTERFACE_NORM,
                                      norm_args, sizes->transform_norm_bias ? 2 : 3, error)
               : status;
}

int graft_parts_causal_lm_declare(const struct graft_parts_causal_lm *part,
                                  const struct graft_parts_causal_lm_sizes *sizes, const struct graft_sink *sink,
                                  struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error); /* for `create` */
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const char *head = part->head != NULL ? part->head : "lm_head";
    char tied[MAX_NAME];
    (void)snprintf(tied, sizeof tied, "%s.weight", head);
    *kept = (struct kept){part->model, head, part->transform, part->transform_act, part->transform_norm, *sizes};
    graft_describe_number(sink, "vocab_size", sizes->vocab_size, error);
    graft_describe_number(sink, "hidden_size", part->transform != NULL ? sizes->transform_size : sizes->hidden_size,
                          error);
    if (part->learned_positions) {
        graft_describe_number(sink, "max_positions", sizes->max_position_embeddings, error);
    }
    if (sizes->bidirectional) {
        graft_describe_number(sink, "bidirectional", 1, error);
    }
    graft_describe_child(sink, part->model, part->model_class, GRAFT_INTERFACE_BASE_MODEL, NULL, 0, error);
    describe_transform(part, sizes, sink, error);
    graft_describe_linear(sink, head, sizes->hidden_size, sizes->vocab_size, sizes->bias, error);
    if (sizes->tie_word_embeddings) {
        sink->tie(sink->data, tied, part->tied_weight, error);
    }
    return error->code;
}

int graft_parts_causal_lm_describe(const struct graft_class *self, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    struct graft_parts_sizes read;
    int32_t is_causal = 1;
    int status = graft_parts_read_sizes(config, &read, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "is_causal", &is_causal, error);
    }
    const struct graft_parts_causal_lm_sizes sizes = {
        .vocab_size = read.vocab_size,
        .hidden_size = read.hidden_size,
        .max_position_embeddings = read.max_position_embeddings,
        .logit_scale = graft_args_real(args, "logit_scale", 0.0),
        .softcap = graft_args_real(args, "softcap", 0.0),
        .tie_word_embeddings = read.tie_word_embeddings,
        .bidirectional = !is_causal,
    };
    return status == GRAFT_OK ? graft_parts_causal_lm_declare(self->data, &sizes, sink, error) : status;
}

int graft_parts_causal_lm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                 struct graft_error *error) {
    const struct kept *kept = build->kept;
    (void)cls;
    struct causal_lm *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = kept->sizes.hidden_size;
    self->model_size = kept->transform != NULL ? kept->sizes.transform_size : kept->sizes.hidden_size;
    self->vocab_size = kept->sizes.vocab_size;
    self->logit_scale = kept->sizes.logit_scale != 0.0 ? (float)kept->sizes.logit_scale : 1.0f;
    self->softcap = (float)kept->sizes.softcap;
    self->model = graft_build_child(build, kept->model, error);
    self->lm_head = graft_build_child(build, kept->head, error);
    if (kept->transform != NULL) {
        self->transform = graft_build_child(build, kept->transform, error);
        self->act = graft_build_child(build, kept->transform_act, error);
        self->norm = graft_build_child(build, kept->transform_norm, error);
    }
    return graft_instance_finish(self, instance, error);
}

/* logits *= logit_scale */
static void scale(const struct causal_lm *self, const struct graft_causal_lm_args *args) {
    for (int64_t i = 0; i < args->n_rows * self->vocab_size; i++) {
        args->logits[i] *= self->logit_scale;
    }
}

/* *x [rows, model_size] becomes [rows, hidden_size], in scratch memory; nothing happens without a transform. */
static int transform(const struct causal_lm *self, const struct graft_call *call, int64_t rows, float **x,
                     struct graft_error *error) {
    if (self->transform == NULL) {
        return GRAFT_OK;
    }
    float *dense = graft_scratch_floats(call, rows, self->hidden_size, error);
    float *normed = graft_scratch_floats(call, rows, self->hidden_size, error);
    const struct graft_linear_args dense_args = {sizeof dense_args, 0, rows, *x, dense};
    const struct graft_activation_args act_args = {sizeof act_args, 0, rows * self->hidden_size, dense, dense};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, rows, dense, NULL, normed};
    if (dense == NULL || normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *x = normed;
    int status = graft_linear_forward(self->transform, call, &dense_args, error);
    if (status == GRAFT_OK) {
        status = graft_activation_forward(self->act, call, &act_args, error);
    }
    return status == GRAFT_OK ? graft_norm_forward(self->norm, call, &norm_args, error) : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_causal_lm_args *args,
                   struct graft_error *error) {
    const struct causal_lm *self = instance;
    float *hidden = graft_scratch_floats(call, args->batch->tokens, self->model_size, error); /* [tokens, model] */
    float *wanted = graft_scratch_floats(call, args->n_rows, self->model_size, error);        /* [n_rows, model] */
    const struct graft_base_model_args model_args = {
        .struct_size = sizeof model_args,
        .batch = args->batch,
        .input_ids = args->input_ids,
        .last_hidden_state = hidden,
        .images = args->images,
        .n_images = args->n_images,
        .image_stride = args->image_stride,
    };
    struct graft_gathered_call space;
    const struct graft_call *head_call = graft_call_gather(call, args->rows, args->n_rows, &space, error);
    if (head_call == NULL || hidden == NULL || wanted == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_base_model_forward(self->model, call, &model_args, error);
    if (status != GRAFT_OK || args->n_rows == 0) {
        return status;
    }
    status = call->kernels->gather_rows(call, hidden, args->rows, args->n_rows, self->model_size, wanted, error);
    if (status == GRAFT_OK) {
        status = transform(self, head_call, args->n_rows, &wanted, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_linear_args head_args = {sizeof head_args, 0, args->n_rows, wanted, args->logits};
        status = graft_linear_forward(self->lm_head, head_call, &head_args, error);
    }
    if (status == GRAFT_OK && self->logit_scale != 1.0f) {
        scale(self, args);
    }
    return status == GRAFT_OK && self->softcap > 0.0f
               ? graft_softcap(call, self->softcap, args->logits, args->n_rows * self->vocab_size, error)
               : status;
}

const struct graft_causal_lm graft_parts_causal_lm_vtable = {
    .struct_size = sizeof graft_parts_causal_lm_vtable,
    .forward = forward,
};
