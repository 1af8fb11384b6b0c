/* SPDX-License-Identifier: Apache-2.0 */
/* The model with its head, which only sees the tokens whose logits are wanted. */
#include "graft/causal_lm.h"

#include <stdlib.h>

#include "graft/base_model.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "mamba2.h"

struct causal_lm {
    const struct graft_module *backbone;
    const struct graft_module *lm_head;
    int64_t hidden_size;
};

int mamba2_causal_lm_describe(const struct graft_class *cls, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct mamba2_sizes *sizes;
    (void)cls;
    (void)args;
    int status = mamba2_sizes_keep(config, sink, &sizes, error);
    if (status == GRAFT_OK) {
        status = graft_describe_number(sink, "vocab_size", sizes->vocab_size, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_number(sink, "hidden_size", sizes->hidden_size, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "backbone", "Mamba2Model", GRAFT_INTERFACE_BASE_MODEL, NULL, 0, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "lm_head", sizes->hidden_size, sizes->vocab_size, 0, error);
    }
    return status == GRAFT_OK && sizes->tie_word_embeddings
               ? sink->tie(sink->data, "lm_head.weight", "backbone.embeddings.weight", error)
               : status;
}

int mamba2_causal_lm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    const struct mamba2_sizes *sizes = build->kept;
    struct causal_lm *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->hidden_size = sizes->hidden_size;
    self->backbone = graft_build_child(build, "backbone", &status, error);
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
    float *hidden_states = graft_scratch_floats(call, args->batch->tokens, self->hidden_size, error);
    float *wanted = graft_scratch_floats(call, args->n_rows, self->hidden_size, error); /* [n_rows, hidden_size] */
    const struct graft_base_model_args model_args = {.struct_size = sizeof model_args,
                                                     .batch = args->batch,
                                                     .input_ids = args->input_ids,
                                                     .last_hidden_state = hidden_states};
    const struct graft_linear_args head_args = {sizeof head_args, 0, args->n_rows, wanted, args->logits};
    if (hidden_states == NULL || wanted == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_base_model_forward(self->backbone, call, &model_args, error);
    if (status != GRAFT_OK || args->n_rows == 0) {
        return status;
    }
    status =
        call->kernels->gather_rows(call, hidden_states, args->rows, args->n_rows, self->hidden_size, wanted, error);
    return status == GRAFT_OK ? graft_linear_forward(self->lm_head, call, &head_args, error) : status;
}

const struct graft_causal_lm mamba2_causal_lm_vtable = {.struct_size = sizeof mamba2_causal_lm_vtable,
                                                        .forward = forward};
