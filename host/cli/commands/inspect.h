/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the parts of the JSON document of `inspect`, for the files of `inspect`. */
#ifndef GRAFT_CLI_COMMANDS_INSPECT_H
#define GRAFT_CLI_COMMANDS_INSPECT_H

#include "base/json_writer.h"
#include "graft/field_rule.h"
#include "graft/host/graft.h"

/* Sets members for a class's declaration: interface, flags, its own and inherited slots, conversions. */
void graft_inspect_class(struct graft_writer *writer, graft_json *object, const struct graft_class *cls);

/* Sets the model families that a plugin declares. */
void graft_inspect_families(struct graft_writer *writer, graft_json *object, const struct graft_plugin *descriptor);

/* An array of field rules of a family or a plugin (graft/field_rule.h). */
graft_json *graft_inspect_rules(struct graft_writer *writer, const struct graft_field_rule *rules, int32_t n,
                                uint32_t stride);

/* Sets members for a module as its model has built it: arguments, parameters, attributes, states, children. */
void graft_inspect_module(struct graft_writer *writer, graft_json *object, const struct graft_named_module *module);

/* Sets the key of a replacement and where it applies. */
void graft_inspect_key(struct graft_writer *writer, graft_json *object, const struct graft_replacement *replacement);

/* Whether the key of a replacement matches the class. Basic classes are matched by their exact name only. */
int graft_inspect_hits(const struct graft_replacement *replacement, const struct graft_class *cls);

/* All classes of a library, and the families that declare them. */
struct graft_inspected_classes {
    struct graft_class_info *items;
    size_t n;
    struct graft_family_info *families;
    size_t n_families;
};

/* Whether the key of a replacement matches a class of `classes` that some family declares which the replacement does
 * not exclude. */
int graft_inspect_reaches(const struct graft_replacement *replacement, const struct graft_inspected_classes *classes,
                          const struct graft_class *cls);

/* The declaration of a plugin as an object. `model` (or NULL) was opened with the plugin. */
graft_json *graft_inspect_plugin(struct graft_writer *writer, const struct graft_plugin_info *plugin,
                                 const struct graft_inspected_classes *classes, const struct graft_model *model);

/* The modules of a model that have one class. */
struct graft_inspected {
    const struct graft_named_module *first;
    int64_t modules;
};

/* Finds the modules of a class or, if `replacement` is not NULL, those of the class that it replaced. */
struct graft_inspected graft_inspect_find(const struct graft_model *model, const char *class_name,
                                          const struct graft_class *replacement);

#endif
