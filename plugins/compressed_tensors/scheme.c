/* SPDX-License-Identifier: Apache-2.0 */
#include "scheme.h"

#include <stdio.h>
#include <string.h>

#include "graft/codec.h"
#include "graft/quantization_fields.h"

enum { MAX_FIELD = 320, MAX_KEY = 128, MAX_PATTERN = 1024 };

/* A member of config_groups. */
struct group {
    const struct graft_config *config;
    char path[MAX_FIELD / 2]; /* path of its object */
};

/* Writes the path of one of a group's fields to `path`, and returns it. */
static const char *field(const struct group *group, const char *name, char path[MAX_FIELD]) {
    (void)snprintf(path, MAX_FIELD, "%s.%s", group->path, name);
    return path;
}

static int unread(const struct graft_config *config, const char *path, const char *expected, const char *got,
                  struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got \"%s\"", path, expected, got);
}

int32_t ct_has_words(const struct ct_scheme *scheme) {
    return scheme->kind == GRAFT_CODE_UINT;
}

int32_t ct_has_groups(const struct ct_scheme *scheme) {
    return scheme->strategy == CT_GROUP || scheme->strategy == CT_TENSOR_GROUP;
}

/* --- Fields for all modules --- */

/* Checks that a field is absent, null or empty; it would ask for more than weights in groups. */
static int check_absent(const struct graft_config *config, const char *path, struct graft_error *error) {
    return graft_config_has(config, path) && config->size(config->data, path) > 0
               ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: not read by this plugin", path)
               : GRAFT_OK;
}

static int check_model(const struct graft_config *config, struct graft_error *error) {
    static const char sparsity_field[] = "quantization_config.sparsity_config.format";
    const char *sparsity = "dense";
    check_absent(config, "quantization_config.transform_config", error);
    check_absent(config, "quantization_config.quantization_config", error);
    graft_config_string(config, sparsity_field, &sparsity, error);
    return strcmp(sparsity, "dense") != 0 ? unread(config, sparsity_field, "\"dense\"", sparsity, error) : error->code;
}

/* --- Finding the group --- */

/* Whether a target is the module's name, or a pattern that matches the name's beginning. */
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

/* Whether one of a group's targets selects the module, by name or by class. */
static int match_group(const struct group *group, const struct graft_regexes *regexes, const char *path, int by_name,
                       int32_t *found, struct graft_error *error) {
    const struct graft_config *config = group->config;
    char targets[MAX_FIELD], place[MAX_FIELD + 24];
    const int64_t n = config->size(config->data, field(group, "targets", targets));
    for (int64_t i = 0; i < n && !*found; i++) {
        (void)snprintf(place, sizeof place, "%s.%lld", targets, (long long)i);
        const char *target = config->string(config->data, place);
        if (target == NULL) {
            graft_config_expected(config, place, "a string", error);
        } else if (by_name) {
            match_name(config, regexes, target, path, found, error);
        } else {
            *found = strcmp(target, "Linear") == 0;
        }
    }
    return error->code;
}

/* Names take precedence over classes; among groups, the first match counts. */
static int find_group(const struct graft_config *config, const struct graft_regexes *regexes, const char *path,
                      struct group *group, struct graft_error *error) {
    static const char groups[] = "quantization_config.config_groups";
    int32_t found = 0;
    group->config = config;
    for (int by_name = 1; by_name >= 0; by_name--) {
        const char *key;
        for (int64_t i = 0; (key = config->key(config->data, groups, i)) != NULL; i++) {
            if (strlen(key) < MAX_KEY / 2 && strpbrk(key, ".#") == NULL) {
                (void)snprintf(group->path, sizeof group->path, "%s.%.*s", groups, MAX_KEY / 2, key);
            } else {
                (void)snprintf(group->path, sizeof group->path, "%s.#%lld", groups, (long long)i);
            }
            if (match_group(group, regexes, path, by_name, &found, error) != GRAFT_OK || found) {
                return error->code;
            }
        }
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                           "%s: no target matches \"%s\", which has quantized weights", groups, path);
}

/* --- Reading the format --- */

/* Reads a string in lower case. If the field is absent, `text` keeps its value. */
static int read_word(const struct graft_config *config, const char *path, char text[GRAFT_QUANTIZATION_TEXT],
                     struct graft_error *error) {
    const char *value = NULL;
    graft_config_string(config, path, &value, error);
    if (value != NULL) {
        graft_quantization_lower(value, text);
    }
    return error->code;
}

/* A value of the field `format`, with the bits and strategies that it allows. */
struct format {
    const char *name;        /* the name in configs */
    const char *type;        /* of codes */
    const char *bits;        /* of a code */
    uint32_t has_bits;       /* 1 << bits, for each number of bits */
    const char *strategies;  /* what may share a scale, for messages */
    uint32_t has_strategies; /* 1 << strategy, for each strategy */
    int64_t group_size;      /* 0: any */
};

