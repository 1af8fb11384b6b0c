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
static int find_tower(struct graft_family_file *file, const struct json_place *vision,
                      const struct graft_family_finder *finder, struct graft_error *error) {
    const char *like = NULL;
    int status = graft_json_place_string(vision, graft_json_get(file->document, "vision"), "like", &like, error);
    file->tower = file->like;
    if (status != GRAFT_OK || like == NULL) {
        return status;
    }
    status = graft_family_find_like(vision->file, "vision.like", like, finder, &file->tower, error);
    return status != GRAFT_OK || description_of(file->tower) != NULL
               ? status
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, vision->file, "vision.like: %s has no tower", like);
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
    const struct json_place top = {path, ""}, inner = {path, "vision"};
    const struct graft_place place = {.file = path, .index = -1};
    const graft_json *vision = graft_json_get(file->document, "vision");
    const graft_json *defaults = graft_json_get(vision, "defaults");
    const char *prefix = NULL;
    if (vision == NULL) {
        return GRAFT_OK;
    }
    if (graft_json_type(vision) != GRAFT_JSON_OBJECT) {
        return graft_json_place_wrong(&top, "vision", "an object", vision, error);
    }
    int status = graft_json_place_string(&inner, vision, "prefix", &prefix, error);
    if (status == GRAFT_OK && prefix == NULL) {
        status = graft_json_place_string(&top, file->document, "prefix", &prefix, error);
    }
    if (status == GRAFT_OK && prefix == NULL) {
        status = graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                 "prefix: missing; the names of a tower's classes begin with it");
    }
    if (status == GRAFT_OK) {
        status = graft_check_class_name(&place, "vision.prefix", prefix, error);
    }
    if (status == GRAFT_OK) {
        status = find_tower(file, &inner, finder, error);
    }
    if (status == GRAFT_OK) {
        status = start(file, prefix, error);
    }
    const struct graft_family_part part = {"vision", path, &graft_vision_choices, file->vision};
    if (status == GRAFT_OK && defaults != NULL && graft_json_type(defaults) != GRAFT_JSON_OBJECT) {
        status = graft_json_place_wrong(&inner, "defaults", "an object", defaults, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_read_defaults(&part, defaults, 0, error);
    }
    return status == GRAFT_OK ? graft_family_read_choices(&part, vision, others, error) : status;
}
