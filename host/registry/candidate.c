/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the class for a module that a fusion family fuses: a copy of the family's class, with a name and the family's
 * conversions. */
#include <string.h>

#include "base/alloc.h"
#include "base/args.h"
#include "base/fail.h"
#include "plugin/validate.h"
#include "registry/conversion_copy.h"
#include "registry/fused_modules.h"

enum { MAX_CONVERSIONS = 4096 };

/* The place that messages name: "FILE: fusion_families.NAME.FUNCTION ...". */
struct place {
    struct graft_place outer;
    struct graft_place family;
    struct graft_place function;
};

static const struct graft_place *place_of(const struct graft_candidate *candidate, const char *function,
                                          struct place *place) {
    const struct graft_origin *origin = graft_fusion_origin(candidate->family);
    const char *name = graft_fusion_family_of(candidate->family)->name;
    place->outer = (struct graft_place){.file = origin->file != NULL ? origin->file : name, .index = -1};
    place->family = (struct graft_place){.parent = &place->outer, .field = name, .index = -1};
    place->function = (struct graft_place){.parent = &place->family, .field = function, .index = -1};
    return &place->function;
}

struct graft_candidate *graft_candidate_create(const struct graft_known_fusion *family, const char *path) {
    struct graft_candidate *candidate = graft_alloc(1, sizeof *candidate);
    if (candidate == NULL || (candidate->path = graft_strdup(path)) == NULL) {
        graft_free(candidate);
        return NULL;
    }
    candidate->family = family;
    candidate->args.struct_size = sizeof candidate->args;
    return candidate;
}

int graft_candidate_set_class(struct graft_candidate *candidate, const struct graft_class *cls,
                              struct graft_error *error) {
    struct place at;
    const struct graft_place *place = place_of(candidate, "make_fused_class", &at);
    int status = graft_check_size(place, cls->struct_size, GRAFT_CLASS_SIZE_1_0, error);
    if (status == GRAFT_OK && cls->n_conversions != 0) {
        status = graft_check_failed(place, "n_conversions", error,
                                    "expected 0, because make_transforms gives them, got %d", (int)cls->n_conversions);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    graft_struct_copy(&candidate->fused, sizeof candidate->fused, cls);
    candidate->fused.conversion_stride = sizeof *candidate->conversions;
    if (cls->name == NULL) {
        candidate->name = graft_format("Fused%s", candidate->original->name);
        candidate->fused.name = candidate->name;
    }
    candidate->known = (struct graft_known_class){.cls = &candidate->fused,
                                                  .origin = *graft_fusion_origin(candidate->family),
                                                  .private_to_plugin = 1,
                                                  .args = &candidate->args};
    return candidate->fused.name != NULL ? GRAFT_OK : graft_fail_memory(error, candidate->path);
}

int graft_candidate_add_arguments(struct graft_candidate *candidate, const struct graft_args *args,
                                  struct graft_error *error) {
    struct place at;
    const struct graft_place *place = place_of(candidate, "make_fused_class", &at);
    if (!graft_args_valid(args) || candidate->args.count + args->count > GRAFT_MAX_ARGS) {
        return graft_check_failed(place, "arguments", error,
                                  "expected a list of at most %d arguments, with names, kinds and values",
                                  (int)GRAFT_MAX_ARGS);
    }
    return graft_args_append(&candidate->args, args) == 0 ? GRAFT_OK : graft_fail_memory(error, candidate->path);
}

int graft_candidate_add_conversion(struct graft_candidate *candidate, const struct graft_conversion *conversion,
                                   struct graft_error *error) {
    struct place at;
    const struct graft_place *place = place_of(candidate, "make_transforms", &at);
    size_t n = (size_t)candidate->fused.n_conversions;
    if (n == MAX_CONVERSIONS) {
        return graft_check_failed(place, NULL, error, "expected at most %d conversions", (int)MAX_CONVERSIONS);
    }
    int status = graft_check_size(place, conversion->struct_size, GRAFT_CONVERSION_SIZE_1_0, error);
    if (status == GRAFT_OK) {
        status = graft_conversion_validate(place, conversion, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (graft_grow(&candidate->conversions, &candidate->conversions_capacity, n, sizeof *candidate->conversions) != 0) {
        return graft_fail_memory(error, candidate->path);
    }
    candidate->fused.conversions = candidate->conversions;
    candidate->fused.n_conversions++;
    return graft_conversion_copy(conversion, &candidate->conversions[n]) == 0
               ? GRAFT_OK
               : graft_fail_memory(error, candidate->path);
}

int graft_candidate_check(const struct graft_candidate *candidate, struct graft_error *error) {
    struct place at;
    const struct graft_place *place = place_of(candidate, "make_fused_class", &at);
    int status = graft_class_validate(place, &candidate->fused, 1, error);
    if (status == GRAFT_OK && strcmp(candidate->fused.interface_id, candidate->original->interface_id) != 0) {
        status = graft_check_failed(place, "interface_id", error, "expected %s, that of %s at %s, got %s",
                                    candidate->original->interface_id, candidate->original->name, candidate->path,
                                    candidate->fused.interface_id);
    }
    if (status != GRAFT_OK) {
        graft_error_hint(error, "graft/fusion.h says what a family must give");
    }
    return status;
}

void graft_candidate_free(struct graft_candidate *candidate) {
    if (candidate != NULL) {
        for (int32_t i = 0; i < candidate->fused.n_conversions; i++) {
            graft_conversion_finish(&candidate->conversions[i]);
        }
        graft_args_finish(&candidate->args);
        graft_free(candidate->conversions);
        graft_free(candidate->name);
        graft_free(candidate->path);
        graft_free(candidate->reason);
        graft_free(candidate);
    }
}
