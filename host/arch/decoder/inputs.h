/* SPDX-License-Identifier: Apache-2.0 */
/* What a decoder's first layer sees: embeddings of tokens, with what is added to them, normed and projected. */
#ifndef GRAFT_ARCH_DECODER_INPUTS_H
#define GRAFT_ARCH_DECODER_INPUTS_H

#include "arch/data/description.h"
#include "graft/base_model.h"
#include "graft/class.h"

/* What `describe` found out. */
struct graft_inputs_kept {
    int64_t hidden_size;
    int64_t width;          /* of embeddings: hidden_size, unless a Linear leads from one to the other */
    int64_t position_width; /* of what is added */
    int64_t position_offset;
    int64_t position_skipped; /* a token that is not counted; -1: none */
    double sines;             /* of computed positions (choices.c); 0: none */
    double scale;             /* 1: none */
    int32_t has_norm;         /* 1: there is a norm, of embeddings or of their sum with positions */
    int32_t norms_sum;        /* 1: the norm is of the sum */
    int32_t projects;         /* 1: a Linear leads from width to hidden_size */
    int32_t project_sum;      /* 1: the Linear takes the normed sum, not the embeddings */
    int32_t has_positions;    /* 1: learned ones */
    int32_t has_types;
    int32_t has_tasks;
};

struct graft_inputs {
    struct graft_inputs_kept kept;
    const struct graft_module *embeddings;
    const struct graft_module *project_in; /* width -> hidden_size; this and each below NULL: none */
    const struct graft_module *norm;
    const struct graft_module *positions; /* learned ones */
    const struct graft_module *types;     /* of segments; tokens that are given no type get row 0 */
    const struct graft_module *tasks;     /* of tasks; all tokens get row 0 */
};

/* [load] How many tokens a sequence may have; 0: any number. Errors are the reader's. */
int64_t graft_inputs_max_positions(struct graft_reader *reader);

/* [load] How many types of tokens there are, from id 0 on; 0: the model is a decoder, whose tokens have no types.
 * Errors are the reader's. */
int64_t graft_inputs_token_types(struct graft_reader *reader);

/* [load] Declares the children. */
int graft_inputs_describe(struct graft_reader *reader, const struct graft_sink *sink, struct graft_inputs_kept *kept,
                          struct graft_error *error);

/* [load] Finds the children. */
void graft_inputs_create(struct graft_inputs *self, const struct graft_description *description,
                         const struct graft_inputs_kept *kept, const struct graft_build *build,
                         struct graft_error *error);

/* [forward] *hidden_states = [tokens, hidden_size], in scratch memory. */
int graft_inputs_forward(const struct graft_inputs *self, const struct graft_call *call,
                         const struct graft_base_model_args *args, float **hidden_states, struct graft_error *error);

/* [forward] *x [tokens, from] becomes its product with `linear` [to, from], in scratch memory; nothing happens without
 * one. */
int graft_inputs_project(const struct graft_module *linear, const struct graft_call *call, int64_t tokens, int64_t to,
                         float **x, struct graft_error *error);

/* [forward] *x [tokens, width] becomes its normed copy, in scratch memory; nothing happens without a norm. */
int graft_inputs_norm(const struct graft_module *module, const struct graft_call *call, int64_t tokens, int64_t width,
                      float **x, struct graft_error *error);

#endif
