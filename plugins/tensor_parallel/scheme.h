/* SPDX-License-Identifier: Apache-2.0 */
/* How the projections of a model are divided: "GLOB=STYLE,GLOB=STYLE", or the object `base_model_tp_plan` of
 * config.json, with transformers' names. A `*` matches one component of a path, and a glob may match from any component
 * on. */
#ifndef TENSOR_PARALLEL_SCHEME_H
#define TENSOR_PARALLEL_SCHEME_H

#include <stddef.h>

#include "graft/config.h"
#include "graft/error.h"

enum style {
    STYLE_NONE,                  /* whole */
    STYLE_COLWISE,               /* a share of the outputs, which stay on the rank */
    STYLE_PACKED_COLWISE,        /* the same for each of the projections that the weight concatenates */
    STYLE_ROWWISE,               /* a share of the inputs; the outputs are summed over all ranks */
    STYLE_ROWWISE_SPLIT_INPUT,   /* the same, where each rank gets all inputs and selects its share */
    STYLE_COLWISE_GATHER_OUTPUT, /* a share of the outputs, which are gathered on all ranks */
    STYLE_UNKNOWN
};

struct scheme {
    const char *text;                  /* NULL: the config's plan is used */
    const struct graft_config *config; /* used if `text` is NULL */
};

#define SCHEME_FIELD "base_model_tp_plan"

/* [any] Checks that the scheme can be parsed; the error quotes the rule that cannot. */
int scheme_check(const struct scheme *scheme, struct graft_error *error);

/* [any] The style of the projection at `path`; STYLE_NONE: it is not divided. */
enum style scheme_style(const struct scheme *scheme, const char *path);

/* [any] Gets the name, relative to the module at `path`, of the projection that rule `i` divides there: returns 1, or 0
 * if the rule is for other modules, or -1 if there is no such rule. */
enum { SCHEME_NAME = 128 };
int scheme_below(const struct scheme *scheme, int i, const char *path, char name[SCHEME_NAME], enum style *style);

#endif
