/* SPDX-License-Identifier: Apache-2.0 */
/* `inspect`: everything that a plugin, or a class, declares. */
#include "cli/commands/inspect.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/report/outline.h"
#include "cli/setup.h"
#include "registry/nearest.h"

static int print(const struct graft_options *options, const struct graft_writer *writer, const graft_json *document,
                 struct graft_error *error) {
    if (writer->failed) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "inspect", "out of memory");
    }
    return options->json ? graft_output_json(document, stdout, 1, error) : graft_outline_print(document, stdout, error);
}

/* --- A plugin's file --- */

static int is_file(const char *subject) {
    size_t length = strlen(subject);
    return strchr(subject, '/') != NULL || (length > 3 && strcmp(subject + length - 3, ".so") == 0);
}

/* "warning: ...: A, B" on stderr, if there are names. */
static void print_warning(const struct graft_replacement *replacement, const struct graft_text *names,
                          const char *what) {
    if (names->length > 0) {
        (void)fprintf(stderr, "warning: \"%s\" hits %s: %s\n", replacement->target, what, names->bytes);
    }
}

/* Patterns are judged by the classes of a model when it is opened: who wants to use the plugin elsewhere should know of
 * the others. */
static void warn(const struct graft_replacement *replacement, const struct graft_snapshot *snapshot,
                 const struct graft_model *model) {
    const struct graft_known_class *known;
    struct graft_text misfits = {0};
    struct graft_text unused = {0};
    for (size_t i = 0; (known = graft_snapshot_class_at(snapshot, i)) != NULL; i++) {
        const struct graft_class *cls = known->cls;
        if (known->private_to_plugin || !graft_inspect_hits(replacement, cls)) {
            continue;
        }
        if (strcmp(cls->interface_id, replacement->replacement->interface_id) != 0) {
            graft_text_printf(&misfits, "%s%s (%s)", misfits.length > 0 ? ", " : "", cls->name, cls->interface_id);
        } else if (model != NULL && graft_inspect_find(model, cls->name, replacement->replacement).modules == 0) {
            graft_text_printf(&unused, "%s%s", unused.length > 0 ? ", " : "", cls->name);
        }
    }
    print_warning(replacement, &misfits, "classes of other interfaces, which models that use them refuse");
    if (replacement->key == GRAFT_KEY_PATTERN) {
        print_warning(replacement, &unused, "classes that it does not replace in this model");
    }
    graft_text_free(&misfits);
    graft_text_free(&unused);
}

static void warn_all(const struct graft_plugin *plugin, const struct graft_library *library,
                     const struct graft_model *model) {
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    for (int32_t i = 0; i < plugin->n_replacements; i++) {
        warn(graft_plugin_replacement(plugin, i), snapshot, model);
    }
    graft_snapshot_release(snapshot);
}

static int with_plugin(const struct graft_options *options, struct graft_library *library,
                       const struct graft_loaded_plugin *plugin, struct graft_error *error) {
    struct graft_origin origin = {plugin->descriptor->id, plugin->file, 0};
    struct graft_model *model = NULL;
    struct graft_writer writer = {0};
    int status = GRAFT_OK;
    if (options->model != NULL) {
        status = graft_registry_add_plugin(library->registry, plugin->descriptor, &origin, error);
        if (status == GRAFT_OK) {
            status = graft_setup_model(options, library, &model, error);
        }
    }
    if (status == GRAFT_OK) {
        graft_json *document = graft_inspect_plugin(&writer, plugin, library, model);
        status = print(options, &writer, document, error);
        graft_json_free(document);
    }
    if (status == GRAFT_OK && !options->quiet) {
        warn_all(plugin->descriptor, library, model);
    }
    graft_model_free(model);
    return status;
}

/* The plugin alone, without those of --plugins-dir. */
static int inspect_file(const struct graft_options *options, struct graft_error *error) {
    const struct graft_plugin_options wanted = {.leave_idle = options->model == NULL};
    struct graft_library *library = NULL;
    struct graft_plugin_set *set = NULL;
    int status = graft_library_create(&library, error);
    if (status == GRAFT_OK) {
        status = graft_plugins_load_file(options->subject, &wanted, &set, error);
    }
    if (status == GRAFT_OK) {
        status = with_plugin(options, library, &set->plugins[0], error);
    }
    graft_library_free(library);
    graft_plugin_set_free(set);
    return status;
}

/* --- A class --- */

