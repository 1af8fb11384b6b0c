/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions that classes own, written as a list of transforms: what a name stands for without a list. */
#ifndef GRAFT_LIBRARY_CLASS_CONVERSIONS_H
#define GRAFT_LIBRARY_CLASS_CONVERSIONS_H

#include "graft/host/registry.h"
#include "registry/registry.h"

struct class_conversions {
    struct graft_weight_transform *items;
    size_t n;
    size_t capacity;
    char **strings; /* what the items point to but classes' own strings, and the arrays of such */
    size_t n_strings;
    size_t strings_capacity;
};

/* [any] Those of the class of that name, or of the classes of that model type as the mapping has them; none for another
 * name. The caller gives them to graft_class_conversions_finish, also after an error. */
int graft_class_conversions_collect(const struct graft_snapshot *snapshot, const char *name,
                                    struct class_conversions *made, struct graft_error *error);
void graft_class_conversions_finish(struct class_conversions *made);

#endif
