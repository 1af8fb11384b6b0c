/* SPDX-License-Identifier: Apache-2.0 */
/* Several sizes of a config at once. */
#ifndef GRAFT_ARCH_SIZES_H
#define GRAFT_ARCH_SIZES_H

#include <stddef.h>

#include "graft/config.h"

struct graft_size_field {
    const char *name; /* "hidden_size" */
    int64_t *value;   /* the default, which stays where the field is absent */
    int64_t maximum;
};

/* [load] Reads `n` fields, each from 1 to its maximum. Errors name file and field. */
int graft_sizes_read(const struct graft_config *config, const struct graft_size_field *fields, size_t n,
                     struct graft_error *error);

#endif
