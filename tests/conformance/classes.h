/* SPDX-License-Identifier: Apache-2.0 */
/* Classes invented for a case: the library's own, which are looked up, and replacements. */
#ifndef GRAFT_TEST_CONFORMANCE_CLASSES_H
#define GRAFT_TEST_CONFORMANCE_CLASSES_H

#include "registry/mapping.h"

/* A class of a case. All have the same interface and do nothing. */
struct made {
    struct graft_class cls;
    char *name;
    struct made *next;
};

struct world {
    struct graft_registry *registry;
    struct made *originals;
    struct made *replacements;
};

/* Returns 0, or -1 if memory ran out. */
int world_init(struct world *world);
void world_finish(struct world *world);

/* Adds a class of the library or, if `plugin` is not NULL, one of that plugin. Returns 0, or -1 if memory ran out. */
int world_add(struct world *world, const char *name, const char *plugin);

/* The replacement with that name. "<none>" and similar names are explained in the README of the conformance cases. */
const struct graft_class *world_replacement(struct world *world, const char *name);

/* Describes the class that `name` resolves to: "original:NAME" or "patch:NAME", stored in `text`. */
const char *world_role(const struct world *world, const struct graft_class *cls, char text[256]);

#endif
