/* SPDX-License-Identifier: Apache-2.0 */
/* Classes made up for a case: the library's own, which are looked up, and replacements. */
#ifndef GRAFT_TEST_CONFORMANCE_CLASSES_H
#define GRAFT_TEST_CONFORMANCE_CLASSES_H

#include "registry/mapping.h"

/* A class of a case. All have one interface and do nothing. */
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

/* 0, or -1 when memory ran out. */
int world_init(struct world *world);
void world_finish(struct world *world);

/* Adds a class of the library, or with `plugin` one of somebody else's. Returns 0, or -1. */
int world_add(struct world *world, const char *name, const char *plugin);

/* The replacement of that name; "<none>" and the like give what the conformance cases' README says. */
const struct graft_class *world_replacement(struct world *world, const char *name);

/* What a class found under `name` is: "original:NAME", "patch:NAME"; `text` holds it. */
const char *world_role(const struct world *world, const struct graft_class *cls, char text[256]);

#endif
