/* SPDX-License-Identifier: Apache-2.0 */
/* The tiny models that a plugin has an effect on, one after another. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "validate/tiny.h"

int graft_subject_is_plugins(const struct graft_model *model, const char *id) {
    const struct graft_named_module *module;
    const char *family = graft_model_plan(model)->plugin;
    for (size_t i = 0; (module = graft_model_module(model, i)) != NULL; i++) {
        if (module->plugin != NULL && strcmp(module->plugin, id) == 0) {
            return 1;
        }
    }
    return family != NULL && strcmp(family, id) == 0;
}

int graft_subject_open(const struct graft_subject *subject, int without, struct graft_library **library,
                       struct graft_model **model, struct graft_error *error) {
    const struct graft_model_options options = {
        .struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32, .without_replacements = without};
    int status = without ? graft_library_create(library, error)
                         : graft_validation_library(subject->validation, NULL, 0, library, error);
    if (status == GRAFT_OK) {
        status = graft_model_open(*library, subject->directory, &options, model, error);
    }
    return status == GRAFT_OK ? graft_model_load(*model, error) : status;
}

static int is_lossy(const struct graft_plugin *plugin) {
    int lossy = 0;
    for (int32_t i = 0; i < plugin->n_replacements; i++) {
        lossy |= graft_class_is_lossy(graft_plugin_replacement(plugin, i)->replacement);
    }
    for (int32_t i = 0; i < plugin->n_classes; i++) {
        lossy |= graft_class_is_lossy(graft_plugin_class(plugin, i));
    }
    return lossy;
}

static int open_both(struct graft_subject *subject, struct graft_error *error) {
    int status = graft_subject_open(subject, 0, &subject->library, &subject->model, error);
    if (status == GRAFT_OK) {
        subject->is_lossy = is_lossy(graft_library_plugin(subject->library, 0)->descriptor);
        if (graft_model_plan(subject->model)->plugin == NULL) {
            status = graft_subject_open(subject, 1, &subject->originals, &subject->original, error);
        }
    }
    return status;
}

static int with_subject(struct graft_validation *validation, const char *type, int closed, graft_subject_function check,
                        struct graft_error *error) {
    struct graft_subject subject = {.validation = validation, .model_type = type};
    subject.directory = graft_path_join(validation->folder, type);
    if (subject.directory == NULL) {
        return graft_fail_memory(error, type);
    }
    graft_validation_at(validation, type);
    int status = closed ? GRAFT_OK : open_both(&subject, error);
    if (status == GRAFT_OK) {
        status = check(&subject, error);
    }
    graft_model_free(subject.original);
    graft_library_free(subject.originals);
    graft_model_free(subject.model);
    graft_library_free(subject.library);
    graft_free(subject.directory);
    return status;
}

static int each(struct graft_validation *validation, int closed, graft_subject_function check,
                struct graft_error *error) {
    struct dirent **entries = NULL;
    int n = scandir(validation->folder, &entries, NULL, alphasort), found = 0;
    int status = GRAFT_OK;
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.' && status == GRAFT_OK) {
            found = 1;
            status = with_subject(validation, entries[i]->d_name, closed, check, error);
        }
        free(entries[i]); /* the C library's, as is the list */
    }
    free(entries);
    if (!found) {
        return graft_validation_skip(validation, "it has no effect on any of the tiny models");
    }
    return status;
}

int graft_tiny_each(struct graft_validation *validation, graft_subject_function check, struct graft_error *error) {
    return each(validation, 0, check, error);
}

int graft_tiny_each_closed(struct graft_validation *validation, graft_subject_function check,
                           struct graft_error *error) {
    return each(validation, 1, check, error);
}
