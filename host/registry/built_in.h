/* SPDX-License-Identifier: Apache-2.0 */
/* The families built into the library as files, with their classes in C (arch/arch.h). A file is read when its model
 * type or one of its classes is first asked for, and stays in memory as long as the families do. All functions are
 * [any] and thread-safe. */
#ifndef GRAFT_REGISTRY_BUILT_IN_H
#define GRAFT_REGISTRY_BUILT_IN_H

#include "plugin/family_file.h"
#include "registry/families.h"

struct graft_built_in;

/* Creates the families without reading a file, or holds those that another library of the process has created: they are
 * the same for all, and files that were read stay read. The caller releases them after all registries and snapshots
 * that use them. */
int graft_built_in_hold(struct graft_built_in **built_in, struct graft_error *error);

/* Frees the families if nobody else holds them. Accepts NULL. */
void graft_built_in_release(struct graft_built_in *built_in);

/* Finds the family of a model type, or the class of a name; `*known` is NULL if there is none. Errors are those of
 * reading a file: files read before stay, and the next call tries again. */
int graft_built_in_find_family(struct graft_built_in *built_in, const char *model_type,
                               const struct graft_known_family **known, struct graft_error *error);
int graft_built_in_find_class(struct graft_built_in *built_in, const char *name, const struct graft_known_class **known,
                              struct graft_error *error);

/* Whether a class belongs to a built-in family and was found before. */
int graft_built_in_has(struct graft_built_in *built_in, const struct graft_class *cls);

/* Reads all files. */
int graft_built_in_read_all(struct graft_built_in *built_in, struct graft_error *error);

/* After graft_built_in_read_all: family or class number `*i`, in the order of the files; or NULL, with their number
 * subtracted from `*i`. */
const struct graft_known_family *graft_built_in_family_at(const struct graft_built_in *built_in, size_t *i);
const struct graft_known_class *graft_built_in_class_at(const struct graft_built_in *built_in, size_t *i);

/* Finds the families for family files (plugin/family_file.h). */
struct graft_family_finder graft_built_in_finder(struct graft_built_in *built_in);

#endif
