/* SPDX-License-Identifier: Apache-2.0 */
/* Lends what the plugin is given while its classes are described and made (base/lend.h), and gives it the memory that
 * it takes of the host: in regions that show who goes beyond them, and who keeps them too long. */
#ifndef GRAFT_VALIDATE_LENDER_H
#define GRAFT_VALIDATE_LENDER_H

#include "graft/error.h"
#include "validate/region.h"
#include "validate/validation.h"

/* From now on, until this process ends. */
void graft_lender_begin(enum graft_region_side side);

/* A fault if bytes around a block of host->alloc have changed. */
int graft_lender_check_blocks(const struct graft_validation *validation, struct graft_error *error);

/* A fault if blocks that were taken of host->alloc have not been freed. */
int graft_lender_check_freed(const struct graft_validation *validation, struct graft_error *error);

#endif
