/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/author/author.h"
#include "cli/program.h"
#include "graft/host/modules.h"
#include "graft/host/validate.h"

static const struct sdk_interface *find_interface(const char *id) {
    const struct sdk_interface *interface = graft_sdk_interfaces;
    while (interface->id != NULL && strcmp(interface->id, id) != 0) {
        interface++;
    }
    return interface->id != NULL ? interface : NULL;
}

/* The class's first module that nothing stands in front of: what a replacement would take the place of. */
static const struct graft_named_module *find_module(const struct graft_model *model, const char *class_name) {
    const struct graft_named_module *module;
    for (size_t i = 0; (module = graft_model_module(model, i)) != NULL; i++) {
        if (strcmp(module->class_name, class_name) == 0) {
            return module;
        }
    }
    return NULL;
}

static int open_model(struct graft_library *library, const char *directory, struct author_subject *subject,
                      struct graft_error *error) {
    const struct graft_model_options options = {
        .struct_size = sizeof options, .without_weights = 1, .without_replacements = 1};
    int status = graft_model_open(library, directory, &options, &subject->model, error);
    subject->module = status == GRAFT_OK ? find_module(subject->model, subject->cls->name) : NULL;
    if (status == GRAFT_OK && subject->module == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, directory, "no module of this model has the class %s",
                              subject->cls->name);
        graft_error_hint(error, "%s plan --json --model DIR names the class of each module", graft_program_name());
        return GRAFT_ERROR_USAGE;
    }
    return status;
}

/* "model.layers.0.mlp of MODEL" */
static int say_where(struct author_subject *subject, const char *article, const char *model,
                     struct graft_error *error) {
    const char *path = subject->module->path[0] != '\0' ? subject->module->path : "The model itself";
    subject->where = graft_format("%s of %s%s", path, article, model);
    return subject->where != NULL ? GRAFT_OK : graft_fail_memory(error, model);
}

int author_subject_find(const struct graft_options *options, struct graft_library *library, const char *class_name,
                        const char *tiny, struct author_subject *subject, struct graft_error *error) {
    const char *model_type = NULL;
    *subject = (struct author_subject){0};
    int status = graft_library_find_class(library, class_name, &subject->cls, error);
    if (status != GRAFT_OK) {
        graft_error_hint(error, "%s list --classes lists the classes", graft_program_name());
        return status;
    }
    subject->interface = find_interface(subject->cls->interface_id);
    if (subject->interface == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, class_name,
                               "its interface %s is a plugin's own, which no header of the SDK declares",
                               subject->cls->interface_id);
    }
    if (options->model != NULL) {
        status = open_model(library, options->model, subject, error);
        return status == GRAFT_OK ? say_where(subject, "", options->model, error) : status;
    }
    status = graft_tiny_model_make(library, subject->cls->name, tiny, &model_type, error);
    if (status != GRAFT_OK) {
        graft_error_hint(error, "name a model that has it: --model DIR");
        return status;
    }
    status = open_model(library, tiny, subject, error);
    return status == GRAFT_OK ? say_where(subject, "a tiny ", model_type, error) : status;
}

void author_subject_finish(struct author_subject *subject) {
    graft_model_free(subject->model);
    graft_free(subject->where);
    *subject = (struct author_subject){0};
}