#define OF_WORDS "\"tensor\", \"channel\" or \"group\"", 1 << CT_TENSOR | 1 << CT_CHANNEL | 1 << CT_GROUP, 0
#define OF_BYTES                                       \
    "\"tensor\", \"channel\", \"group\" or \"block\"", \
        1 << CT_TENSOR | 1 << CT_CHANNEL | 1 << CT_GROUP | 1 << CT_BLOCK, 0

/* "naive-quantized" has one code a byte, of either type. */
static const struct format formats[] = {
    {"pack-quantized", "int", "4 or 8", 1 << 4 | 1 << 8, OF_WORDS},
    {"int-quantized", "int", "8", 1 << 8, OF_BYTES},
    {"float-quantized", "float", "8", 1 << 8, OF_BYTES},
    {"naive-quantized", "int", "1 to 8", 0x1fe, OF_BYTES},
    {"naive-quantized", "float", "8", 1 << 8, OF_BYTES},
    {"mxfp4-pack-quantized", "float", "4", 1 << 4, "\"group\"", 1 << CT_GROUP, 32},
    {"nvfp4-pack-quantized", "float", "4", 1 << 4, "\"tensor_group\"", 1 << CT_TENSOR_GROUP, 16},
};

/* Finds a format by name, and by `type` if several have the same name; NULL if there is none. */
static const struct format *find_format(const char *name, const char *type) {
    const struct format *found = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, name) == 0 && (found == NULL || strcmp(formats[i].type, type) == 0)) {
            found = &formats[i];
        }
    }
    return found;
}

static int32_t kind_of(const struct format *format, int64_t bits) {
    if (strcmp(format->type, "float") == 0) {
        return bits == 4 ? GRAFT_CODE_FLOAT4 : GRAFT_CODE_FLOAT8;
    }
    return strcmp(format->name, "pack-quantized") == 0 ? GRAFT_CODE_UINT : GRAFT_CODE_INT;
}

static int read_codes(const struct group *group, const struct format **format, struct ct_scheme *scheme,
                      struct graft_error *error) {
    static const char common[] = "quantization_config.format";
    const struct graft_config *config = group->config;
    char own[MAX_FIELD], path[MAX_FIELD];
    const char *place = graft_config_has(config, field(group, "format", own)) ? own : common;
    char name[GRAFT_QUANTIZATION_TEXT] = "", type[GRAFT_QUANTIZATION_TEXT] = "int";
    int64_t bits = 0;
    read_word(config, place, name, error);
    graft_config_need_int(config, field(group, "weights.num_bits", path), 1, 64, &bits, error);
    read_word(config, field(group, "weights.type", path), type, error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    *format = find_format(name, type);
    if (*format == NULL) {
        return unread(config, place,
                      "\"pack-quantized\", \"int-quantized\", \"float-quantized\", \"naive-quantized\", "
                      "\"mxfp4-pack-quantized\" or \"nvfp4-pack-quantized\"",
                      name, error);
    }
    if (strcmp((*format)->type, type) != 0) {
        return unread(config, path, strcmp(type, "int") == 0 ? "\"float\"" : "\"int\"", type, error);
    }
    if (bits > 8 || ((*format)->has_bits & 1U << bits) == 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got %lld",
                               field(group, "weights.num_bits", path), (*format)->bits, (long long)bits);
    }
    scheme->kind = kind_of(*format, bits);
    scheme->bits = scheme->kind == GRAFT_CODE_INT ? 8 : (int32_t)bits; /* naive codes of fewer bits fill bytes */
    return GRAFT_OK;
}

static int read_block(const struct graft_config *config, const char *path, const char *text, struct ct_scheme *scheme,
                      struct graft_error *error) {
    int rows = 0, columns = 0, length = 0;
    if (strlen(text) > 20 || sscanf(text, "%9dx%9d%n", &rows, &columns, &length) != 2 || text[length] != '\0' ||
        rows < 1 || columns < 1) {
        return unread(config, path, "two numbers above 0", text, error);
    }
    scheme->block[0] = rows;
    scheme->block[1] = columns;
    return GRAFT_OK;
}

static int read_sizes(const struct group *group, const struct format *format, struct ct_scheme *scheme,
                      struct graft_error *error) {
    const struct graft_config *config = group->config;
    char path[MAX_FIELD], place[MAX_FIELD + 4];
    if (ct_has_groups(scheme)) {
        graft_config_need_int(config, field(group, "weights.group_size", path), 1, INT32_MAX, &scheme->group_size,
                              error);
        return error->code == GRAFT_OK && format->group_size > 0 && scheme->group_size != format->group_size
                   ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %lld, got %lld", path,
                                     (long long)format->group_size, (long long)scheme->group_size)
                   : error->code;
    }
    (void)field(group, "weights.block_structure", path);
    const char *sizes = scheme->strategy == CT_BLOCK ? config->string(config->data, path) : NULL;
    if (sizes != NULL) { /* "128x128", as older versions of the library wrote */
        return read_block(config, path, sizes, scheme, error);
    }
    for (int i = 0; scheme->strategy == CT_BLOCK && i < 2; i++) {
        (void)snprintf(place, sizeof place, "%s.%d", path, i);
        graft_config_need_int(config, place, 1, INT32_MAX, &scheme->block[i], error);
    }
    return error->code;
}

