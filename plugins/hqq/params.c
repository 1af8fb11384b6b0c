/* SPDX-License-Identifier: Apache-2.0 */
#include "params.h"

#include <stdio.h>
#include <string.h>

enum { PLACE = 128, TAG = 160, PATH = 256 };

static const char all_modules[] = "quantization_config.quant_config";

/* Whether HQQ leaves this component of a module's path out of its own name for the module. */
static int is_left_out(const char *part, size_t length) {
    return (length == 5 && strncmp(part, "model", length) == 0) ||
           (length == 6 && strncmp(part, "layers", length) == 0) || strspn(part, "0123456789") >= length;
}

/* HQQ's name for a module: "self_attn.q_proj" for "model.layers.3.self_attn.q_proj". All layers share it. */
static void tag_of(const char *path, char tag[TAG]) {
    size_t at = 0;
    tag[0] = '\0';
    while (*path != '\0') {
        const size_t length = strcspn(path, ".");
        if (!is_left_out(path, length) && at + length + 2 < TAG) {
            at += (size_t)snprintf(tag + at, TAG - at, "%s%.*s", at > 0 ? "." : "", (int)length, path);
        }
        path += path[length] == '.' ? length + 1 : length;
    }
}

/* Writes to `place` the path of the object in config.json that has the parameters of the module `path`. */
static int find_place(const struct graft_config *config, const char *path, char place[PLACE],
                      struct graft_error *error) {
    char tag[TAG];
    const char *key;
    (void)snprintf(place, PLACE, "%s.weight_quant_params", all_modules);
    if (graft_config_has(config, place)) {
        (void)snprintf(place, PLACE, "%s", all_modules);
        return GRAFT_OK;
    }
    tag_of(path, tag);
    for (int64_t i = 0; (key = config->key(config->data, all_modules, i)) != NULL; i++) {
        if (strcmp(key, tag) == 0) {
            (void)snprintf(place, PLACE, "%s.#%lld", all_modules, (long long)i);
            return GRAFT_OK;
        }
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                           "%s: expected \"weight_quant_params\", or an entry for \"%s\" (%s)", all_modules, tag, path);
}

static const char *join(const char *place, const char *name, char path[PATH]) {
    (void)snprintf(path, PATH, "%s.%s", place, name);
    return path;
}

/* Refuses a boolean field that is present and not `expected`. */
static int check_bool(const struct graft_config *config, const char *place, const char *name, int32_t expected,
                      struct graft_error *error) {
    char path[PATH];
    int32_t value = expected;
    graft_config_bool(config, join(place, name, path), &value, error);
    return value != expected ? graft_config_expected(config, path, expected ? "true" : "false", error) : error->code;
}

static int check_null(const struct graft_config *config, const char *place, const char *name,
                      struct graft_error *error) {
    char path[PATH];
    return graft_config_has(config, join(place, name, path)) ? graft_config_expected(config, path, "null", error)
                                                             : GRAFT_OK;
}

/* Refuses other layouts: unquantized weights, combined metadata, scales or zero points that are codes. */
static int check_layout(const struct graft_config *config, const char *place, struct graft_error *error) {
    check_bool(config, place, "weight_quant_params.view_as_float", 0, error);
    check_bool(config, place, "weight_quant_params.channel_wise", 1, error);
    check_bool(config, place, "offload_meta", 0, error);
    check_null(config, place, "scale_quant_params", error);
    check_null(config, place, "zero_quant_params", error);
    return error->code;
}

static int read_groups(const struct graft_config *config, const char *place, struct hqq_params *params,
                       struct graft_error *error) {
    char path[PATH];
    int64_t axis = 1;
    graft_config_need_int(config, join(place, "weight_quant_params.axis", path), 0, 1, &axis, error);
    if (axis != 1) {
        graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                        "%s: expected 1, groups of inputs, got 0, groups of outputs", path);
    }
    params->group_size = params->columns;
    graft_config_int(config, join(place, "weight_quant_params.group_size", path), 1, INT32_MAX, &params->group_size,
                     error);
    return error->code == GRAFT_OK && params->columns % params->group_size != 0
               ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: expected a number that divides %lld inputs, got %lld", path,
                                 (long long)params->columns, (long long)params->group_size)
               : error->code;
}

int hqq_read_params(const struct graft_config *config, const char *path, struct hqq_params *params,
                    struct graft_error *error) {
    char place[PLACE], bits[PATH];
    params->bits = 8;
    find_place(config, path, place, error);
    check_layout(config, place, error);
    graft_config_need_int(config, join(place, "weight_quant_params.nbits", bits), 1, 8, &params->bits, error);
    if (params->bits < 2 || params->bits == 7) {
        graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected 2, 3, 4, 5, 6 or 8, got %lld", bits,
                        (long long)params->bits);
    }
    return read_groups(config, place, params, error);
}
