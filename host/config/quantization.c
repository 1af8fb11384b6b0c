/* SPDX-License-Identifier: Apache-2.0 */
#include "config/quantization.h"

#include <stdio.h>

#include "base/fail.h"

const char *graft_quantization_field(const struct graft_config *config) {
    static const char *const fields[] = {"quantization_config", "text_config.quantization_config",
                                         "vision_config.quantization_config"};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (graft_config_has(config, fields[i])) {
            return fields[i];
        }
    }
    return NULL;
}

enum { METHOD_PATH = 64 };

static void method_path(const char *field, char path[METHOD_PATH]) {
    (void)snprintf(path, METHOD_PATH, "%s.quant_method", field);
}

const char *graft_quantization_method(const struct graft_config *config) {
    const char *field = graft_quantization_field(config);
    char path[METHOD_PATH];
    if (field == NULL) {
        return NULL;
    }
    method_path(field, path);
    return config->string(config->data, path);
}

int graft_quantization_check(const struct graft_config *config, int (*handles)(const void *data, const char *method),
                             const void *data, struct graft_error *error) {
    const char *field = graft_quantization_field(config), *method = NULL;
    char path[METHOD_PATH];
    if (field == NULL) {
        return GRAFT_OK;
    }
    if (config->kind(config->data, field) != GRAFT_FIELD_OBJECT) {
        return graft_config_expected(config, field, "an object", error);
    }
    method_path(field, path);
    int status = graft_config_string(config, path, &method, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (method == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: missing, expected a string", path);
    }
    if (handles(data, method)) {
        return GRAFT_OK;
    }
    (void)graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                          "%s: no plugin here reads weights of quant_method \"%.100s\"", field, method);
    graft_error_hint(error, "load a plugin that does, or the unquantized model");
    return GRAFT_ERROR_MODEL;
}
