/* SPDX-License-Identifier: Apache-2.0 */
/* `inspect`: prints the whole declaration of a plugin or a class. */
#include "cli/commands/inspect.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "cli/author/project.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/report/outline.h"
#include "cli/setup.h"

static int print(const struct graft_options *options, const struct graft_writer *writer, const graft_json *document,
                 struct graft_error *error) {
    if (writer->failed) {
        return graft_fail_memory(error, "inspect");
    }
    return options->json ? graft_output_json(document, stdout, 1, error) : graft_outline_print(document, stdout, error);
}

/* --- A plugin's file --- */

/* "warning: ...: A, B" on stderr, if there are names. */
static void print_warning(const struct graft_replacement *replacement, const struct graft_text *names,
                          const char *what) {
    if (names->length > 0) {
        (void)fprintf(stderr, "warning: \"%s\" matches %s: %s\n", replacement->target, what, names->bytes);
    }
}

/* Warns about classes that the key matches but cannot replace, or that this model would not have replaced: opening a
 * model checks only its own classes. */
static void warn(const struct graft_replacement *replacement, const struct graft_inspected_classes *classes,
                 const struct graft_model *model) {
    struct graft_text misfits = {0};
    struct graft_text unused = {0};
    for (size_t i = 0; i < classes->n; i++) {
        const struct graft_class *cls = classes->items[i].cls;
        if (classes->items[i].is_private || !graft_inspect_reaches(replacement, classes, cls)) {
            continue;
        }
        if (strcmp(cls->interface_id, replacement->replacement->interface_id) != 0) {
            graft_text_printf(&misfits, "%s%s (%s)", misfits.length > 0 ? ", " : "", cls->name, cls->interface_id);
        } else if (model != NULL && graft_inspect_find(model, cls->name, replacement->replacement).modules == 0) {
            graft_text_printf(&unused, "%s%s", unused.length > 0 ? ", " : "", cls->name);
        }
    }
    if ((replacement->flags & GRAFT_REPLACEMENT_WHERE_IT_FITS) == 0) {
        print_warning(replacement, &misfits, "classes of other interfaces, so models with them do not load");
    }
    if (replacement->key == GRAFT_KEY_PATTERN) {
        print_warning(replacement, &unused, "classes that it does not replace in this model");
    }
    graft_text_free(&misfits);
    graft_text_free(&unused);
}

/* The plugin of options->subject, a file that was loaded. */
static const struct graft_plugin_info *find_plugin(const struct graft_library *library, const char *file) {
    size_t i = 0;
    while (strcmp(graft_library_plugin(library, i)->file, file) != 0) {
        i++;
    }
    return graft_library_plugin(library, i);
}

static int with_plugin(const struct graft_options *options, struct graft_library *library,
                       const struct graft_model *model, struct graft_error *error) {
    const struct graft_plugin_info *plugin = find_plugin(library, options->subject);
    struct graft_inspected_classes classes = {0};
    struct graft_writer writer = {0};
    int status = graft_library_classes(library, &classes.items, &classes.n, error);
    if (status == GRAFT_OK) {
        status = graft_library_families(library, &classes.families, &classes.n_families, error);
    }
    if (status == GRAFT_OK) {
        graft_json *document = graft_inspect_plugin(&writer, plugin, &classes, model);
        status = print(options, &writer, document, error);
        graft_json_free(document);
    }
    for (int32_t i = 0; status == GRAFT_OK && !options->quiet && i < plugin->descriptor->n_replacements; i++) {
        warn(graft_plugin_replacement(plugin->descriptor, i), &classes, model);
    }
    graft_families_free(classes.families);
    graft_classes_free(classes.items);
    return status;
}

/* Without a model the plugin is loaded but not used. */
static int inspect_file(const struct graft_options *options, struct graft_error *error) {
    struct graft_library *library = NULL;
    struct graft_model *model = NULL;
    int status = graft_library_create(&library, error);
    if (status == GRAFT_OK) {
        status = graft_setup_plugin(options, options->subject, library, error);
    }
    if (status == GRAFT_OK && options->model != NULL) {
        status = graft_setup_model(options, library, &model, error);
    }
    if (status == GRAFT_OK) {
        status = with_plugin(options, library, model, error);
    }
    graft_model_free(model);
    graft_library_free(library);
    return status;
}

/* --- A class --- */

static graft_json *replacement_json(struct graft_writer *writer, const struct graft_plugin_info *plugin,
                                    const struct graft_replacement *replacement, const struct graft_class *cls,
                                    const struct graft_model *model) {
    graft_json *object = graft_json_new_object();
    graft_writer_set_string(writer, object, "plugin", plugin->descriptor->id);
    graft_writer_set_string(writer, object, "file", plugin->file);
    graft_writer_set_string(writer, object, "class", replacement->replacement->name);
    graft_inspect_key(writer, object, replacement);
    if (model != NULL) {
        struct graft_inspected found = graft_inspect_find(model, cls->name, replacement->replacement);
        graft_writer_set_int(writer, object, "modules", found.modules);
    }
    return object;
}

