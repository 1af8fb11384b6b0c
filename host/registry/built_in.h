/* SPDX-License-Identifier: Apache-2.0 */
/* The families that the library holds as files, with what those have in C (arch/arch.h). A file is read when its model
 * type or one of its classes is first asked for; whatever was read stays as long as the families do. All functions are
 * [any], and calls at the same time are safe. */
#ifndef GRAFT_REGISTRY_BUILT_IN_H
#define GRAFT_REGISTRY_BUILT_IN_H

#include "registry/families.h"

struct graft_built_in;

/* Reads nothing yet. The caller frees it, after all registries and snapshots that have it. */
int graft_built_in_create(struct graft_built_in **built_in, struct graft_error *error);

/* NULL is allowed. */
void graft_built_in_free(struct graft_built_in *built_in);

/* The family of a model type, or the class of a name; `*known` is NULL where there is none. Errors are those of
 * reading: what was read before stays, and another call tries again. */
int graft_built_in_find_family(struct graft_built_in *built_in, const char *model_type,
                               const struct graft_known_family **known, struct graft_error *error);
int graft_built_in_find_class(struct graft_built_in *built_in, const char *name, const struct graft_known_class **known,
                              struct graft_error *error);

/* Whether a class is one of theirs that was found before. */
int graft_built_in_has(struct graft_built_in *built_in, const struct graft_class *cls);

/* Reads all files. */
int graft_built_in_read_all(struct graft_built_in *built_in, struct graft_error *error);

/* Once all are read: number `*i` in the order of the files, or NULL with `*i` less by how many there are. */
const struct graft_known_family *graft_built_in_family_at(const struct graft_built_in *built_in, size_t *i);
const struct graft_known_class *graft_built_in_class_at(const struct graft_built_in *built_in, size_t *i);

/* Reads all files; `*families`, NULL-terminated, are theirs. `built_in` is a struct graft_built_in. */
int graft_built_in_families(void *built_in, const struct graft_family *const **families, struct graft_error *error);

#endif
