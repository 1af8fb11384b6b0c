/* SPDX-License-Identifier: Apache-2.0 */
/* The families that the library holds: family files, and what is in C (arch/arch.h). */
#ifndef GRAFT_PLUGIN_BUILT_IN_H
#define GRAFT_PLUGIN_BUILT_IN_H

#include "graft/error.h"
#include "graft/family.h"

struct graft_built_in; /* const once it is made */

/* [any] Reads them all. */
int graft_built_in_create(struct graft_built_in **built_in, struct graft_error *error);

/* [any] NULL is allowed. */
void graft_built_in_free(struct graft_built_in *built_in);

/* [any] NULL-terminated; as long as `built_in`. */
const struct graft_family *const *graft_built_in_families(const struct graft_built_in *built_in);

#endif
