/* SPDX-License-Identifier: Apache-2.0 */
/* The documents of `inspect`, piece by piece: shared by its units. */
#ifndef GRAFT_CLI_COMMANDS_INSPECT_H
#define GRAFT_CLI_COMMANDS_INSPECT_H

#include "base/json_writer.h"
#include "graft/field_rule.h"
#include "graft/host/graft.h"

/* Sets what a class declares: interface, flags, what it brings itself and what it inherits, conversions. */
void graft_inspect_class(struct graft_writer *writer, graft_json *object, const struct graft_class *cls);

/* Sets the model families that a plugin declares. */
void graft_inspect_families(struct graft_writer *writer, graft_json *object, const struct graft_plugin *descriptor);

/* Rules for fields, of a family or a plugin (graft/field_rule.h). */
graft_json *graft_inspect_rules(struct graft_writer *writer, const struct graft_field_rule *rules, int32_t n,
                                uint32_t stride);

/* Sets what the class of a module is in its model: arguments, parameters, attributes, states, children. */
void graft_inspect_module(struct graft_writer *writer, graft_json *object, const struct graft_named_module *module);

/* Sets the key of a replacement and where it applies. */
void graft_inspect_key(struct graft_writer *writer, graft_json *object, const struct graft_replacement *replacement);

/* Whether the key of a replacement hits the class. Basic classes are reached by their exact name only. */
int graft_inspect_hits(const struct graft_replacement *replacement, const struct graft_class *cls);

/* The classes of a library, and the families that have them. */
struct graft_inspected_classes {
    struct graft_class_info *items;
    size_t n;
    struct graft_family_info *families;
    size_t n_families;
};

/* The same of one of these: 0, too, where it is of families that the replacement is not for. */
int graft_inspect_reaches(const struct graft_replacement *replacement, const struct graft_inspected_classes *classes,
                          const struct graft_class *cls);

/* What a plugin declares. `model` (NULL: none) was opened with it. */
graft_json *graft_inspect_plugin(struct graft_writer *writer, const struct graft_plugin_info *plugin,
                                 const struct graft_inspected_classes *classes, const struct graft_model *model);

/* Modules of a model that are alike. */
struct graft_inspected {
    const struct graft_named_module *first;
    int64_t modules;
};

/* The modules of a class; with `replacement`, those of the class that it replaced. */
struct graft_inspected graft_inspect_find(const struct graft_model *model, const char *class_name,
                                          const struct graft_class *replacement);

#endif
