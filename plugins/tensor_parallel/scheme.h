/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the projections of a model are divided: "GLOB=STYLE,GLOB=STYLE", or the object `base_model_tp_plan` of
 * config.json, with transformers' names. A `*` stands for one part of a path, and paths may have more parts in front of
 * a glob.
 */
#ifndef TENSOR_PARALLEL_SCHEME_H
#define TENSOR_PARALLEL_SCHEME_H

#include <stddef.h>

#include "graft/config.h"
#include "graft/error.h"

enum style {
    STYLE_NONE,                  /* whole */
    STYLE_COLWISE,               /* a share of the outputs, which stay apart */
    STYLE_PACKED_COLWISE,        /* the same of each of the projections that the weight has one behind the other */
    STYLE_ROWWISE,               /* a share of the inputs; the outputs are summed over all ranks */
    STYLE_ROWWISE_SPLIT_INPUT,   /* the same where each rank has all inputs, and takes its share */
    STYLE_COLWISE_GATHER_OUTPUT, /* a share of the outputs; all ranks get all of them */
    STYLE_UNKNOWN
};

struct scheme {
    const char *text;                  /* NULL: the config's */
    const struct graft_config *config; /* read where there is no text */
};

#define SCHEME_FIELD "base_model_tp_plan"

/* [any] Whether it can be read; the error quotes the rule that cannot. */
int scheme_check(const struct scheme *scheme, struct graft_error *error);

/* [any] The style of a projection at `path`; STYLE_NONE: it is whole. */
enum style scheme_style(const struct scheme *scheme, const char *path);

/* [any] The name, below the module at `path`, of the projection that rule number `i` divides there: 1, and 0 for a rule
 * of other modules. -1 where there is no such rule. */
enum { SCHEME_NAME = 128 };
int scheme_below(const struct scheme *scheme, int i, const char *path, char name[SCHEME_NAME], enum style *style);

#endif
