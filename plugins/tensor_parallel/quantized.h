/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantized projections, by what quantization_config says: which tensors one has beside those of a plain Linear, and
 * how outputs and inputs lie in them. Words and scales hold for several outputs or inputs, so a rank has to have all of
 * these.
 */
#ifndef TENSOR_PARALLEL_QUANTIZED_H
#define TENSOR_PARALLEL_QUANTIZED_H

#include "graft/config.h"

/* How outputs, or inputs, lie in a tensor. */
enum spread {
    SPREAD_NOT,   /* it is the same for all of them */
    SPREAD_EACH,  /* along a dimension */
    SPREAD_GROUPS /* along a dimension, an index for each group */
};

struct along {
    enum spread spread;
    int dim;
};

struct quantized_tensor {
    const char *name; /* "qweight" */
    struct along outputs;
    struct along inputs;
};

struct quantized {
    const struct quantized_tensor *tensors; /* [n] */
    int n;                                  /* 0: nothing is quantized */
    int64_t output_group;                   /* outputs that share a scale; INT64_MAX: all */
    int64_t input_group;                    /* inputs, likewise */
    int64_t output_word;                    /* outputs that share a word */
    int64_t input_word;                     /* likewise */
};

/* [load] What the model's config says. A method, or a form of one, that cannot be divided is an error. */
int quantized_read(const struct graft_config *config, struct quantized *quantized, struct graft_error *error);

/* [load] Whether each of `ranks` processes has whole groups and words of so many outputs, or inputs; an error with the
 * numbers otherwise. */
int quantized_check_outputs(const struct quantized *quantized, int64_t outputs, int32_t ranks, const char *path,
                            struct graft_error *error);
int quantized_check_inputs(const struct quantized *quantized, int64_t inputs, int32_t ranks, const char *path,
                           struct graft_error *error);

/* [any] The dimension of a tensor that is divided with so many outputs, or inputs, whose groups have `group`; -1: none.
 */
int quantized_dim(const struct along *along, int64_t count, int64_t group);

#endif
