/* SPDX-License-Identifier: Apache-2.0 */
/* Validates each part of the descriptor separately, so that the report names all parts that are wrong. */
#include "plugin/host_services.h"
#include "plugin/plugin_ref.h"
#include "plugin/validate.h"
#include "validate/entry.h"
#include "validate/validation.h"

static int with_descriptor(struct graft_validation *validation,
                           int (*check)(const struct graft_place *place, const struct graft_plugin *plugin,
                                        struct graft_error *error),
                           struct graft_error *error) {
    const struct graft_plugin *plugin = NULL;
    const struct graft_place place = {.file = validation->file, .index = -1};
    const int is_family = graft_validation_is_family(validation);
    int status = is_family ? graft_validation_descriptor(validation, &plugin, error)
                           : graft_validation_enter(validation, graft_host_get(), &plugin, error);
    if (status == GRAFT_OK) {
        status = graft_plugin_validate_identity(validation->file, plugin, error);
    }
    return status == GRAFT_OK ? check(&place, plugin, error) : status;
}

static int check_entry(struct graft_validation *validation, struct graft_error *error) {
    const struct graft_plugin *plugin = NULL;
    return graft_validation_enter(validation, graft_host_get(), &plugin, error);
}

static int nothing_more(const struct graft_place *place, const struct graft_plugin *plugin, struct graft_error *error) {
    (void)place;
    (void)plugin;
    (void)error;
    return GRAFT_OK;
}

static int check_identity(struct graft_validation *validation, struct graft_error *error) {
    return with_descriptor(validation, nothing_more, error);
}

static int classes(const struct graft_place *place, const struct graft_plugin *plugin, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; plugin->classes != NULL && i < plugin->n_classes && status == GRAFT_OK; i++) {
        const struct graft_place at = {.parent = place, .field = "classes", .index = i};
        status = graft_class_validate(&at, graft_plugin_class(plugin, i), 0, error);
    }
    return status;
}

static int replacements(const struct graft_place *place, const struct graft_plugin *plugin, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; plugin->replacements != NULL && i < plugin->n_replacements && status == GRAFT_OK; i++) {
        const struct graft_place at = {.parent = place, .field = "replacements", .index = i};
        status = graft_replacement_validate(&at, graft_plugin_replacement(plugin, i), error);
    }
    return status;
}

/* A part that the plugin does not have is skipped rather than passed. */
#define PART(name, function, is_there)                                                          \
    static int name##_of(const struct graft_place *place, const struct graft_plugin *plugin,    \
                         struct graft_error *error) {                                           \
        return (is_there) ? function(place, plugin, error) : NOT_THERE;                         \
    }                                                                                           \
    static int name(struct graft_validation *validation, struct graft_error *error) {           \
        int status = with_descriptor(validation, name##_of, error);                             \
        return status == NOT_THERE ? graft_validation_skip(validation, "it has none") : status; \
    }
enum { NOT_THERE = -1 };
PART(check_classes, classes, plugin->n_classes > 0)
PART(check_replacements, replacements, plugin->n_replacements > 0)
PART(check_options, graft_options_validate, plugin->n_options > 0)
PART(check_extensions, graft_extensions_validate,
     plugin->requires_extensions != NULL || plugin->offers_extensions != NULL)
PART(check_implementations, graft_implementations_validate,
     plugin->n_attention_implementations > 0 || plugin->n_experts_implementations > 0 || plugin->n_kernels > 0 ||
         graft_plugin_n_logits_processors(plugin) > 0)
PART(check_operations, graft_custom_operations_validate, plugin->n_custom_operations > 0)
PART(check_families, graft_families_validate, plugin->n_families > 0)
PART(check_fusions, graft_fusion_families_validate, plugin->n_fusion_families > 0)
PART(check_chains, graft_chains_validate, plugin->n_chains > 0)

static int content(const struct graft_place *place, const struct graft_plugin *plugin, struct graft_error *error) {
    return graft_plugin_validate_content(place->file, plugin, error);
}

static int check_content(struct graft_validation *validation, struct graft_error *error) {
    return with_descriptor(validation, content, error);
}

const struct graft_validation_check graft_descriptor_checks[] = {
    GRAFT_OBJECT_CHECK("descriptor.entry", "the entry function returns a descriptor to this host", check_entry),
    GRAFT_CHECK("descriptor.identity", "magic, versions, sizes and id are what this host can read", check_identity),
    GRAFT_CHECK("descriptor.classes", "private classes have valid names, interfaces, flags, vtables and conversions",
                check_classes),
    GRAFT_CHECK("descriptor.replacements", "replacements have valid keys, patterns, paths, conditions and classes",
                check_replacements),
    GRAFT_CHECK("descriptor.options", "options have valid names, kinds, defaults and choices", check_options),
    GRAFT_CHECK("descriptor.extensions", "extensions asked for are known or other plugins', those offered are its own",
                check_extensions),
    GRAFT_CHECK("descriptor.implementations", "attention, experts, kernels and logits processors by name are complete",
                check_implementations),
    GRAFT_CHECK("descriptor.operations", "custom operations are complete", check_operations),
    GRAFT_CHECK("descriptor.families", "model families are complete", check_families),
    GRAFT_CHECK("descriptor.fusions", "fusion families are complete", check_fusions),
    GRAFT_CHECK("descriptor.chains", "chains name known interfaces and have a forward", check_chains),
    GRAFT_CHECK("descriptor.content", "all of it together is valid: no name twice, no list too long", check_content),
    {{0}, NULL, 0},
};
