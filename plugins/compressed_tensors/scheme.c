/* SPDX-License-Identifier: Apache-2.0 */
#include "scheme.h"

#include <stdio.h>
#include <string.h>

#include "graft/packed_rows.h"

enum { MAX_FIELD = 320, MAX_KEY = 128, MAX_PATTERN = 1024 };

/* One of config_groups. */
struct group {
    const struct graft_config *config;
    char path[MAX_FIELD / 2]; /* of its object */
};

/* The path of one of a group's fields, in `path`, which is returned. */
static const char *field(const struct group *group, const char *name, char path[MAX_FIELD]) {
    (void)snprintf(path, MAX_FIELD, "%s.%s", group->path, name);
    return path;
}

static int unread(const struct graft_config *config, const char *path, const char *expected, const char *got,
                  struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got \"%s\"", path, expected, got);
}

int32_t ct_is_packed(const struct ct_scheme *scheme) {
    return scheme->kind == GRAFT_ROW_KIND_UINT4 || scheme->kind == GRAFT_ROW_KIND_UINT8;
}

int32_t ct_bits(const struct ct_scheme *scheme) {
    return scheme->kind == GRAFT_ROW_KIND_UINT4 ? 4 : 8;
}

/* --- What concerns all modules --- */

/* A field that asks for more than weights in groups has to be absent, null or empty. */
static int check_absent(const struct graft_config *config, const char *path, struct graft_error *error) {
    return graft_config_has(config, path) && config->size(config->data, path) > 0
               ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: not read by this plugin", path)
               : GRAFT_OK;
}

static int check_model(const struct graft_config *config, struct graft_error *error) {
    static const char sparsity_field[] = "quantization_config.sparsity_config.format";
    const char *sparsity = "dense";
    int status = check_absent(config, "quantization_config.kv_cache_scheme", error);
    if (status == GRAFT_OK) {
        status = check_absent(config, "quantization_config.transform_config", error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_string(config, sparsity_field, &sparsity, error);
    }
    return status == GRAFT_OK && strcmp(sparsity, "dense") != 0
               ? unread(config, sparsity_field, "\"dense\"", sparsity, error)
               : status;
}

/* --- Which group --- */

/* Whether a target is the module's name, or a pattern that its name begins with. */
static int match_name(const struct graft_config *config, const struct graft_regexes *regexes, const char *target,
                      const char *path, int32_t *found, struct graft_error *error) {
    char pattern[MAX_PATTERN];
    if (strncmp(target, "re:", 3) != 0) {
        *found = strcmp(target, path) == 0;
        return GRAFT_OK;
    }
    if (snprintf(pattern, sizeof pattern, "^(?:%s)", target + 3) >= (int)sizeof pattern) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "quantization_config.config_groups: a target is longer than %d characters",
                               MAX_PATTERN - 8);
    }
    return regexes->search(pattern, path, config->file, found, error);
}

/* Whether one of a group's targets means the module: by its name or by its class. */
static int match_group(const struct group *group, const struct graft_regexes *regexes, const char *path, int by_name,
                       int32_t *found, struct graft_error *error) {
    const struct graft_config *config = group->config;
    char targets[MAX_FIELD], place[MAX_FIELD + 24];
    const int64_t n = config->size(config->data, field(group, "targets", targets));
    int status = GRAFT_OK;
    for (int64_t i = 0; i < n && !*found && status == GRAFT_OK; i++) {
        (void)snprintf(place, sizeof place, "%s.%lld", targets, (long long)i);
        const char *target = config->string(config->data, place);
        if (target == NULL) {
            status = graft_config_expected(config, place, "a string", error);
        } else if (by_name) {
            status = match_name(config, regexes, target, path, found, error);
        } else {
            *found = strcmp(target, "Linear") == 0;
        }
    }
    return status;
}

/* Names go before classes, and the first group that has one is it. */
static int find_group(const struct graft_config *config, const struct graft_regexes *regexes, const char *path,
                      struct group *group, struct graft_error *error) {
    static const char groups[] = "quantization_config.config_groups";
    int32_t found = 0;
    int status = GRAFT_OK;
    group->config = config;
    for (int by_name = 1; by_name >= 0; by_name--) {
        const char *key;
        for (int64_t i = 0; (key = config->key(config->data, groups, i)) != NULL && status == GRAFT_OK; i++) {
            if (strlen(key) < MAX_KEY / 2 && strpbrk(key, ".#") == NULL) {
                (void)snprintf(group->path, sizeof group->path, "%s.%.*s", groups, MAX_KEY / 2, key);
            } else {
                (void)snprintf(group->path, sizeof group->path, "%s.#%lld", groups, (long long)i);
            }
            status = match_group(group, regexes, path, by_name, &found, error);
            if (status == GRAFT_OK && found) {
                return GRAFT_OK;
            }
        }
    }
    return status != GRAFT_OK ? status
                              : graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                                "%s: no target is \"%s\", which has quantized weights", groups, path);
}

/* --- How it is stored --- */

