/* SPDX-License-Identifier: Apache-2.0 */
/* The tiny models that a plugin has an effect on, one after another. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
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
        status = (without ? graft_model_open : graft_tiny_open)(*library, subject->directory, &options, model, error);
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

static int is_on_request(const struct graft_plugin *plugin) {
    uint32_t flags = 0;
    for (int32_t i = 0; i < plugin->n_replacements; i++) {
        flags |= graft_plugin_replacement(plugin, i)->flags;
    }
    return (flags & GRAFT_REPLACEMENT_ON_REQUEST) != 0;
}

static int open_both(struct graft_subject *subject, struct graft_error *error) {
    int status = graft_subject_open(subject, 0, &subject->library, &subject->model, error);
    if (status == GRAFT_OK) {
        subject->is_lossy = is_lossy(graft_library_plugin(subject->library, 0)->descriptor);
        subject->is_adapted = graft_tiny_has_adapter(subject->directory);
        subject->is_on_request = is_on_request(graft_library_plugin(subject->library, 0)->descriptor);
        if (graft_model_plan(subject->model)->plugin == NULL) {
            status = graft_subject_open(subject, 1, &subject->originals, &subject->original, error);
        }
    }
    return status;
}

static int with_subject(struct graft_validation *validation, const char *type, int closed, graft_subject_function check,
                        const char **left, struct graft_error *error) {
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
    *left = subject.left;
    graft_model_free(subject.original);
    graft_library_free(subject.originals);
    graft_model_free(subject.model);
    graft_library_free(subject.library);
    graft_free(subject.directory);
    return status;
}

int graft_subject_leave(struct graft_subject *subject, const char *why) {
    subject->left = why;
    return GRAFT_OK;
}

/* Of each model type that was refused a line; the folder is what checks share. */
static const char refused_name[] = ".refused";

void graft_tiny_refused(const struct graft_validation *validation, const char *model_type,
                        const struct graft_error *why) {
    char *path = graft_path_join(validation->folder, refused_name);
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file != NULL) {
        (void)fprintf(file, "; %s: %s", model_type, why->message);
        (void)fclose(file);
    }
    graft_free(path);
}

int graft_tiny_skip(struct graft_validation *validation) {
    enum { MAX_BYTES = 1 << 20 };
    char text[GRAFT_VALIDATION_TEXT];
    char *path = graft_path_join(validation->folder, refused_name), *reasons = NULL;
    size_t length = 0;
    if (path != NULL) {
        (void)graft_file_read(path, MAX_BYTES, GRAFT_ERROR_IO, &reasons, &length, NULL);
    }
    (void)snprintf(text, sizeof text, "it has no effect on any of the tiny models%s", reasons != NULL ? reasons : "");
    graft_free(reasons);
    graft_free(path);
    return graft_validation_skip(validation, text);
}

/* What came of the models: those to which the check does not apply, and why. */
static void add_left(struct graft_text *left, const char *type, const char *why) {
    graft_text_printf(left, "%s%s: %s", left->length > 0 ? "; " : "", type, why);
}

static int each(struct graft_validation *validation, int closed, graft_subject_function check,
                struct graft_error *error) {
    struct dirent **entries = NULL;
    struct graft_text left = {0};
    int n = scandir(validation->folder, &entries, NULL, alphasort), found = 0, made = 0;
    int status = GRAFT_OK;
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.' && status == GRAFT_OK) {
            const char *why = NULL;
            found = 1;
            status = with_subject(validation, entries[i]->d_name, closed, check, &why, error);
            made += why == NULL;
            if (why != NULL) {
                add_left(&left, entries[i]->d_name, why);
            }
        }
        free(entries[i]); /* the C library's, as is the list */
    }
    free(entries);
    if (status == GRAFT_OK && found && left.length > 0) {
        (made > 0 ? graft_validation_say : graft_validation_skip)(validation, left.bytes);
    }
    graft_text_free(&left);
    return found ? status : graft_tiny_skip(validation);
}

int graft_tiny_each(struct graft_validation *validation, graft_subject_function check, struct graft_error *error) {
    return each(validation, 0, check, error);
}

int graft_tiny_each_closed(struct graft_validation *validation, graft_subject_function check,
                           struct graft_error *error) {
    return each(validation, 1, check, error);
}
