/* SPDX-License-Identifier: Apache-2.0 */
/* What the units of this plugin share. */
#ifndef EXPERT_PARALLEL_H
#define EXPERT_PARALLEL_H

#include "graft/class.h"
#include "graft/config.h"
#include "graft/parallel.h"

/* Experts, or rows of a width: [begin, end). */
struct run {
    int64_t begin;
    int64_t end;
};

/* [any] The processes. */
const struct graft_parallel *expert_parallel_ranks(void);

/* [any] Whether each expert is divided by its width, and not their number. */
int expert_parallel_by_width(void);

/* [load] Whether the config has the experts at `path` divided, or those that a shared one is beside. */
int expert_parallel_divides(const struct graft_config *config, const char *path, int *divides,
                            struct graft_error *error);

/* [load] From here to the next experts: those at `path`, a list perhaps, are described with the numbers that they have,
 * and these are the own ones. NULL: they are not, or all of them are in every process. */
void expert_parallel_keep_whole(const char *path, const struct run *own);

/* [load] The experts of this rank. */
int expert_parallel_experts(int64_t experts, struct run *run, struct graft_error *error);

/* [load] Of an MLP's width the part of this rank. */
int expert_parallel_width(int64_t width, const char *path, struct run *run, struct graft_error *error);

/* [load] Says that the class inside takes the run, of dimension `dim`, of a tensor. `parts`: how many parts of the same
 * size the dimension has, each with a run. Of a list ("*.up_proj.weight"), stacked along dimension 0 first. */
struct slice {
    const char *name;
    int64_t dim;
    int32_t parts;
    int32_t is_list;
};
int expert_parallel_slice(const struct graft_sink *sink, const struct slice *slice, const struct run *run,
                          struct graft_error *error);

/* [forward] What a module gives is a part of the sum over all ranks: it is added up here, or once at the end of the
 * block that is running. */
int expert_parallel_sum(float *values, int64_t count, struct graft_error *error);

/* [forward] From here to the end the block sums. `*outer` is for the end. */
struct block {
    int32_t n_parts; /* how many of its modules gave a part of their sum */
};
void expert_parallel_begin_block(struct block *block, struct block **outer);
void expert_parallel_end_block(struct block *outer);

/* Experts; with `data` the class inside has a part of them. */
extern const struct graft_class expert_parallel_part;
extern const struct graft_class expert_parallel_whole;

/* Linears below experts that are kept whole: elsewhere, if they are of another rank's. */
extern const struct graft_class expert_parallel_linear;

/* The block of experts, and the MLP beside them that every token goes through. */
extern const struct graft_class expert_parallel_block;
extern const struct graft_class expert_parallel_shared;

#endif
