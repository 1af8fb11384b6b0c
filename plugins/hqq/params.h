/* SPDX-License-Identifier: Apache-2.0 */
/* What config.json says of a module that HQQ quantized. */
#ifndef HQQ_PARAMS_H
#define HQQ_PARAMS_H

#include "graft/config.h"
#include "graft/error.h"

/* As the config has it, and the module's inputs. */
struct hqq_params {
    int64_t bits;       /* `nbits` */
    int64_t group_size; /* all inputs where it is null */
    int64_t columns;    /* set before it is read */
};

/* [load] Reads what the config says of all modules, or of that at `path`, and checks that it is a layout which is read
 * here. */
int hqq_read_params(const struct graft_config *config, const char *path, struct hqq_params *params,
                    struct graft_error *error);

#endif
