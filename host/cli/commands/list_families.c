/* SPDX-License-Identifier: Apache-2.0 */
/* `list --families`: the model types that can be opened. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "graft/host/graft.h"

/* The root class of an architecture: the family's class of that name, else another one of the library. */
static const struct graft_class *root_class(struct graft_library *library, const struct graft_family *family,
                                            const struct graft_architecture *architecture) {
    const char *name = architecture->class_name != NULL ? architecture->class_name : architecture->name;
    const struct graft_class *found = NULL;
    for (int32_t i = 0; i < family->n_classes && found == NULL; i++) {
        const struct graft_class *cls = graft_family_class(family, i);
        found = strcmp(cls->name, name) == 0 ? cls : NULL;
    }
    if (found == NULL) {
        (void)graft_library_find_class(library, name, &found, NULL);
    }
    return found;
}

static void print_family(const struct graft_family_info *info) {
    const struct graft_family *family = info->family;
    struct graft_text line = {0};
    graft_text_printf(&line, "%s:", family->model_type);
    for (int32_t i = 0; i < family->n_architectures; i++) {
        graft_text_printf(&line, "%s %s", i > 0 ? "," : "", graft_family_architecture(family, i)->name);
    }
    if (info->plugin != NULL) {
        graft_text_printf(&line, "; by plugin %s%s%s%s", info->plugin, info->file != NULL ? " (" : "",
                          info->file != NULL ? info->file : "", info->file != NULL ? ")" : "");
    }
    graft_output_line(stdout, "%s%s", line.bytes != NULL ? line.bytes : "",
                      info->is_used ? "" : "; not used, another goes first");
    graft_text_free(&line);
}

static graft_json *architectures_json(struct graft_writer *writer, struct graft_library *library,
                                      const struct graft_family *family) {
    graft_json *array = graft_json_new_array();
    for (int32_t i = 0; i < family->n_architectures; i++) {
        const struct graft_architecture *architecture = graft_family_architecture(family, i);
        const struct graft_class *cls = root_class(library, family, architecture);
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "architecture", architecture->name);
        graft_writer_set_string(writer, object, "class", cls != NULL ? cls->name : NULL);
        graft_writer_set_string(writer, object, "interface", cls != NULL ? cls->interface_id : NULL);
        graft_writer_append(writer, array, object);
    }
    return array;
}

static graft_json *family_json(struct graft_writer *writer, struct graft_library *library,
                               const struct graft_family_info *info) {
    const struct graft_family *family = info->family;
    graft_json *object = graft_json_new_object();
    graft_json *classes = graft_json_new_array();
    for (int32_t i = 0; i < family->n_classes; i++) {
        graft_writer_append(writer, classes, graft_json_new_string(graft_family_class(family, i)->name));
    }
    graft_writer_set_string(writer, object, "model_type", family->model_type);
    graft_writer_set(writer, object, "architectures", architectures_json(writer, library, family));
    graft_writer_set_string(writer, object, "base_model_prefix", family->base_model_prefix);
    graft_writer_set(writer, object, "classes", classes);
    graft_writer_set_string(writer, object, "plugin", info->plugin);
    graft_writer_set_string(writer, object, "file", info->file);
    graft_writer_set_bool(writer, object, "is_used", info->is_used);
    return object;
}

static int print_json(struct graft_library *library, const struct graft_family_info *families, size_t n,
                      struct graft_error *error) {
    struct graft_writer writer = {0};
    graft_json *array = graft_json_new_array();
    for (size_t i = 0; i < n; i++) {
        graft_writer_append(&writer, array, family_json(&writer, library, graft_struct_at(families, i)));
    }
    int status = writer.failed ? graft_fail_memory(error, "list") : graft_output_json(array, stdout, 1, error);
    graft_json_free(array);
    return status;
}

int graft_list_families(const struct graft_options *options, struct graft_library *library, struct graft_error *error) {
    struct graft_family_info *families = NULL;
    size_t n = 0;
    int status = graft_library_families(library, &families, &n, error);
    if (status == GRAFT_OK && options->json) {
        status = print_json(library, families, n, error);
    }
    for (size_t i = 0; i < n && !options->json; i++) {
        print_family(graft_struct_at(families, i));
    }
    graft_families_free(families);
    return status;
}
