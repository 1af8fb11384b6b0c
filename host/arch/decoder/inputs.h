/* SPDX-License-Identifier: Apache-2.0 */
/* The input of a decoder's first layer: embeddings of tokens and of what is added to them, normalised and projected. */
#ifndef GRAFT_ARCH_DECODER_INPUTS_H
#define GRAFT_ARCH_DECODER_INPUTS_H

#include "arch/outline.h"
#include "arch/pass.h"
#include "graft/base_model.h"

struct graft_inputs {
    int64_t hidden_size;
    int64_t width;          /* width of embeddings: hidden_size, unless a Linear projects them */
    int64_t position_width; /* width of what is added */
    int64_t position_offset;
    int64_t position_skipped; /* a token that takes no position; -1: none */
    double sines;             /* computed positions: base of their frequencies (choice_list.h); 0: none */
    float scale;              /* 1: none */
    int32_t norms_sum;        /* 1: the norm is applied to the sum of embeddings and positions, not to embeddings */
    int32_t project_sum;      /* 1: the Linear is applied to the normalised sum, not to the embeddings */
    const struct graft_module *embeddings;
    const struct graft_module *project_in; /* width -> hidden_size; may be NULL, like all below */
    const struct graft_module *norm;
    const struct graft_module *positions; /* learned ones */
    const struct graft_module *types;     /* embeddings of segments; tokens without a type use row 0 */
    const struct graft_module *tasks;     /* embeddings of tasks; all tokens use row 0 */
};

/* [load] The maximum number of tokens of a sequence; 0: unlimited. Errors are the reader's. */
int64_t graft_inputs_max_positions(struct graft_reader *reader);

/* [load] The width of last_hidden_state, which heads and the pooler read: hidden_size, or that of the embeddings if the
 * model projects back to it (embedding.project_out). */
int64_t graft_inputs_output_size(struct graft_reader *reader);

/* [load] The number of token types; 0: the model is a decoder, whose tokens have no types. Errors are the reader's. */
int64_t graft_inputs_token_types(struct graft_reader *reader);

/* [load] Declares the attributes that every root has to declare (graft/family.h). `token_types` 0: none. */
void graft_inputs_outline_numbers(struct graft_outline *of, int64_t token_types);

/* [load] Lays out the children. */
void graft_inputs_outline(struct graft_outline *of, struct graft_inputs *self);

/* [forward] hidden_states [tokens, hidden_size], in scratch memory. */
float *graft_inputs_forward(const struct graft_inputs *self, const struct graft_pass *pass,
                            const struct graft_base_model_args *args);

#endif
