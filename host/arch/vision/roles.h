/* SPDX-License-Identifier: Apache-2.0 */
/* The classes that a tower's description makes. As decoder/roles.h. */
#ifndef GRAFT_ARCH_VISION_ROLES_H
#define GRAFT_ARCH_VISION_ROLES_H

#include "arch/data/description.h"
#include "graft/class.h"

/* [load] Names the classes of a description after `prefix`: of "Qwen3VL", Qwen3VLVisionBlock. */
int graft_vision_name_classes(struct graft_description *description, const char *prefix, struct graft_error *error);

/* [any] How many classes there are. */
int32_t graft_vision_n_classes(void);

/* [load] Class number `i` of the description, which is its `data`. Names live as long as the description. */
void graft_vision_class(const struct graft_description *description, int32_t i, struct graft_class *cls);

/* [any] The description behind a class that was made by one; NULL of any other. */
const struct graft_description *graft_vision_description(const struct graft_class *cls);

#endif
