/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the member "vision" of a family file: a vision tower described by data (arch/vision). */
#include "arch/vision/choices.h"
#include "arch/vision/roles.h"
#include "plugin/family_choices.h"
#include "plugin/family_decoder.h"

/* The description of a family's vision tower; NULL if it has none. */
static const struct graft_description *description_of(const struct graft_family *family) {
    for (int32_t i = 0; family != NULL && i < family->n_classes; i++) {
        const struct graft_description *description = graft_vision_description(graft_family_class(family, i));
        if (description != NULL) {
            return description;
        }
    }
    return NULL;
}

/* Finds the family whose tower this one's is like: the one that the member "like" of "vision" names, or else the one
 * that the whole file is like. */
static int find_tower(struct graft_family_file *file, const char *like, const struct graft_family_finder *finder,
                      struct graft_error *error) {
    file->tower = file->like;
    if (like == NULL) {
        return GRAFT_OK;
    }
    int status = graft_family_find_like(file->root.file, "vision.like", like, finder, &file->tower, error);
    return status != GRAFT_OK || description_of(file->tower) != NULL
               ? status
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, file->root.file, "vision.like: %s has no tower", like);
}

/* Sets file->vision to a copy of the tower of file->tower, with class names that begin with `prefix`, or to a new
 * description. */
static int start(struct graft_family_file *file, const char *prefix, struct graft_error *error) {
    const struct graft_description *like = description_of(file->tower);
    file->vision =
        like != NULL ? graft_description_copy(like, error) : graft_description_create(&graft_vision_choices, error);
    return file->vision != NULL ? graft_vision_name_classes(file->vision, prefix, error) : GRAFT_ERROR_INTERNAL;
}

int graft_family_read_vision(struct graft_family_file *file, const char *path, const struct graft_family_finder *finder,
                             struct graft_error *error) {
    static const char *const others[] = {"like", "prefix", "defaults", NULL};
    struct fields {
        const char *prefix, *like;
        const graft_json *defaults;
    } fields = {0};
    static const struct graft_member members[] = {
        {"prefix", .offset = offsetof(struct fields, prefix), .is_optional = 1},
        {"like", .offset = offsetof(struct fields, like), .is_optional = 1},
        {"defaults", GRAFT_MEMBER_OBJECT, .offset = offsetof(struct fields, defaults), .is_optional = 1},
        {0},
    };
    const struct graft_place place = {.file = path, .index = -1};
    const struct graft_field vision = graft_field_get(&file->root, "vision");
    if (vision.value == NULL) {
        return GRAFT_OK;
    }
    int status = graft_field_read_some(&vision, members, &fields, error);
    const char *prefix = fields.prefix;
    if (status == GRAFT_OK && prefix == NULL) {
        status = graft_field_optional_string(&file->root, "prefix", &prefix, NULL, error);
    }
    if (status == GRAFT_OK && prefix == NULL) {
        status = graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                 "prefix: missing; the names of a tower's classes begin with it");
    }
    if (status == GRAFT_OK) {
        status = graft_check_class_name(&place, "vision.prefix", prefix, error);
    }
    if (status == GRAFT_OK) {
        status = find_tower(file, fields.like, finder, error);
    }
    if (status == GRAFT_OK) {
        status = start(file, prefix, error);
    }
    const struct graft_family_part part = {"vision", path, &graft_vision_choices, file->vision};
    if (status == GRAFT_OK) {
        status = graft_family_read_defaults(&part, fields.defaults, 0, error);
    }
    return status == GRAFT_OK ? graft_family_read_choices(&part, vision.value, others, error) : status;
}
