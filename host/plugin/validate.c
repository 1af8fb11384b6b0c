/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/validate.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "graft/parallel.h"
#include "plugin/host_services.h"

enum { MAX_ID = 64, MAX_ELEMENTS = 4096 };

/* Adds "abi_major: expected 0, got 1; " if a field of the head is wrong. */
static void tell_difference(struct graft_text *text, int fits, const char *field, const char *expected, uint32_t bound,
                            uint32_t got) {
    if (!fits) {
        graft_text_printf(text, "%s%s: expected %s%u, got %u", text->length > 0 ? "; " : "", field, expected,
                          (unsigned)bound, (unsigned)got);
    }
}

static int validate_magic(const struct graft_place *place, const struct graft_plugin *plugin,
                          struct graft_error *error) {
    static const char magic[sizeof plugin->magic] = GRAFT_PLUGIN_MAGIC;
    if (memcmp(plugin->magic, magic, sizeof magic) == 0) {
        return GRAFT_OK;
    }
    char got[2 * sizeof magic + 1];
    for (size_t i = 0; i < sizeof magic; i++) {
        (void)snprintf(got + 2 * i, 3, "%02x", (unsigned)(unsigned char)plugin->magic[i]);
    }
    return graft_check_failed(place, "magic", error, "expected 4752414654504c0a (\"GRAFTPL\\n\"), got %s", got);
}

/* Validates the head. A plugin may be newer than the host if it needs nothing that the host lacks. */
static int validate_head(const struct graft_place *place, const struct graft_plugin *plugin,
                         struct graft_error *error) {
    struct graft_text differences = {0};
    tell_difference(&differences, plugin->abi_major == GRAFT_ABI_MAJOR, "abi_major", "", GRAFT_ABI_MAJOR,
                    plugin->abi_major);
    tell_difference(&differences, plugin->abi_minor_needed <= GRAFT_ABI_MINOR, "abi_minor_needed", "at most ",
                    GRAFT_ABI_MINOR, plugin->abi_minor_needed);
    int same_abi = differences.length == 0;
    tell_difference(&differences, plugin->pointer_size == sizeof(void *), "pointer_size", "", sizeof(void *),
                    plugin->pointer_size);
    int fits_otherwise = differences.length == 0; /* if not, one reason is enough */
    tell_difference(&differences, !fits_otherwise || plugin->abi_released == GRAFT_ABI_RELEASED, "abi_released", "",
                    GRAFT_ABI_RELEASED, plugin->abi_released);
    int status = GRAFT_OK;
    if (differences.failed) {
        status = graft_fail_memory(error, place->file);
    } else if (!same_abi) {
        status = graft_check_failed(place, NULL, error, "built for ABI %u.%u, but this host speaks %d.%d: %s",
                                    (unsigned)plugin->abi_major, (unsigned)plugin->abi_minor_built, GRAFT_ABI_MAJOR,
                                    GRAFT_ABI_MINOR, differences.bytes);
    } else if (differences.length > 0 && fits_otherwise) {
        status = graft_check_failed(place, NULL, error,
                                    "built with headers of ABI %d.x that are not those of its release: %s",
                                    GRAFT_ABI_MAJOR, differences.bytes);
    } else if (differences.length > 0) {
        status = graft_check_failed(place, NULL, error, "%s", differences.bytes);
    }
    graft_text_free(&differences);
    return status;
}

