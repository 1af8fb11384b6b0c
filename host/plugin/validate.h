/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a plugin's descriptor can be used: every field, before anything in it is called. It guards against mistakes,
 * not malice: the plugin's code has run already, and a pointer to nowhere cannot be told.
 *
 * A struct has to be as large as in version 1.0; so what that had may be read of a valid plugin without asking.
 *
 * All functions are [any]. Errors name the file, the path of the field, what was expected and what is there.
 */
#ifndef GRAFT_PLUGIN_VALIDATE_H
#define GRAFT_PLUGIN_VALIDATE_H

#include "graft/field_rule.h"
#include "graft/fusion.h"
#include "graft/plugin.h"
#include "graft/quantization.h"
#include "plugin/check.h"

/* The head of the root struct, its size and the plugin's id: what one must know before reading on, or before saying
 * that this plugin is not wanted. */
int graft_plugin_validate_identity(const char *file, const struct graft_plugin *plugin, struct graft_error *error);

/* The rest, of a plugin whose identity is valid. */
int graft_plugin_validate_content(const char *file, const struct graft_plugin *plugin, struct graft_error *error);

/* A class at `place`, whose struct_size was not looked at yet. In a replacement some fields may be NULL: inherited. */
int graft_class_validate(const struct graft_place *place, const struct graft_class *class, int is_replacement,
                         struct graft_error *error);

/* A replacement at `place`, whose struct_size was. */
int graft_replacement_validate(const struct graft_place *place, const struct graft_replacement *replacement,
                               struct graft_error *error);

/* Its conditions. */
int graft_conditions_validate(const struct graft_place *place, const struct graft_replacement *replacement,
                              struct graft_error *error);

/* What it offers by name: attention and experts implementations, kernels. */
int graft_implementations_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                   struct graft_error *error);

/* The extensions that it requires, uses and offers. */
int graft_extensions_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                              struct graft_error *error);

/* The options that users may choose. */
int graft_options_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                           struct graft_error *error);

/* A conversion at `place`, whose struct_size was. */
int graft_conversion_validate(const struct graft_place *place, const struct graft_conversion *conversion,
                              struct graft_error *error);

/* A custom operation at `place`, whose struct_size was not looked at yet; those that the descriptor lists. */
int graft_custom_operation_validate(const struct graft_place *place, const struct graft_custom_operation *custom,
                                    struct graft_error *error);
int graft_custom_operations_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                     struct graft_error *error);

/* The chains of modules that it offers to run. */
int graft_chains_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                          struct graft_error *error);

/* A list of rules for fields, of a family or a plugin at `place`. */
int graft_field_rules_validate(const struct graft_place *place, const struct graft_field_rule *rules, int32_t n,
                               uint32_t stride, struct graft_error *error);

/* The formats that it can quantize to. */
int graft_quantizations_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                 struct graft_error *error);

/* The model families that it brings. */
int graft_families_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                            struct graft_error *error);

/* Its fusion families; one at `place`, whose struct_size was not looked at yet. */
int graft_fusion_families_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                   struct graft_error *error);
int graft_fusion_validate(const struct graft_place *place, const struct graft_fusion_family *family,
                          struct graft_error *error);

#endif