static int read_strategy(const struct group *group, const struct format *format, struct ct_scheme *scheme,
                         struct graft_error *error) {
    static const char *const names[] = {"tensor", "channel", "group", "block", "tensor_group"};
    char name[GRAFT_QUANTIZATION_TEXT], path[MAX_FIELD], size[MAX_FIELD];
    const struct graft_config *config = group->config;
    (void)field(group, "weights.group_size", size);
    (void)snprintf(name, sizeof name, "%s", /* the library's default if the field is absent */
                   !graft_config_has(config, size)           ? "tensor"
                   : config->integer(config->data, size) > 0 ? "group"
                                                             : "channel");
    read_word(config, field(group, "weights.strategy", path), name, error);
    size_t i = 0;
    while (i < sizeof names / sizeof names[0] && strcmp(name, names[i]) != 0) {
        i++;
    }
    if ((format->has_strategies & 1U << i) == 0) {
        unread(group->config, path, format->strategies, name, error);
    }
    scheme->strategy = (enum ct_strategy)i;
    return error->code == GRAFT_OK ? read_sizes(group, format, scheme, error) : error->code;
}

/* Reads the order of inputs. Older versions used a boolean, and each order has two names. */
static int read_order(const struct graft_config *config, const char *path, char order[GRAFT_QUANTIZATION_TEXT],
                      struct graft_error *error) {
    if (config->kind(config->data, path) == GRAFT_FIELD_BOOL) {
        (void)snprintf(order, GRAFT_QUANTIZATION_TEXT, "%s", config->integer(config->data, path) ? "group" : "weight");
        return GRAFT_OK;
    }
    read_word(config, path, order, error);
    if (strcmp(order, "static") == 0 || strcmp(order, "dynamic") == 0) {
        (void)snprintf(order, GRAFT_QUANTIZATION_TEXT, "%s", strcmp(order, "static") == 0 ? "weight" : "group");
    }
    return error->code;
}

/* Reads zero points and the order of inputs, which only packed codes in groups may have. */
static int read_extras(const struct group *group, struct ct_scheme *scheme, struct graft_error *error) {
    const struct graft_config *config = group->config;
    char path[MAX_FIELD];
    char order[GRAFT_QUANTIZATION_TEXT] = "weight";
    int32_t is_symmetric = 1;
    graft_config_bool(config, field(group, "weights.symmetric", path), &is_symmetric, error);
    if (!is_symmetric && (!ct_has_words(scheme) || scheme->strategy == CT_TENSOR)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "%s: false is supported only for packed weights with scales for rows or groups", path);
    }
    read_order(config, field(group, "weights.actorder", path), order, error);
    scheme->is_asymmetric = !is_symmetric;
    scheme->is_ordered = strcmp(order, "group") == 0;
    return strcmp(order, "weight") != 0 &&
                   (!scheme->is_ordered || !ct_has_words(scheme) || scheme->strategy != CT_GROUP)
               ? unread(config, path, "\"weight\" or, of packed weights in groups, \"group\"", order, error)
               : error->code;
}

/* Finds which scale for activations the checkpoint has: `input_global_scale` if group scales are dynamic (`dynamic`
 * "local"), none if all scales are dynamic, else `input_scale`. */
static int read_inputs(const struct group *group, struct ct_scheme *scheme, struct graft_error *error) {
    const struct graft_config *config = group->config;
    char path[MAX_FIELD];
    int32_t is_dynamic = 0;
    scheme->input_scale = NULL;
    if (!graft_config_has(config, field(group, "input_activations", path))) {
        return GRAFT_OK;
    }
    const char *text = config->string(config->data, field(group, "input_activations.dynamic", path));
    const int is_local = text != NULL && strcmp(text, "local") == 0;
    if (!is_local) {
        graft_config_bool(config, path, &is_dynamic, error);
    }
    scheme->input_scale = is_local ? "input_global_scale" : is_dynamic ? NULL : "input_scale";
    return error->code;
}

int ct_scheme_read(const struct graft_config *config, const struct graft_regexes *regexes, const char *path,
                   struct ct_scheme *scheme, struct graft_error *error) {
    struct group group;
    const struct format *format = NULL;
    check_model(config, error);
    if (find_group(config, regexes, path, &group, error) != GRAFT_OK ||
        read_codes(&group, &format, scheme, error) != GRAFT_OK) {
        return error->code;
    }
    read_strategy(&group, format, scheme, error);
    read_extras(&group, scheme, error);
    read_inputs(&group, scheme, error);
    return error->code;
}
