/* SPDX-License-Identifier: Apache-2.0 */
/* Makes classes from a tower's description, as decoder/roles.h does for decoders. */
#ifndef GRAFT_ARCH_VISION_ROLES_H
#define GRAFT_ARCH_VISION_ROLES_H

#include "arch/data/description.h"
#include "graft/class.h"

/* [load] Names the classes of a description: with the prefix "Qwen3VL", Qwen3VLVisionBlock. */
int graft_vision_name_classes(struct graft_description *description, const char *prefix, struct graft_error *error);

/* [any] The number of classes. */
int32_t graft_vision_n_classes(void);

/* [load] Makes class `i`, whose `data` is the description. Names live as long as the description. */
void graft_vision_class(const struct graft_description *description, int32_t i, struct graft_class *cls);

/* [any] The description that a class was made from; NULL for any other class. */
const struct graft_description *graft_vision_description(const struct graft_class *cls);

#endif