static int validate_id(const struct graft_place *place, const char *id, struct graft_error *error) {
    int status = graft_check_text(place, "id", id, MAX_ID, error);
    if (status == GRAFT_OK && id[strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_.-")] != '\0') {
        status = graft_check_failed(place, "id", error, "expected only a-z, 0-9, '_', '.' and '-', got \"%s\"", id);
    }
    return status;
}

int graft_plugin_validate_identity(const char *file, const struct graft_plugin *plugin, struct graft_error *error) {
    const struct graft_place place = {.file = file, .index = -1};
    int status = validate_magic(&place, plugin, error);
    if (status == GRAFT_OK) {
        /* the version is checked first, if the struct has it, since the size of another version's struct means
         * nothing */
        status = graft_check_size(&place, plugin->struct_size, offsetof(struct graft_plugin, id), error);
    }
    if (status == GRAFT_OK) {
        status = validate_head(&place, plugin, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_size(&place, plugin->struct_size, GRAFT_PLUGIN_SIZE_1_0, error);
    }
    if (status != GRAFT_OK) {
        graft_error_hint(error,
                         "rebuild it with the headers of this host (graft %s); GRAFT_PLUGIN_HEADER fills these in",
                         graft_host_get()->version);
        return status;
    }
    status = validate_id(&place, plugin->id, error);
    if (status == GRAFT_OK) {
        status = graft_check_flags(&place, graft_plugin_flags(plugin), GRAFT_PLUGIN_GUARDS_STATICS, error);
    }
    if (status == GRAFT_OK && GRAFT_HAS(plugin, struct graft_plugin, reserved_later)) {
        status = graft_check_zero(&place, "reserved_later", plugin->reserved_later, error);
    }
    graft_error_hint(error, "graft/plugin.h says what the descriptor must hold");
    return status;
}

static int validate_target(const struct graft_place *place, const struct graft_replacement *replacement,
                           struct graft_error *error) {
    if (replacement->key == GRAFT_KEY_PATTERN) {
        return graft_check_pattern(place, "target", replacement->target, error);
    }
    if (replacement->key != GRAFT_KEY_NAME) {
        return graft_check_failed(place, "key", error, "expected GRAFT_KEY_NAME (%d) or GRAFT_KEY_PATTERN (%d), got %d",
                                  GRAFT_KEY_NAME, GRAFT_KEY_PATTERN, (int)replacement->key);
    }
    int status = graft_check_class_name(place, "target", replacement->target, error);
    graft_error_hint(error, "a regular expression needs the key GRAFT_KEY_PATTERN");
    return status;
}

int graft_replacement_validate(const struct graft_place *place, const struct graft_replacement *replacement,
                               struct graft_error *error) {
    int status = validate_target(place, replacement, error);
    if (status == GRAFT_OK && replacement->module_path != NULL) {
        status = graft_check_pattern(place, "module_path", replacement->module_path, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_names(place, "model_types", replacement->model_types, error);
    }
    if (status == GRAFT_OK && replacement->group != NULL) {
        status = graft_check_text(place, "group", replacement->group, GRAFT_MAX_NAME, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_flags(place, replacement->flags, GRAFT_REPLACEMENT_ON_REQUEST, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_zero(place, "reserved", replacement->reserved, error);
    }
    if (status == GRAFT_OK && (replacement->flags & GRAFT_REPLACEMENT_WHERE_IT_FITS) != 0 &&
        replacement->key != GRAFT_KEY_PATTERN) {
        status = graft_check_failed(place, "flags", error,
                                    "GRAFT_REPLACEMENT_WHERE_IT_FITS is set, but the key is not a pattern");
    }
    if (status == GRAFT_OK) {
        status = graft_conditions_validate(place, replacement, error);
    }
    if (status == GRAFT_OK && replacement->replacement == NULL) {
        status = graft_check_failed(place, "replacement", error, "expected a class, got NULL");
    }
    if (status == GRAFT_OK) {
        const struct graft_place inner = {.parent = place, .field = "replacement", .index = -1};
        status = graft_class_validate(&inner, replacement->replacement, 1, error);
    }
    return status;
}

static int validate_replacements(const struct graft_place *place, const struct graft_plugin *plugin,
                                 struct graft_error *error) {
    const struct graft_array array = {"replacements",       "n_replacements",           "replacement_stride",
                                      plugin->replacements, plugin->n_replacements,     0,
                                      MAX_ELEMENTS,         plugin->replacement_stride, GRAFT_REPLACEMENT_SIZE_1_0};
    int status = graft_check_array(place, &array, error);
    for (int32_t i = 0; i < plugin->n_replacements && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "replacements", .index = i};
        status = graft_replacement_validate(&element,
                                            graft_array_at(plugin->replacements, plugin->replacement_stride, i), error);
    }
    return status;
}

static int validate_parallel(const struct graft_place *place, const struct graft_parallel_provider *provider,
                             struct graft_error *error) {
    const struct graft_place inner = {.parent = place, .field = "parallel", .index = -1};
    if (provider == NULL) {
        return GRAFT_OK;
    }
    int status = graft_check_size(&inner, provider->struct_size, GRAFT_PARALLEL_PROVIDER_SIZE_1_0, error);
    if (status == GRAFT_OK && (provider->start == NULL || provider->stop == NULL)) {
        status = graft_check_failed(&inner, provider->start == NULL ? "start" : "stop", error,
                                    "expected a function, got NULL");
    }
    return status;
}

static int validate_classes(const struct graft_place *place, const struct graft_plugin *plugin,
                            struct graft_error *error) {
    const struct graft_array array = {"classes",       "n_classes",          "class_stride",
                                      plugin->classes, plugin->n_classes,    0,
                                      MAX_ELEMENTS,    plugin->class_stride, GRAFT_CLASS_SIZE_1_0};
    int status = graft_check_array(place, &array, error);
    for (int32_t i = 0; i < plugin->n_classes && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "classes", .index = i};
        const struct graft_class *class = graft_array_at(plugin->classes, plugin->class_stride, i);
        status = graft_class_validate(&element, class, 0, error);
        for (int32_t k = 0; k < i && status == GRAFT_OK; k++) {
            const struct graft_class *other = graft_array_at(plugin->classes, plugin->class_stride, k);
            if (strcmp(class->name, other->name) == 0) {
                status = graft_check_failed(&element, "name", error, "\"%s\" is also the name of classes[%d]",
                                            class->name, (int)k);
            }
        }
    }
    return status;
}

int graft_plugin_validate_content(const char *file, const struct graft_plugin *plugin, struct graft_error *error) {
    const struct graft_place place = {.file = file, .index = -1};
    int status = graft_check_text(&place, "version", plugin->version, GRAFT_MAX_NAME, error);
    if (status == GRAFT_OK) {
        status = graft_check_text(&place, "license", plugin->license, GRAFT_MAX_NAME, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_text(&place, "description", plugin->description, GRAFT_MAX_LINE, error);
    }
    if (status == GRAFT_OK) {
        status = graft_extensions_validate(&place, plugin, error);
    }
    if (status == GRAFT_OK) {
        status = validate_replacements(&place, plugin, error);
    }
    if (status == GRAFT_OK) {
        status = validate_classes(&place, plugin, error);
    }
    if (status == GRAFT_OK) {
        status = graft_families_validate(&place, plugin, error);
    }
    if (status == GRAFT_OK) {
        status = graft_fusion_families_validate(&place, plugin, error);
    }
    if (status == GRAFT_OK) {
        status = graft_chains_validate(&place, plugin, error);
    }
    if (status == GRAFT_OK) {
        status = graft_custom_operations_validate(&place, plugin, error);
    }
    if (status == GRAFT_OK) {
        status = graft_implementations_validate(&place, plugin, error);
    }
    if (status == GRAFT_OK) {
        status = graft_options_validate(&place, plugin, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_names(&place, "quant_methods", plugin->quant_methods, error);
    }
    if (status == GRAFT_OK && graft_plugin_n_field_rules(plugin) != 0) {
        status = graft_field_rules_validate(&place, plugin->field_rules, plugin->n_field_rules,
                                            plugin->field_rule_stride, error);
    }
    if (status == GRAFT_OK && graft_plugin_n_quantizations(plugin) != 0) {
        status = graft_quantizations_validate(&place, plugin, error);
    }
    if (status == GRAFT_OK) {
        status = validate_parallel(&place, plugin->parallel, error);
    }
    if (status != GRAFT_OK) {
        graft_error_hint(error, "graft/plugin.h says what the descriptor must hold");
    }
    return status;
}
