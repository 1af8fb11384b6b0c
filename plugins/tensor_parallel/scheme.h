/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the projections of a model are divided: "GLOB=STYLE,GLOB=STYLE", with the names of transformers'
 * base_model_tp_plan. A `*` stands for one part of a path, and paths may have more parts in front of a glob.
 */
#ifndef TENSOR_PARALLEL_SCHEME_H
#define TENSOR_PARALLEL_SCHEME_H

#include <stddef.h>

#include "graft/error.h"

enum style {
    STYLE_NONE,
    STYLE_COLWISE,              /* a share of the outputs, which stay apart */
    STYLE_ROWWISE,              /* a share of the inputs; the outputs are summed over all ranks */
    STYLE_COLWISE_GATHER_OUTPUT /* a share of the outputs; all ranks get all of them */
};

struct scheme {
    const char *text;
};

/* [any] Whether the text can be read; the error quotes it. */
int scheme_check(const struct scheme *scheme, struct graft_error *error);

/* [any] The style of a projection at `path`; STYLE_NONE: it is whole. */
enum style scheme_style(const struct scheme *scheme, const char *path);

/* [any] The name, below the module at `path`, of the projection that rule number `i` divides there: 1, and 0 for a rule
 * of other modules. -1 where there is no such rule. */
enum { SCHEME_NAME = 128 };
int scheme_below(const struct scheme *scheme, int i, const char *path, char name[SCHEME_NAME], enum style *style);

#endif
