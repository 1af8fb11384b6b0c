/* SPDX-License-Identifier: Apache-2.0 */
/* Calls checks with each tiny model that the plugin has an effect on, or with the given model. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "validate/tiny.h"

int graft_module_is_plugins(const struct graft_named_module *module, const char *id) {
    return module->plugin != NULL && strcmp(module->plugin, id) == 0;
}

int graft_subject_is_plugins(const struct graft_model *model, const char *id) {
    const struct graft_named_module *module;
    const char *family = graft_model_plan(model)->plugin;
    for (size_t i = 0; (module = graft_model_module(model, i)) != NULL; i++) {
        if (graft_module_is_plugins(module, id)) {
            return 1;
        }
    }
    return family != NULL && strcmp(family, id) == 0;
}

/* Makes a library without the plugin. The plugin may also be among those that the given model needs; then it is left
 * out there. */
static int library_without(const struct graft_validation *validation, struct graft_library **library,
                           struct graft_error *error) {
    int status = graft_library_create(library, error);
    return status == GRAFT_OK && validation->n_directories > 0
               ? graft_library_load_plugins(*library, validation->directories, validation->n_directories, NULL, error)
               : status;
}

int graft_subject_open(const struct graft_subject *subject, int without, struct graft_library **library,
                       struct graft_model **model, struct graft_error *error) {
    const struct graft_model_options options = {
        .struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32, .without_replacements = without};
    const struct graft_validation *validation = subject->validation;
    int status = without ? library_without(validation, library, error)
                         : graft_validation_library_of_models(validation, library, error);
    if (status == GRAFT_OK) {
        status = (without ? graft_model_open : graft_tiny_open)(*library, subject->directory, &options, model, error);
    }
    return status == GRAFT_OK ? graft_model_load(*model, error) : status;
}

void graft_subject_close(struct graft_subject *subject) {
    graft_model_free(subject->model);
    graft_library_free(subject->library);
    subject->model = NULL;
    subject->library = NULL;
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

static int open_subject(struct graft_subject *subject, struct graft_error *error) {
    int status = graft_subject_open(subject, 0, &subject->library, &subject->model, error);
    if (status == GRAFT_OK) {
        const struct graft_plugin *plugin = graft_library_plugin(subject->library, 0)->descriptor;
        const char *family = graft_model_plan(subject->model)->plugin;
        subject->is_own_type = family != NULL && strcmp(family, plugin->id) == 0;
        subject->is_lossy = is_lossy(plugin);
        subject->is_adapted = graft_tiny_has_adapter(subject->directory);
        subject->is_on_request = is_on_request(plugin);
    }
    return status;
}

/* Adds a model to which the check does not apply, and why. */
static void add_left(struct graft_text *left, const char *type, const char *why) {
    graft_text_printf(left, "%s%s: %s", left->length > 0 ? "; " : "", type, why);
}

static int with_subject(struct graft_subject *subject, int closed, graft_subject_function check,
                        struct graft_text *left, int *made, struct graft_error *error) {
    subject->directory = graft_path_join(subject->validation->folder, subject->model_type);
    if (subject->directory == NULL) {
        return graft_fail_memory(error, subject->model_type);
    }
    graft_validation_at(subject->validation, subject->model_type);
    int status = closed ? GRAFT_OK : open_subject(subject, error);
    if (status == GRAFT_OK) {
        status = check(subject, error);
    }
    *made += subject->left == NULL;
    if (subject->left != NULL) {
        add_left(left, subject->model_type, subject->left);
    }
    graft_subject_close(subject);
    graft_free(subject->directory);
    return status;
}

int graft_subject_leave(struct graft_subject *subject, const char *why) {
    subject->left = why;
    return GRAFT_OK;
}

/* A file in the shared folder with a line for each model type that was refused. */
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
    (void)snprintf(text, sizeof text, "%s%s",
                   validation->model != NULL ? "the model that was given cannot be used: see build.describes"
                                             : "it has no effect on any of the tiny models",
                   reasons != NULL ? reasons : "");
    graft_free(reasons);
    graft_free(path);
    return graft_validation_skip(validation, text);
}

static int is_model(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int each(struct graft_validation *validation, int closed, graft_subject_function check,
                struct graft_error *error) {
    struct dirent **entries = NULL;
    struct graft_text left = {0};
    int n = scandir(validation->folder, &entries, is_model, alphasort), made = 0;
    int status = GRAFT_OK;
    for (int i = 0; i < n; i++) {
        struct graft_subject subject = {
            .validation = validation, .model_type = entries[i]->d_name, .number = i, .models = n};
        if (status == GRAFT_OK) {
            status = with_subject(&subject, closed, check, &left, &made, error);
        }
        free(entries[i]); /* allocated by the C library, as is the list */
    }
    free(entries);
    if (status == GRAFT_OK && n > 0 && left.length > 0 && made > 0) {
        char *text = graft_format("not made with %s", left.bytes);
        (void)graft_validation_say(validation, text != NULL ? text : left.bytes);
        graft_free(text);
    } else if (status == GRAFT_OK && n > 0 && left.length > 0) {
        (void)graft_validation_skip(validation, left.bytes);
    }
    graft_text_free(&left);
    return n > 0 ? status : graft_tiny_skip(validation);
}

int graft_tiny_each(struct graft_validation *validation, graft_subject_function check, struct graft_error *error) {
    return each(validation, 0, check, error);
}

int graft_tiny_each_closed(struct graft_validation *validation, graft_subject_function check,
                           struct graft_error *error) {
    return each(validation, 1, check, error);
}