static int read_codes(const struct group *group, struct ct_scheme *scheme, struct graft_error *error) {
    static const char common[] = "quantization_config.format";
    const struct graft_config *config = group->config;
    char own[MAX_FIELD], path[MAX_FIELD];
    const char *place = graft_config_has(config, field(group, "format", own)) ? own : common;
    const char *format = "", *type = "int";
    int64_t bits = 0;
    int status = graft_config_string(config, place, &format, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, field(group, "weights.num_bits", path), 1, 64, &bits, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_string(config, field(group, "weights.type", path), &type, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const int is_naive = strcmp(format, "naive-quantized") == 0; /* a code in a byte, of whatever type and bits */
    const int is_packed = strcmp(format, "pack-quantized") == 0;
    const int is_float = strcmp(format, "float-quantized") == 0 || (is_naive && strcmp(type, "float") == 0);
    if (!is_packed && !is_float && !is_naive && strcmp(format, "int-quantized") != 0) {
        return unread(config, place,
                      "\"pack-quantized\", \"int-quantized\", \"float-quantized\" or \"naive-quantized\"", format,
                      error);
    }
    if (strcmp(type, is_float ? "float" : "int") != 0) {
        return unread(config, path, is_float ? "\"float\"" : "\"int\"", type, error);
    }
    if (bits != 8 && (bits != 4 || !is_packed) && (bits > 8 || !is_naive || is_float)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got %lld",
                               field(group, "weights.num_bits", path),
                               is_packed               ? "4 or 8"
                               : is_naive && !is_float ? "1 to 8"
                                                       : "8",
                               (long long)bits);
    }
    scheme->kind = is_float     ? GRAFT_ROW_KIND_FLOAT8
                   : !is_packed ? GRAFT_ROW_KIND_INT8
                   : bits == 4  ? GRAFT_ROW_KIND_UINT4
                                : GRAFT_ROW_KIND_UINT8;
    return GRAFT_OK;
}

static int read_sizes(const struct group *group, struct ct_scheme *scheme, struct graft_error *error) {
    const struct graft_config *config = group->config;
    char path[MAX_FIELD], place[MAX_FIELD + 4];
    int status = GRAFT_OK;
    if (scheme->strategy == CT_GROUP) {
        return graft_config_need_int(config, field(group, "weights.group_size", path), 1, INT32_MAX,
                                     &scheme->group_size, error);
    }
    (void)field(group, "weights.block_structure", path);
    for (int i = 0; scheme->strategy == CT_BLOCK && i < 2 && status == GRAFT_OK; i++) {
        (void)snprintf(place, sizeof place, "%s.%d", path, i);
        status = graft_config_need_int(config, place, 1, INT32_MAX, &scheme->block[i], error);
    }
    return status;
}

static int read_strategy(const struct group *group, struct ct_scheme *scheme, struct graft_error *error) {
    static const char *const names[] = {"tensor", "channel", "group", "block"};
    const char *name = "";
    char path[MAX_FIELD];
    int status = graft_config_string(group->config, field(group, "weights.strategy", path), &name, error);
    size_t i = 0;
    while (i < sizeof names / sizeof names[0] && strcmp(name, names[i]) != 0) {
        i++;
    }
    if (status == GRAFT_OK && (i == sizeof names / sizeof names[0] || (i == CT_BLOCK && ct_is_packed(scheme)))) {
        status = unread(group->config, path, "\"tensor\", \"channel\", \"group\" or, of weights in bytes, \"block\"",
                        name, error);
    }
    scheme->strategy = (enum ct_strategy)i;
    return status == GRAFT_OK ? read_sizes(group, scheme, error) : status;
}

/* Zero points and an order of inputs, which packed codes in groups may have. */
static int read_extras(const struct group *group, struct ct_scheme *scheme, struct graft_error *error) {
    const struct graft_config *config = group->config;
    char path[MAX_FIELD];
    const char *order = "weight";
    int32_t is_symmetric = 1;
    int status = graft_config_bool(config, field(group, "weights.symmetric", path), &is_symmetric, error);
    if (status == GRAFT_OK && !is_symmetric && (!ct_is_packed(scheme) || scheme->strategy == CT_TENSOR)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "%s: false is read of packed weights with scales for rows or groups only", path);
    }
    if (status == GRAFT_OK) {
        status = graft_config_string(config, field(group, "weights.actorder", path), &order, error);
    }
    scheme->is_asymmetric = !is_symmetric;
    scheme->is_ordered = strcmp(order, "group") == 0;
    return status == GRAFT_OK && strcmp(order, "weight") != 0 &&
                   (!scheme->is_ordered || !ct_is_packed(scheme) || scheme->strategy != CT_GROUP)
               ? unread(config, path, "\"weight\" or, of packed weights in groups, \"group\"", order, error)
               : status;
}

int ct_scheme_read(const struct graft_config *config, const struct graft_regexes *regexes, const char *path,
                   struct ct_scheme *scheme, struct graft_error *error) {
    struct group group;
    char place[MAX_FIELD];
    int32_t is_dynamic = 0;
    int status = check_model(config, error);
    if (status == GRAFT_OK) {
        status = find_group(config, regexes, path, &group, error);
    }
    if (status == GRAFT_OK) {
        status = read_codes(&group, scheme, error);
    }
    if (status == GRAFT_OK) {
        status = read_strategy(&group, scheme, error);
    }
    if (status == GRAFT_OK) {
        status = read_extras(&group, scheme, error);
    }
    if (status == GRAFT_OK && graft_config_has(config, field(&group, "input_activations", place))) {
        status = graft_config_bool(config, field(&group, "input_activations.dynamic", place), &is_dynamic, error);
        scheme->has_input_scale = !is_dynamic;
    }
    return status;
}
