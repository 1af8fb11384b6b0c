/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_ROPE_SERVICE_H
#define GRAFT_ROPE_SERVICE_H

#include "graft/rope.h"

/* [any] The functions of graft.rope/1. */
const struct graft_rope_service *graft_rope_service_get(void);

#endif
