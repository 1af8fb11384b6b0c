/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what config.json says about a module that HQQ quantized. */
#ifndef HQQ_PARAMS_H
#define HQQ_PARAMS_H

#include "graft/config.h"
#include "graft/error.h"

/* The fields of the config, and the module's number of inputs. */
struct hqq_params {
    int64_t bits;       /* `nbits` */
    int64_t group_size; /* all inputs if the field is null */
    int64_t columns;    /* set by the caller */
};

/* [load] Reads the fields that hold for all modules, or for that at `path`, and checks that the layout is supported. */
int hqq_read_params(const struct graft_config *config, const char *path, struct hqq_params *params,
                    struct graft_error *error);

#endif
