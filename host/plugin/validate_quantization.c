/* SPDX-License-Identifier: Apache-2.0 */
/* Validates the formats to which a plugin can quantize (graft/quantization.h). */
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "plugin/validate.h"

enum { MAX_FORMATS = 256, MAX_TENSORS = 16, MAX_NAME = 64, MAX_CONFIG = 1 << 16 };

static int validate_name(const struct graft_place *place, const char *name, struct graft_error *error) {
    int status = graft_check_text(place, "name", name, MAX_NAME, error);
    return status == GRAFT_OK && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name)
               ? graft_check_failed(place, "name", error, "expected small letters, digits and '_', got \"%s\"", name)
               : status;
}

static int reads(const struct graft_plugin *plugin, const char *method) {
    for (size_t i = 0; plugin->quant_methods != NULL && plugin->quant_methods[i] != NULL; i++) {
        if (strcmp(plugin->quant_methods[i], method) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Validates the config of a format: an object whose quant_method the plugin reads. */
static int validate_config(const struct graft_place *place, const struct graft_plugin *plugin, const char *config,
                           struct graft_error *error) {
    graft_json *document = NULL;
    struct graft_error cause = graft_error_none();
    if (config == NULL || strlen(config) > MAX_CONFIG) {
        return graft_check_failed(place, "config", error, "expected a JSON object, got %s",
                                  config == NULL ? "NULL" : "a longer text than 65536 bytes");
    }
    int status = graft_json_parse(config, strlen(config), "config", &document, &cause);
    if (status == GRAFT_ERROR_INTERNAL) {
        return graft_fail_memory(error, "config"); /* not the plugin's fault */
    }
    if (status != GRAFT_OK) {
        return graft_check_failed(place, "config", error, "%s", cause.message);
    }
    const char *method = graft_json_string(graft_json_get(document, "quant_method"), NULL);
    if (method == NULL || !reads(plugin, method)) {
        status = graft_check_failed(place, "config", error,
                                    "expected a quant_method that is one of the plugin's quant_methods, got \"%s\"",
                                    method != NULL ? method : "");
    }
    graft_json_free(document);
    return status;
}

/* Validates a list, which must not be missing. */
static int validate_list(const struct graft_place *place, const char *field, const char *const *names,
                         struct graft_error *error) {
    size_t n = 0;
    int status = graft_check_names(place, field, names, error);
    while (status == GRAFT_OK && names != NULL && names[n] != NULL && n <= MAX_TENSORS) {
        n++;
    }
    return status == GRAFT_OK && (n == 0 || n > MAX_TENSORS)
               ? graft_check_failed(place, field, error, "expected 1 to %d names", MAX_TENSORS)
               : status;
}

static int validate(const struct graft_place *place, const struct graft_plugin *plugin,
                    const struct graft_quantization *format, struct graft_error *error) {
    int status = validate_name(place, format->name, error);
    if (status == GRAFT_OK && (format->group_size < 0 || format->row_step < 1)) {
        status = graft_check_failed(place, format->group_size < 0 ? "group_size" : "row_step", error,
                                    "expected %d or more", format->group_size < 0 ? 0 : 1);
    }
    if (status == GRAFT_OK) {
        status = graft_check_flags(place, format->flags, GRAFT_QUANTIZATION_EXPERTS, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_zero(place, "reserved", format->reserved, error);
    }
    if (status == GRAFT_OK) {
        status = validate_config(place, plugin, format->config, error);
    }
    if (status == GRAFT_OK && format->left_out != NULL) {
        status = graft_check_text(place, "left_out", format->left_out, GRAFT_MAX_NAME, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_class_name(place, "module", format->module, error);
    }
    if (status == GRAFT_OK) {
        status = validate_list(place, "weights", format->weights, error);
    }
    if (status == GRAFT_OK) {
        status = validate_list(place, "tensors", format->tensors, error);
    }
    return status == GRAFT_OK && (format->shape == NULL || format->quantize == NULL)
               ? graft_check_failed(place, format->shape == NULL ? "shape" : "quantize", error, "is NULL")
               : status;
}

int graft_quantizations_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                 struct graft_error *error) {
    const struct graft_array array = {"quantizations",       "n_quantizations",           "quantization_stride",
                                      plugin->quantizations, plugin->n_quantizations,     0,
                                      MAX_FORMATS,           plugin->quantization_stride, GRAFT_QUANTIZATION_SIZE_1_0};
    int status = graft_check_array(place, &array, error);
    for (int32_t i = 0; i < plugin->n_quantizations && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "quantizations", .index = i};
        status = validate(&element, plugin, graft_plugin_quantization(plugin, i), error);
    }
    return status;
}
