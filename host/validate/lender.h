/* SPDX-License-Identifier: Apache-2.0 */
/* Lends guarded copies (base/lend.h) of what the plugin gets while its classes are described and made, and allocates
 * the memory that it takes from the host in guarded regions, to find accesses out of bounds or after the end. */
#ifndef GRAFT_VALIDATE_LENDER_H
#define GRAFT_VALIDATE_LENDER_H

#include "graft/error.h"
#include "validate/region.h"
#include "validate/validation.h"

/* Starts lending, until this process ends. */
void graft_lender_begin(enum graft_region_side side);

/* Reports a fault if bytes around a block of host->alloc have changed. */
int graft_lender_check_blocks(const struct graft_validation *validation, struct graft_error *error);

/* Reports a fault if blocks of host->alloc have not been freed. */
int graft_lender_check_freed(const struct graft_validation *validation, struct graft_error *error);

#endif
