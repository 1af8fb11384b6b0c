/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/sizes.h"

int graft_sizes_read(const struct graft_config *config, const struct graft_size_field *fields, size_t n,
                     struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = graft_config_int(config, fields[i].name, 1, fields[i].maximum, fields[i].value, error);
    }
    return status;
}
