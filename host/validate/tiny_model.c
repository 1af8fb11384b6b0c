/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a tiny model for plugin authors, in which some module has a given class. */
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "graft/host/library.h"
#include "graft/host/modules.h"
#include "plugin/family_file.h"
#include "validate/tiny.h"

static int has_class(struct graft_library *library, const char *directory, const char *class_name) {
    const struct graft_model_options options = {
        .struct_size = sizeof options, .without_weights = 1, .without_replacements = 1};
    const struct graft_named_module *module;
    struct graft_error ignored = graft_error_none();
    struct graft_model *model = NULL;
    int found = 0;
    if (graft_model_open(library, directory, &options, &model, &ignored) == GRAFT_OK) {
        for (size_t i = 0; !found && (module = graft_model_module(model, i)) != NULL; i++) {
            found = strcmp(module->class_name, class_name) == 0;
        }
    }
    graft_model_free(model);
    return found;
}

/* Why there is no tiny model of the first family that declares the class. */
struct refusal {
    const char *model_type;    /* NULL: no family declares it */
    struct graft_error reason; /* GRAFT_OK: its models lack the class */
};

/* Returns whether the directory was made. Nothing is left of a model that cannot be made of the usual config or lacks
 * the class. */
static int try_architecture(struct graft_library *library, const char *model_type, const char *architecture,
                            const char *class_name, const char *directory, struct graft_error *reason) {
    int made = graft_tiny_write(library, model_type, architecture, &graft_tiny_usual, directory, reason) == GRAFT_OK &&
               has_class(library, directory, class_name);
    if (!made) {
        graft_folder_remove(directory);
    }
    return made;
}

static int try_family(struct graft_library *library, const struct graft_family *family, const char *class_name,
                      const char *directory, struct refusal *refusal) {
    int made = 0;
    for (int32_t i = 0; i < family->n_architectures && !made; i++) {
        struct graft_error reason = graft_error_none();
        made = try_architecture(library, family->model_type, graft_family_architecture(family, i)->name, class_name,
                                directory, &reason);
        if (!made && refusal->model_type == NULL) {
            *refusal = (struct refusal){family->model_type, reason};
        }
    }
    return made;
}

static int refuse(const char *class_name, const struct refusal *refusal, struct graft_error *error) {
    const struct graft_error *reason = &refusal->reason;
    if (refusal->model_type == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, class_name, "no tiny model can be made that has this class");
    }
    if (reason->code == GRAFT_OK) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, class_name, "no module of a tiny %s has this class",
                               refusal->model_type);
    }
    return graft_error_set(error, GRAFT_ERROR_USAGE, class_name, "no tiny %s can be made: %s: %s", refusal->model_type,
                           graft_path_name(reason->source) /* the file is gone */, reason->message);
}

/* Tries the families that declare the class first. A class that all share, such as a norm, is found in the types that
 * checks use. */
int graft_tiny_model_make(struct graft_library *library, const char *class_name, const char *directory,
                          const char **model_type, struct graft_error *error) {
    struct graft_family_info *families = NULL;
    struct refusal refusal = {NULL, graft_error_none()};
    size_t n = 0;
    const char *type, *architecture = NULL;
    *model_type = NULL;
    if (graft_file_exists(directory)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, directory, "exists already");
    }
    int status = graft_library_families(library, &families, &n, error);
    for (size_t i = 0; i < n && *model_type == NULL; i++) {
        const struct graft_family_info *info = graft_struct_at(families, i);
        if (info->is_used && graft_family_find_class(info->family, class_name) != NULL &&
            try_family(library, info->family, class_name, directory, &refusal)) {
            *model_type = info->family->model_type;
        }
    }
    for (size_t i = 0; status == GRAFT_OK && *model_type == NULL; i++) {
        struct graft_error ignored = graft_error_none();
        if ((type = graft_tiny_type(i, &architecture)) == NULL) {
            break;
        }
        *model_type = try_architecture(library, type, architecture, class_name, directory, &ignored) ? type : NULL;
    }
    if (status == GRAFT_OK && *model_type == NULL) {
        status = refuse(class_name, &refusal, error);
    }
    graft_families_free(families);
    return status;
}