/* The class of that name: the host's, or one that a plugin brings. */
static const struct graft_class *find_class(const struct graft_snapshot *snapshot, const char *name) {
    const struct graft_known_class *known;
    const struct graft_replacement *replacement;
    struct graft_origin origin;
    for (size_t i = 0; (known = graft_snapshot_class_at(snapshot, i)) != NULL; i++) {
        if (strcmp(known->cls->name, name) == 0) {
            return known->cls;
        }
    }
    for (size_t i = 0; (replacement = graft_snapshot_replacement(snapshot, i, &origin)) != NULL; i++) {
        if (strcmp(replacement->replacement->name, name) == 0) {
            return replacement->replacement;
        }
    }
    return NULL;
}

/* Who would replace the class; in a model, where. */
static graft_json *replaced_by_json(struct graft_writer *writer, const struct graft_snapshot *snapshot,
                                    const struct graft_class *cls, const struct graft_model *model) {
    graft_json *array = graft_json_new_array();
    const struct graft_replacement *replacement;
    struct graft_origin origin;
    for (size_t i = 0; (replacement = graft_snapshot_replacement(snapshot, i, &origin)) != NULL; i++) {
        if (graft_inspect_hits(replacement, cls)) {
            graft_json *object = graft_json_new_object();
            graft_writer_set_string(writer, object, "plugin", origin.plugin);
            graft_writer_set_string(writer, object, "file", origin.file);
            graft_writer_set_string(writer, object, "class", replacement->replacement->name);
            graft_inspect_key(writer, object, replacement);
            if (model != NULL) {
                struct graft_inspected found = graft_inspect_find(model, cls->name, replacement->replacement);
                graft_writer_set_int(writer, object, "modules", found.modules);
            }
            graft_writer_append(writer, array, object);
        }
    }
    return array;
}

/* What the class is in a model: as it is with the plugins or, where they replace it everywhere, without. */
static int set_in_model(const struct graft_options *options, struct graft_writer *writer, graft_json *object,
                        const struct graft_class *cls, const struct graft_model *model, struct graft_error *error) {
    struct graft_inspected found = graft_inspect_find(model, cls->name, NULL);
    struct graft_library *plain = NULL;
    struct graft_model *original = NULL;
    int status = GRAFT_OK;
    if (found.modules == 0) {
        status = graft_library_create(&plain, error);
        if (status == GRAFT_OK) {
            status = graft_setup_original(options, plain, &original, error);
        }
        found = status == GRAFT_OK ? graft_inspect_find(original, cls->name, NULL) : found;
    }
    if (status == GRAFT_OK) {
        graft_json *in_model = graft_json_new_object();
        graft_writer_set_int(writer, in_model, "modules", found.modules);
        if (found.modules > 0) {
            graft_inspect_node(writer, in_model, found.first, original != NULL ? original->plan : model->plan);
        }
        graft_writer_set(writer, object, "in_this_model", in_model);
    }
    graft_model_free(original);
    graft_library_free(plain);
    return status;
}

static int with_class(const struct graft_options *options, const struct graft_snapshot *snapshot,
                      const struct graft_class *cls, const struct graft_model *model, struct graft_error *error) {
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    int status = GRAFT_OK;
    graft_inspect_class(&writer, document, cls);
    if (model != NULL) {
        status = set_in_model(options, &writer, document, cls, model, error);
    }
    graft_writer_set(&writer, document, "replaced_by", replaced_by_json(&writer, snapshot, cls, model));
    if (status == GRAFT_OK) {
        status = print(options, &writer, document, error);
    }
    graft_json_free(document);
    return status;
}

static int inspect_class(const struct graft_options *options, struct graft_library *library,
                         struct graft_error *error) {
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    const struct graft_class *cls = find_class(snapshot, options->subject);
    struct graft_model *model = NULL;
    int status = GRAFT_OK;
    if (cls == NULL) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, options->subject, "there is no class of that name");
        graft_snapshot_hint_nearest(snapshot, options->subject, error);
        graft_error_hint(error, "%s list --classes names the classes there are; a plugin's file ends in .so",
                         graft_program_name());
    }
    if (status == GRAFT_OK && options->model != NULL) {
        status = graft_setup_model(options, library, &model, error);
    }
    if (status == GRAFT_OK) {
        status = with_class(options, snapshot, cls, model, error);
    }
    graft_model_free(model);
    graft_snapshot_release(snapshot);
    return status;
}

int graft_command_inspect(const struct graft_options *options, struct graft_library *library,
                          struct graft_error *error) {
    return is_file(options->subject) ? inspect_file(options, error) : inspect_class(options, library, error);
}
