/* SPDX-License-Identifier: Apache-2.0 */
/* Validates the fusion families of a plugin. What they return for a model is checked then. */
#include <string.h>

#include "plugin/validate.h"

enum { MAX_FAMILIES = 256, MAX_PATTERNS = 256 };

static int validate_name(const struct graft_place *place, const char *name, struct graft_error *error) {
    int status = graft_check_text(place, "name", name, GRAFT_MAX_NAME, error);
    if (status == GRAFT_OK &&
        name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] != '\0') {
        status = graft_check_failed(place, "name", error, "expected only letters, digits and '_', got \"%s\"", name);
    }
    return status;
}

static int validate_patterns(const struct graft_place *place, const char *const *patterns, struct graft_error *error) {
    for (int32_t i = 0; patterns != NULL && patterns[i] != NULL; i++) {
        const struct graft_place element = {.parent = place, .field = "target_modules_patterns", .index = i};
        if (i == MAX_PATTERNS) {
            return graft_check_failed(place, "target_modules_patterns", error,
                                      "expected NULL after at most %d patterns", (int)MAX_PATTERNS);
        }
        int status = graft_check_pattern(&element, NULL, patterns[i], error);
        if (status != GRAFT_OK) {
            return status;
        }
    }
    return GRAFT_OK;
}

static int validate_functions(const struct graft_place *place, const struct graft_fusion_family *family,
                              struct graft_error *error) {
    const char *missing = family->is_fusable == NULL         ? "is_fusable"
                          : family->make_fused_class == NULL ? "make_fused_class"
                          : family->make_transforms == NULL  ? "make_transforms"
                                                             : NULL;
    return missing == NULL ? GRAFT_OK : graft_check_failed(place, missing, error, "expected a function, got NULL");
}

int graft_fusion_validate(const struct graft_place *place, const struct graft_fusion_family *family,
                          struct graft_error *error) {
    int status = graft_check_size(place, family->struct_size, GRAFT_FUSION_FAMILY_SIZE_1_0, error);
    if (status == GRAFT_OK) {
        status = graft_check_zero(place, "reserved", family->reserved, error);
    }
    if (status == GRAFT_OK) {
        status = validate_name(place, family->name, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_text(place, "description", family->description, GRAFT_MAX_LINE, error);
    }
    if (status == GRAFT_OK) {
        status = validate_patterns(place, family->target_modules_patterns, error);
    }
    if (status == GRAFT_OK) {
        status = validate_functions(place, family, error);
    }
    if (status != GRAFT_OK) {
        graft_error_hint(error, "graft/fusion.h says what a family must hold");
    }
    return status;
}

int graft_fusion_families_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                   struct graft_error *error) {
    const struct graft_array array = {"fusion_families",
                                      "n_fusion_families",
                                      "fusion_family_stride",
                                      plugin->fusion_families,
                                      plugin->n_fusion_families,
                                      0,
                                      MAX_FAMILIES,
                                      plugin->fusion_family_stride,
                                      GRAFT_FUSION_FAMILY_SIZE_1_0};
    int status = graft_check_array(place, &array, error);
    for (int32_t i = 0; i < plugin->n_fusion_families && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "fusion_families", .index = i};
        const struct graft_fusion_family *family =
            graft_array_at(plugin->fusion_families, plugin->fusion_family_stride, i);
        status = graft_fusion_validate(&element, family, error);
        for (int32_t k = 0; k < i && status == GRAFT_OK; k++) {
            const struct graft_fusion_family *other =
                graft_array_at(plugin->fusion_families, plugin->fusion_family_stride, k);
            if (strcmp(family->name, other->name) == 0) {
                status = graft_check_failed(&element, "name", error, "\"%s\" is also the name of fusion_families[%d]",
                                            family->name, (int)k);
            }
        }
    }
    return status;
}
