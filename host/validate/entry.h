/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_VALIDATE_ENTRY_H
#define GRAFT_VALIDATE_ENTRY_H

#include "graft/plugin.h"
#include "validate/validation.h"

/* Opens the file, which stays open, and calls its entry function with `host`. `*plugin` is not NULL on success, but not
 * validated. */
int graft_validation_enter(const struct graft_validation *validation, const struct graft_host *host,
                           const struct graft_plugin **plugin, struct graft_error *error);

#endif
