/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the members of a family file that are lists, for family_file.c. Names belong to the document, lists are kept in
 * `blocks`. Errors name file and field. */
#ifndef GRAFT_PLUGIN_FAMILY_MEMBERS_H
#define GRAFT_PLUGIN_FAMILY_MEMBERS_H

#include "arch/data/description.h"
#include "names/transform_read.h"
#include "plugin/check.h"
#include "plugin/family_file.h"

struct graft_family_file {
    graft_json *document;
    struct graft_field root; /* of the document, while it is read */
    char *id;
    struct transforms_read blocks;         /* the memory to which the family points */
    const struct graft_family *like;       /* NULL: none */
    struct graft_description *description; /* NULL: none */
    struct graft_description *vision;      /* description of the vision tower; NULL: none */
    const struct graft_family *tower;      /* the family whose tower `vision` was copied from; NULL: none */
    struct graft_class *generated;         /* [n_generated]: the classes that the descriptions make */
    int32_t n_generated;
    struct graft_family family;
    struct graft_plugin plugin;
};

/* Reads "classes": derived classes, with conversions of their own or of their base, and conversions for generated
 * classes. The generated classes come first in the list. */
int graft_family_read_classes(struct graft_family_file *file, const char *path,
                              const struct graft_family_finder *finder, struct graft_error *error);

/* Reads "architectures"; by default those of the description or, without a description, those of the family that this
 * one is like. */
int graft_family_read_architectures(struct graft_family_file *file, const char *path, struct graft_error *error);

/* Reads "stand_ins", followed by those of the family that this one is like. */
int graft_family_read_stand_ins(struct graft_family_file *file, const char *path, struct graft_error *error);

/* Reads "aliases" and "defaults", followed by those of the family that this one is like. */
int graft_family_read_fields(struct graft_family_file *file, const char *path, struct graft_error *error);

/* Reads "ignored_tensors", followed by those of the family that this one is like. */
int graft_family_read_ignored(struct graft_family_file *file, const char *path, struct graft_error *error);

/* Reads "without_effect", "neutral" and "only", followed by the rules of the family that this one is like. */
int graft_family_read_rules(struct graft_family_file *file, const char *path, struct graft_error *error);

/* Gets an optional member that is an object of at most 4096 members; `*n` becomes their number. */
int graft_family_member(const struct graft_family_file *file, const char *key, struct graft_field *object, size_t *n,
                        struct graft_error *error);

/* Allocates `n` zeroed elements of `size` bytes in `blocks`; NULL with an error set if memory ran out. */
void *graft_family_room(struct graft_family_file *file, const char *path, size_t n, size_t size,
                        struct graft_error *error);

/* Copies an element of a list of the family "like" into zeroed memory: as much of it as that family's `stride` and
 * this host's `size` have in common. */
void graft_family_copy(void *to, size_t size, const void *from, size_t stride);

#endif
