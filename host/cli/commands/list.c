/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/report/implementations.h"
#include "cli/report/plugin_options.h"
#include "cli/report/report.h"
#include "graft/family.h"
#include "graft/fusion.h"

/* Whether a class of the plugin is lossy, so that it takes effect only if the plugin is named. */
static int is_lossy(const struct graft_plugin *descriptor) {
    int lossy = 0;
    for (int32_t i = 0; i < descriptor->n_replacements; i++) {
        lossy |= graft_class_is_lossy(graft_plugin_replacement(descriptor, i)->replacement);
    }
    for (int32_t i = 0; i < descriptor->n_classes; i++) {
        lossy |= graft_class_is_lossy(graft_plugin_class(descriptor, i));
    }
    return lossy;
}

/* Whether a replacement of the plugin takes effect only if the plugin is named, though it is not lossy. */
static int is_on_request(const struct graft_plugin *descriptor) {
    uint32_t flags = 0;
    for (int32_t i = 0; i < descriptor->n_replacements; i++) {
        flags |= graft_plugin_replacement(descriptor, i)->flags;
    }
    return (flags & GRAFT_REPLACEMENT_ON_REQUEST) != 0;
}

static void print_plugin(const struct graft_plugin_info *plugin) {
    const struct graft_plugin *descriptor = plugin->descriptor;
    (void)printf("%s %s (%s): %s; replaces", descriptor->id, descriptor->version, plugin->file,
                 descriptor->description);
    for (int32_t i = 0; i < descriptor->n_replacements; i++) {
        (void)printf("%s %s", i > 0 ? "," : "", graft_plugin_replacement(descriptor, i)->target);
    }
    (void)printf("%s", descriptor->n_replacements == 0 ? " nothing" : "");
    for (int32_t i = 0; i < descriptor->n_families; i++) {
        (void)printf("%s %s", i > 0 ? "," : "; brings", graft_plugin_family(descriptor, i)->model_type);
    }
    for (int32_t i = 0; i < descriptor->n_fusion_families; i++) {
        (void)printf("%s %s", i > 0 ? "," : "; fuses", graft_plugin_fusion_family(descriptor, i)->name);
    }
    graft_list_implementations(descriptor, stdout);
    graft_list_options(plugin, stdout);
    (void)printf("%s%s\n", descriptor->parallel != NULL ? "; connects processes" : "",
                 is_lossy(descriptor)        ? "; lossy, only with --enable or --plugins"
                 : is_on_request(descriptor) ? "; only with --enable or --plugins"
                                             : "");
}

static graft_json *plugin_json(const struct graft_library *library, size_t i_plugin) {
    const struct graft_plugin_info *plugin = graft_library_plugin(library, i_plugin);
    const struct graft_plugin *descriptor = plugin->descriptor;
    graft_json *object = graft_json_new_object();
    graft_json *replaces = graft_json_new_array();
    graft_json *brings = graft_json_new_array();
    graft_json *fuses = graft_json_new_array();
    struct graft_writer writer = {0};
    int failed = 0;
    for (int32_t i = 0; i < descriptor->n_replacements; i++) {
        const char *target = graft_plugin_replacement(descriptor, i)->target;
        failed |= graft_json_append_take(replaces, graft_json_new_string(target));
    }
    failed |= graft_json_set_take(object, "id", graft_json_new_string(descriptor->id));
    failed |= graft_json_set_take(object, "version", graft_json_new_string(descriptor->version));
    failed |= graft_json_set_take(object, "license", graft_json_new_string(descriptor->license));
    failed |= graft_json_set_take(object, "description", graft_json_new_string(descriptor->description));
    failed |= graft_json_set_take(object, "file", graft_json_new_string(plugin->file));
    for (int32_t i = 0; i < descriptor->n_families; i++) {
        const char *type = graft_plugin_family(descriptor, i)->model_type;
        failed |= graft_json_append_take(brings, graft_json_new_string(type));
    }
    for (int32_t i = 0; i < descriptor->n_fusion_families; i++) {
        const char *name = graft_plugin_fusion_family(descriptor, i)->name;
        failed |= graft_json_append_take(fuses, graft_json_new_string(name));
    }
    failed |= graft_json_set_take(object, "replaces", replaces);
    failed |= graft_json_set_take(object, "brings", brings);
    failed |= graft_json_set_take(object, "fuses", fuses);
    failed |= graft_json_set_take(object, "lossy", graft_json_new_bool(is_lossy(descriptor)));
    failed |= graft_json_set_take(object, "on_request", graft_json_new_bool(is_on_request(descriptor)));
    failed |= graft_json_set_take(object, "parallel", graft_json_new_bool(descriptor->parallel != NULL));
    graft_report_sha256_json(&writer, object, library, i_plugin);
    graft_list_implementations_json(&writer, object, descriptor);
    graft_inspect_options(&writer, object, plugin);
    if (failed || writer.failed) {
        graft_json_free(object);
        return NULL;
    }
    return object;
}