/* The replacements whose key matches the class and, with a model, the modules where they apply. */
static graft_json *replaced_by_json(struct graft_writer *writer, const struct graft_library *library,
                                    const struct graft_class *cls, const struct graft_model *model) {
    graft_json *array = graft_json_new_array();
    const struct graft_plugin_info *plugin;
    for (size_t i = 0; (plugin = graft_library_plugin(library, i)) != NULL; i++) {
        for (int32_t k = 0; k < plugin->descriptor->n_replacements; k++) {
            const struct graft_replacement *replacement = graft_plugin_replacement(plugin->descriptor, k);
            if (graft_inspect_hits(replacement, cls)) {
                graft_writer_append(writer, array, replacement_json(writer, plugin, replacement, cls, model));
            }
        }
    }
    return array;
}

/* Sets members for the class in the model: of a module with the plugins loaded or, if they replace the class
 * everywhere, without them. */
static int set_in_model(const struct graft_options *options, struct graft_writer *writer, graft_json *object,
                        const struct graft_class *cls, const struct graft_model *model, struct graft_error *error) {
    struct graft_inspected found = graft_inspect_find(model, cls->name, NULL);
    struct graft_library *plain = NULL;
    struct graft_model *original = NULL;
    int status = GRAFT_OK;
    if (found.modules == 0) {
        status = graft_setup_original(options, &plain, &original, error);
        found = status == GRAFT_OK ? graft_inspect_find(original, cls->name, NULL) : found;
    }
    if (status == GRAFT_OK) {
        graft_json *in_model = graft_json_new_object();
        graft_writer_set_int(writer, in_model, "modules", found.modules);
        if (found.modules > 0) {
            graft_inspect_module(writer, in_model, found.first);
        }
        graft_writer_set(writer, object, "in_this_model", in_model);
    }
    graft_model_free(original);
    graft_library_free(plain);
    return status;
}

static int with_class(const struct graft_options *options, const struct graft_library *library,
                      const struct graft_class *cls, const struct graft_model *model, struct graft_error *error) {
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    int status = GRAFT_OK;
    graft_inspect_class(&writer, document, cls);
    if (model != NULL) {
        status = set_in_model(options, &writer, document, cls, model, error);
    }
    graft_writer_set(&writer, document, "replaced_by", replaced_by_json(&writer, library, cls, model));
    if (status == GRAFT_OK) {
        status = print(options, &writer, document, error);
    }
    graft_json_free(document);
    return status;
}

/* Prints the declarations of the class's header, followed by the source of a plugin for the class. */
static int print_source(const struct graft_options *options, struct graft_library *library, const char *tiny,
                        struct graft_error *error) {
    struct author_subject subject;
    struct graft_text source = {0};
    const struct author_project project = {
        .subject = &subject, .language = AUTHOR_C, .id = "my_plugin", .model = "", .structs = 1};
    int status = author_subject_find(options, library, options->subject, tiny, &subject, error);
    if (status == GRAFT_OK) {
        author_source(&source, &project);
        status = source.failed ? graft_fail_memory(error, "inspect") : GRAFT_OK;
    }
    if (status == GRAFT_OK) {
        (void)fputs(source.bytes, stdout);
    }
    author_subject_finish(&subject);
    graft_text_free(&source);
    return status;
}

/* Without a model, a tiny one is made in a temporary folder. */
static int inspect_as_c(const struct graft_options *options, struct graft_library *library, struct graft_error *error) {
    char *folder = NULL;
    int status = graft_folder_make_temporary("/tmp", "inspect", &folder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    char *tiny = graft_path_join(folder, "model");
    status = tiny != NULL ? print_source(options, library, tiny, error) : graft_fail_memory(error, "inspect");
    graft_folder_remove(folder);
    graft_free(tiny);
    graft_free(folder);
    return status;
}

static int inspect_class(const struct graft_options *options, struct graft_library *library,
                         struct graft_error *error) {
    const struct graft_class *cls = NULL;
    struct graft_model *model = NULL;
    int status = graft_library_find_class(library, options->subject, &cls, error);
    if (status != GRAFT_OK) {
        graft_error_hint(error, "%s list --classes lists the classes; a plugin's file name ends in .so or .family.json",
                         graft_program_name());
    }
    if (status == GRAFT_OK && options->model != NULL) {
        status = graft_setup_model(options, library, &model, error);
    }
    if (status == GRAFT_OK) {
        status = with_class(options, library, cls, model, error);
    }
    graft_model_free(model);
    return status;
}

int graft_command_inspect(const struct graft_options *options, struct graft_library *library,
                          struct graft_error *error) {
    return graft_options_name_file(options) ? inspect_file(options, error)
           : options->as_c                  ? inspect_as_c(options, library, error)
                                            : inspect_class(options, library, error);
}
