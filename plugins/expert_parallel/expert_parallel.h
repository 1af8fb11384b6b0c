/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this plugin share. */
#ifndef EXPERT_PARALLEL_H
#define EXPERT_PARALLEL_H

#include "graft/class.h"
#include "graft/config.h"
#include "graft/parallel.h"

/* A rank's part: the experts [begin, end), or that range of a width. */
struct run {
    int64_t begin;
    int64_t end;
};

/* [any] The processes. */
const struct graft_parallel *expert_parallel_ranks(void);

/* [any] Whether every expert is divided by its width (divide=width); otherwise each rank has some experts, whole. */
int expert_parallel_by_width(void);

/* [load] Whether config.json asks for the experts at `path` to be divided; for a shared expert, the experts next to it.
 */
int expert_parallel_divides(const struct graft_config *config, const char *path, int *divides,
                            struct graft_error *error);

/* [load] Until the next call: all experts at `path` are described, under their own numbers, and those of this rank are
 * `own`. NULL: the experts are sliced, or every rank has all of them. */
void expert_parallel_keep_whole(const char *path, const struct run *own);

/* [load] Which of `experts` experts belong to this rank. */
int expert_parallel_experts(int64_t experts, struct run *run, struct graft_error *error);

/* [load] Which range of an MLP's width belongs to this rank. */
int expert_parallel_width(int64_t width, const char *path, struct run *run, struct graft_error *error);

/* [load] Declares that the wrapped class gets only the range `run` of dimension `dim` of the tensor `name`. The
 * dimension has `parts` parts of equal size, and the range is taken of each. The tensors of a list ("*.up_proj.weight")
 * are first stacked along dimension 0. */
struct slice {
    const char *name;
    int64_t dim;
    int32_t parts;
    int32_t is_list;
};
int expert_parallel_slice(const struct graft_sink *sink, const struct slice *slice, const struct run *run,
                          struct graft_error *error);

/* [forward] Sums the partial results of the ranks' modules: at once or, within a block, when the block ends. */
int expert_parallel_sum(float *values, int64_t count, struct graft_error *error);

/* [forward] Between begin and end, `block` sums for its modules. `*outer` is to be passed to the end. */
struct block {
    int32_t n_parts; /* how many of its modules gave partial sums */
};
void expert_parallel_begin_block(struct block *block, struct block **outer);
void expert_parallel_end_block(struct block *outer);

/* The experts of a layer. The class that expert_parallel_part wraps sees only this rank's part of them, the one that
 * expert_parallel_whole wraps sees all. */
extern const struct graft_class expert_parallel_part;
extern const struct graft_class expert_parallel_whole;

/* Linears of experts all of which are described: those of another rank's experts are declared elsewhere. */
extern const struct graft_class expert_parallel_linear;

/* The block of experts, and the shared MLP next to them, which processes every token. */
extern const struct graft_class expert_parallel_block;
extern const struct graft_class expert_parallel_shared;

#endif
