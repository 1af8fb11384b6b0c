/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions of classes as a list of transforms: what a class name or model type stands for if no list is
 * registered for it. */
#ifndef GRAFT_LIBRARY_CLASS_CONVERSIONS_H
#define GRAFT_LIBRARY_CLASS_CONVERSIONS_H

#include "graft/host/registry.h"
#include "registry/registry.h"

struct class_conversions {
    struct graft_weight_transform *items;
    size_t n;
    size_t capacity;
    char **strings; /* strings and arrays that the items point to, except for the classes' own strings */
    size_t n_strings;
    size_t strings_capacity;
};

/* [any] Collects the conversions of the class `name`, or of the classes of the model type `name`; none for any other
 * name. The caller frees them with graft_class_conversions_finish, even on failure. */
int graft_class_conversions_collect(const struct graft_snapshot *snapshot, const char *name,
                                    struct class_conversions *made, struct graft_error *error);
void graft_class_conversions_finish(struct class_conversions *made);

#endif
