/* SPDX-License-Identifier: Apache-2.0 */
/* The input of a decoder's first layer: embeddings of tokens and of what is added to them, normalised and projected. */
#ifndef GRAFT_ARCH_DECODER_INPUTS_H
#define GRAFT_ARCH_DECODER_INPUTS_H

#include "arch/data/description.h"
#include "graft/base_model.h"
#include "graft/class.h"

/* What `describe` keeps for `create`. */
struct graft_inputs_kept {
    int64_t hidden_size;
    int64_t width;          /* width of embeddings: hidden_size, unless a Linear projects them */
    int64_t position_width; /* width of what is added */
    int64_t position_offset;
    int64_t position_skipped; /* a token that takes no position; -1: none */
    double sines;             /* computed positions: base of their frequencies (choices.c); 0: none */
    double scale;             /* 1: none */
    int32_t has_norm;         /* 1: there is a norm, of the embeddings or of their sum with positions */
    int32_t norms_sum;        /* 1: the norm is applied to the sum */
    int32_t projects;         /* 1: a Linear projects from width to hidden_size */
    int32_t project_sum;      /* 1: the Linear is applied to the normalised sum, not to the embeddings */
    int32_t has_positions;    /* 1: there are learned positions */
    int32_t has_types;
    int32_t has_tasks;
};

struct graft_inputs {
    struct graft_inputs_kept kept;
    const struct graft_module *embeddings;
    const struct graft_module *project_in; /* width -> hidden_size; may be NULL, like all below */
    const struct graft_module *norm;
    const struct graft_module *positions; /* learned ones */
    const struct graft_module *types;     /* embeddings of segments; tokens without a type use row 0 */
    const struct graft_module *tasks;     /* embeddings of tasks; all tokens use row 0 */
};

/* [load] The maximum number of tokens of a sequence; 0: unlimited. Errors are the reader's. */
int64_t graft_inputs_max_positions(struct graft_reader *reader);

/* [load] The number of token types; 0: the model is a decoder, whose tokens have no types. Errors are the reader's. */
int64_t graft_inputs_token_types(struct graft_reader *reader);

/* [load] Declares the children. */
int graft_inputs_describe(struct graft_reader *reader, const struct graft_sink *sink, struct graft_inputs_kept *kept,
                          struct graft_error *error);

/* [load] Finds the children. */
void graft_inputs_create(struct graft_inputs *self, const struct graft_description *description,
                         const struct graft_inputs_kept *kept, const struct graft_build *build,
                         struct graft_error *error);

/* [forward] Computes *hidden_states [tokens, hidden_size], in scratch memory. */
int graft_inputs_forward(const struct graft_inputs *self, const struct graft_call *call,
                         const struct graft_base_model_args *args, float **hidden_states, struct graft_error *error);

/* [forward] Replaces *x [tokens, from] by its product with `linear` [to, from], in scratch memory; does nothing if
 * `linear` is NULL. */
int graft_inputs_project(const struct graft_module *linear, const struct graft_call *call, int64_t tokens, int64_t to,
                         float **x, struct graft_error *error);

/* [forward] Replaces *x [tokens, width] by a normalised copy, in scratch memory; does nothing if `module` is NULL. */
int graft_inputs_norm(const struct graft_module *module, const struct graft_call *call, int64_t tokens, int64_t width,
                      float **x, struct graft_error *error);

#endif
