/* SPDX-License-Identifier: Apache-2.0 */
/* What the units of this plugin share. */
#ifndef EXPERT_PARALLEL_H
#define EXPERT_PARALLEL_H

#include "graft/class.h"
#include "graft/config.h"
#include "graft/parallel.h"

/* A rank's part: the experts, or the rows of a width, from `begin` to before `end`. */
struct run {
    int64_t begin;
    int64_t end;
};

/* [any] The processes. */
const struct graft_parallel *expert_parallel_ranks(void);

/* [any] Whether every expert is divided by its width (divide=width); else each rank has some of the experts, whole. */
int expert_parallel_by_width(void);

/* [load] Whether config.json wants the experts at `path` divided; of a shared expert, the experts beside it. */
int expert_parallel_divides(const struct graft_config *config, const char *path, int *divides,
                            struct graft_error *error);

/* [load] Until the next call: the experts at `path` are all described, under their own numbers, and `own` are those of
 * this rank. NULL: the experts are sliced, or every rank has all of them. */
void expert_parallel_keep_whole(const char *path, const struct run *own);

/* [load] Which of `experts` experts this rank has. */
int expert_parallel_experts(int64_t experts, struct run *run, struct graft_error *error);

/* [load] Which part of an MLP's width this rank has. */
int expert_parallel_width(int64_t width, const char *path, struct run *run, struct graft_error *error);

/* [load] Declares that the wrapped class gets only the run `run` of dimension `dim` of the tensor `name`. The dimension
 * has `parts` parts of equal size, and the run is taken of each. The tensors of a list ("*.up_proj.weight") are stacked
 * along dimension 0 first. */
struct slice {
    const char *name;
    int64_t dim;
    int32_t parts;
    int32_t is_list;
};
int expert_parallel_slice(const struct graft_sink *sink, const struct slice *slice, const struct run *run,
                          struct graft_error *error);

/* [forward] Adds up what the ranks' modules computed, each a part of the sum: at once, or, within a block, when that
 * ends. */
int expert_parallel_sum(float *values, int64_t count, struct graft_error *error);

/* [forward] Between begin and end, `block` does the summing for its modules. `*outer` is what to give to the end. */
struct block {
    int32_t n_parts; /* how many of its modules gave a part of their sum */
};
void expert_parallel_begin_block(struct block *block, struct block **outer);
void expert_parallel_end_block(struct block *outer);

/* The experts of a layer. Around expert_parallel_part the wrapped class has this rank's part of them, around
 * expert_parallel_whole all. */
extern const struct graft_class expert_parallel_part;
extern const struct graft_class expert_parallel_whole;

/* Linears below experts of which all are described: those of another rank's experts are declared elsewhere. */
extern const struct graft_class expert_parallel_linear;

/* The block of experts, and the MLP beside them that every token goes through. */
extern const struct graft_class expert_parallel_block;
extern const struct graft_class expert_parallel_shared;

#endif
