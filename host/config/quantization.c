/* SPDX-License-Identifier: Apache-2.0 */
#include "config/quantization.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
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

/* The method in lower case, which the caller frees; NULL if it is in lower case already. Sets `*failed` if memory ran
 * out. */
static char *respell(const char *method, int *failed) {
    char *lower = graft_strdup(method);
    *failed = lower == NULL;
    for (char *at = lower; at != NULL && *at != '\0'; at++) {
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
    }
    if (lower != NULL && strcmp(lower, method) == 0) {
        graft_free(lower);
        return NULL;
    }
    return lower;
}

static int is_true(const graft_json *object, const char *name) {
    const graft_json *value = graft_json_get(object, name);
    return graft_json_type(value) == GRAFT_JSON_BOOL && graft_json_bool(value);
}

static int spell_one(graft_json *quantization, struct graft_error *error) {
    static const char field[] = "quant_method";
    const graft_json *value = graft_json_get(quantization, field);
    const char *method = graft_json_string(value, NULL);
    int failed = 0;
    char *lower = method != NULL ? respell(method, &failed) : NULL;
    if (value == NULL && (is_true(quantization, "load_in_4bit") || is_true(quantization, "load_in_8bit"))) {
        failed = graft_json_set_take(quantization, field, graft_json_new_string("bitsandbytes")) != 0;
    } else if (lower != NULL) {
        failed = graft_json_set_take(quantization, field, graft_json_new_string(lower)) != 0;
    }
    graft_free(lower);
    return failed ? graft_fail_memory(error, "config.json") : GRAFT_OK;
}

int graft_quantization_spell(graft_json *document, struct graft_error *error) {
    static const char *const parts[] = {NULL, "text_config", "vision_config"};
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == GRAFT_OK; i++) {
        const graft_json *part = parts[i] != NULL ? graft_json_get(document, parts[i]) : document;
        const graft_json *quantization = graft_json_get(part, "quantization_config");
        if (graft_json_type(quantization) == GRAFT_JSON_OBJECT) {
            status = spell_one((graft_json *)(uintptr_t)quantization, error);
        }
    }
    return status;
}
