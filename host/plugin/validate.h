/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validates every field of a plugin's descriptor before anything in it is called. This guards against mistakes, not
 * malice: the plugin's code has run already, and an invalid pointer cannot be detected.
 *
 * A struct must be at least as large as in version 1.0, so that members of that version can be read from a valid plugin
 * without further checks.
 *
 * All functions are [any]. Errors name the file, the path of the field, what was expected and what was found.
 */
#ifndef GRAFT_PLUGIN_VALIDATE_H
#define GRAFT_PLUGIN_VALIDATE_H

#include "graft/field_rule.h"
#include "graft/fusion.h"
#include "graft/plugin.h"
#include "graft/quantization.h"
#include "plugin/check.h"

/* Validates the head of the root struct, its size and the plugin's id, which are needed before reading on or deciding
 * that the plugin is not wanted. */
int graft_plugin_validate_identity(const char *file, const struct graft_plugin *plugin, struct graft_error *error);

/* Validates the rest of a plugin whose identity is valid. */
int graft_plugin_validate_content(const char *file, const struct graft_plugin *plugin, struct graft_error *error);

/* Validates a class, including its struct_size. In a replacement some fields may be NULL, which means inherited. */
int graft_class_validate(const struct graft_place *place, const struct graft_class *class, int is_replacement,
                         struct graft_error *error);

/* Validates a replacement, whose struct_size has been checked. */
int graft_replacement_validate(const struct graft_place *place, const struct graft_replacement *replacement,
                               struct graft_error *error);

/* Validates a replacement's conditions. */
int graft_conditions_validate(const struct graft_place *place, const struct graft_replacement *replacement,
                              struct graft_error *error);

/* Validates the implementations that the plugin offers by name. */
int graft_implementations_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                   struct graft_error *error);

/* Validates the extensions that the plugin requires, uses and offers. */
int graft_extensions_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                              struct graft_error *error);

/* Validates the options that users may set. */
int graft_options_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                           struct graft_error *error);

/* Validates a conversion, whose struct_size has been checked. */
int graft_conversion_validate(const struct graft_place *place, const struct graft_conversion *conversion,
                              struct graft_error *error);

/* Validate a custom operation, including its struct_size, and the operations that the descriptor lists. */
int graft_custom_operation_validate(const struct graft_place *place, const struct graft_custom_operation *custom,
                                    struct graft_error *error);
int graft_custom_operations_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                     struct graft_error *error);

/* Validates the chains of modules that the plugin offers to run. */
int graft_chains_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                          struct graft_error *error);

/* Validates a list of rules for fields, of a family or a plugin. */
int graft_field_rules_validate(const struct graft_place *place, const struct graft_field_rule *rules, int32_t n,
                               uint32_t stride, struct graft_error *error);

/* Validates the formats to which the plugin can quantize. */
int graft_quantizations_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                 struct graft_error *error);

/* Validates the plugin's model families. */
int graft_families_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                            struct graft_error *error);

/* Validate the plugin's fusion families, and one fusion family including its struct_size. */
int graft_fusion_families_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                   struct graft_error *error);
int graft_fusion_validate(const struct graft_place *place, const struct graft_fusion_family *family,
                          struct graft_error *error);

#endif