static graft_json *class_json(const struct graft_class *cls) {
    graft_json *object = graft_json_new_object();
    if (graft_json_set_take(object, "class", graft_json_new_string(cls->name)) != 0 ||
        graft_json_set_take(object, "interface", graft_json_new_string(cls->interface_id)) != 0 ||
        graft_json_set_take(object, "by_pattern", graft_json_new_bool((cls->flags & GRAFT_CLASS_BASIC) == 0)) != 0) {
        graft_json_free(object);
        return NULL;
    }
    return object;
}

static graft_json *plugins_json(const struct graft_library *library) {
    graft_json *array = graft_json_new_array();
    int failed = array == NULL;
    for (size_t i = 0; !failed && graft_library_plugin(library, i) != NULL; i++) {
        failed = graft_json_append_take(array, plugin_json(library, i)) != 0;
    }
    if (failed) {
        graft_json_free(array);
        return NULL;
    }
    return array;
}

static graft_json *classes_json(const struct graft_class_info *classes, size_t n) {
    graft_json *array = graft_json_new_array();
    int failed = array == NULL;
    for (size_t i = 0; !failed && i < n; i++) {
        failed = graft_json_append_take(array, class_json(classes[i].cls)) != 0;
    }
    if (failed) {
        graft_json_free(array);
        return NULL;
    }
    return array;
}

static int print_json(graft_json *array_take, struct graft_error *error) {
    int status =
        array_take == NULL ? graft_fail_memory(error, "list") : graft_output_json(array_take, stdout, 1, error);
    graft_json_free(array_take);
    return status;
}

static int list_classes(const struct graft_options *options, struct graft_library *library, struct graft_error *error) {
    struct graft_class_info *classes = NULL;
    size_t n = 0;
    int status = graft_library_classes(library, &classes, &n, error);
    if (status == GRAFT_OK && options->json) {
        status = print_json(classes_json(classes, n), error);
    }
    for (size_t i = 0; i < n && !options->json; i++) {
        const struct graft_class_info *info = graft_struct_at(classes, i);
        const struct graft_class *cls = info->cls;
        (void)printf("%s %s%s\n", cls->name, cls->interface_id,
                     (cls->flags & GRAFT_CLASS_BASIC) != 0 ? " (by exact name only)" : "");
    }
    graft_classes_free(classes);
    return status;
}

static int list_plugins(const struct graft_options *options, const struct graft_library *library,
                        struct graft_error *error) {
    const struct graft_plugin_info *plugin;
    if (options->json) {
        return print_json(plugins_json(library), error);
    }
    for (size_t i = 0; (plugin = graft_library_plugin(library, i)) != NULL; i++) {
        print_plugin(plugin);
    }
    return options->sha256 ? graft_report_sha256(library, stdout, error) : GRAFT_OK;
}

int graft_command_list(const struct graft_options *options, struct graft_library *library, struct graft_error *error) {
    int status = options->families  ? graft_list_families(options, library, error)
                 : options->classes ? list_classes(options, library, error)
                                    : list_plugins(options, library, error);
    if (!options->quiet) {
        graft_report_notes(NULL, library, stderr);
    }
    return status;
}
