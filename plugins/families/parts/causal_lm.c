/* SPDX-License-Identifier: Apache-2.0 */
/* A model with its head, which only sees the tokens whose logits are wanted. */
#include <stdlib.h>

#include "graft/describe.h"
#include "parts.h"

struct causal_lm {
    const struct graft_module *model;
    const struct graft_module *lm_head; /* hidden_size -> vocab_size */
    int64_t hidden_size;
};

int parts_causal_lm_declare(const struct parts_causal_lm *names, int64_t vocab_size, int64_t hidden_size, int32_t tied,
                            const struct graft_sink *sink, struct graft_error *error) {
    int64_t *kept = sink->keep(sink->data, sizeof *kept, error); /* for `create` */
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *kept = hidden_size;
    int status = graft_describe_number(sink, "vocab_size", vocab_size, error);
    if (status == GRAFT_OK) {
        status = graft_describe_number(sink, "hidden_size", hidden_size, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_describe_child(sink, names->model, names->model_class, GRAFT_INTERFACE_BASE_MODEL, NULL, 0, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "lm_head", hidden_size, vocab_size, 0, error);
    }
    return status == GRAFT_OK && tied ? sink->tie(sink->data, "lm_head.weight", names->tied_weight, error) : status;
}

int parts_causal_lm_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct parts_causal_lm *names = self->data;
    struct parts_sizes sizes = {0};
    int32_t tied = 0;
    (void)args;
    int status = parts_read_sizes(config, &sizes, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "tie_word_embeddings", &tied, error);
    }
    if (status == GRAFT_OK) {
        status = parts_causal_lm_declare(names, sizes.vocab_size, sizes.hidden_size, tied, sink, error);
    }
    return status == GRAFT_OK && names->learned_positions
               ? graft_describe_number(sink, "max_positions", sizes.max_position_embeddings, error)
               : status;
}

int parts_causal_lm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct parts_causal_lm *names = cls->data;
    const int64_t *hidden_size = build->kept;
    struct causal_lm *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->hidden_size = *hidden_size;
    self->model = graft_build_child(build, names->model, &status, error);
    self->lm_head = graft_build_child(build, "lm_head", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_causal_lm_args *args,
                   struct graft_error *error) {
    const struct causal_lm *self = instance;
    float *hidden = graft_scratch_floats(call, args->batch->tokens, self->hidden_size, error); /* [tokens, hidden] */
    float *wanted = graft_scratch_floats(call, args->n_rows, self->hidden_size, error);        /* [n_rows, hidden] */
    const struct graft_base_model_args model_args = {
        .struct_size = sizeof model_args,
        .batch = args->batch,
        .input_ids = args->input_ids,
        .last_hidden_state = hidden,
    };
    const struct graft_linear_args head_args = {sizeof head_args, 0, args->n_rows, wanted, args->logits};
    if (hidden == NULL || wanted == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_base_model_forward(self->model, call, &model_args, error);
    if (status != GRAFT_OK || args->n_rows == 0) {
        return status;
    }
    status = call->kernels->gather_rows(call, hidden, args->rows, args->n_rows, self->hidden_size, wanted, error);
    return status == GRAFT_OK ? graft_linear_forward(self->lm_head, call, &head_args, error) : status;
}

const struct graft_causal_lm parts_causal_lm_vtable = {
    .struct_size = sizeof parts_causal_lm_vtable,
    .forward = forward,
};
