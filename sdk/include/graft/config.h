/* SPDX-License-Identifier: Apache-2.0 */
/* Reads config.json. Fields are named by dotted paths: "hidden_size", "rope_scaling.factor", "mlp_only_layers.0". The
 * component "#2" is the third member of an object, whose name may contain dots.
 *
 * Adapters (`--adapter`) appear as further fields: `adapter.NAME` is the adapter_config.json of the adapter NAME, and
 * `adapters` is an array of objects with `name`, `directory` and `scale`.
 *
 * Asking for a field counts as using it: the host records this while a model is opened, and reports all fields that
 * nobody asked for and that no rule explains (field_rule.h). So `describe` should ask for exactly the fields on which
 * the class depends. Asking for the kind, size or keys of an object does not count as asking for its members.
 *
 * The helpers check type and range, and name file and field in their errors. For each, `value` holds the default before
 * the call, and keeps it if the field is absent or null. All are [any]. */
#ifndef GRAFT_CONFIG_H
#define GRAFT_CONFIG_H

#include <float.h>

#include "abi.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GRAFT_FIELD_ABSENT = 0,
    GRAFT_FIELD_BOOL = 1,
    GRAFT_FIELD_INT = 2,
    GRAFT_FIELD_REAL = 3,
    GRAFT_FIELD_STRING = 4,
    GRAFT_FIELD_ARRAY = 5,
    GRAFT_FIELD_OBJECT = 6,
    GRAFT_FIELD_NULL = 7
};

/* Belongs to the host. The config passed to `create` lives as long as the instance; any other is valid until the
 * function that it is passed to returns. */
struct graft_config {
    uint32_t struct_size;
    uint32_t reserved;
    const char *file; /* path of the config.json, for messages */
    const void *data; /* the host's; passed back to the functions below */
    /* The kind of the field at a path, GRAFT_FIELD_... */
    int32_t (*kind)(const void *data, const char *path);
    /* The value of an integer, or of a boolean as 0 or 1; 0 for another kind. */
    int64_t (*integer)(const void *data, const char *path);
    /* The value of a number, including integers; 0 for another kind. Infinity, -Infinity and NaN are numbers, as
     * Python's json writes them and as transformers does: {"__float__": "Infinity"}. */
    double (*real)(const void *data, const char *path);
    /* The text of a string, which may contain control characters and lives as long as the config; NULL for another
     * kind. */
    const char *(*string)(const void *data, const char *path);
    /* The number of elements of an array or members of an object; 0 for another kind. */
    int64_t (*size)(const void *data, const char *path);
    /* The file's name for the field, for messages: "n_embd" for "hidden_size" (family.h), or the path itself if it has
     * no other name. Valid as long as both the config and `path` are. */
    const char *(*spelling)(const void *data, const char *path);
    /* The name of member `i` of the object at a path, in the order of the file; lives as long as the config. NULL after
     * the last member, and for another kind. */
    const char *(*key)(const void *data, const char *path, int64_t i);
};

GRAFT_ASSERT_SIZE(struct graft_config, 80);

/* Whether the field exists and is not null. */
GRAFT_INLINE int graft_config_has(const struct graft_config *config, const char *path) {
    int32_t kind = config->kind(config->data, path);
    return kind != GRAFT_FIELD_ABSENT && kind != GRAFT_FIELD_NULL;
}

/* Whether the field exists and is null, where this differs from an absent field. */
GRAFT_INLINE int graft_config_is_null(const struct graft_config *config, const char *path) {
    return config->kind(config->data, path) == GRAFT_FIELD_NULL;
}

/* The name of the field in config.json: "n_embd" for "hidden_size", in a family with that alias (family.h). */
GRAFT_INLINE const char *graft_config_spelling(const struct graft_config *config, const char *path) {
    return config->spelling(config->data, path);
}

/* Sets the error of a field of the wrong kind, which shows the field's value. */
GRAFT_INLINE int graft_config_expected(const struct graft_config *config, const char *path, const char *expected,
                                       struct graft_error *error) {
    static const char *const kinds[] = {"nothing",  "a boolean", "an integer", "a fractional number",
                                        "a string", "an array",  "an object",  "null"};
    const char *spelling = graft_config_spelling(config, path);
    int32_t kind = config->kind(config->data, path);
    switch (kind) {
    case GRAFT_FIELD_BOOL:
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got a boolean (%s)", spelling,
                               expected, config->integer(config->data, path) != 0 ? "true" : "false");
    case GRAFT_FIELD_INT:
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got an integer (%lld)",
                               spelling, expected, (long long)config->integer(config->data, path));
    case GRAFT_FIELD_REAL:
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got a fractional number (%g)",
                               spelling, expected, config->real(config->data, path));
    case GRAFT_FIELD_STRING:
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got a string (\"%.60s\")",
                               spelling, expected, config->string(config->data, path));
    default:
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got %s", spelling, expected,
                               kind >= 0 && kind < (int32_t)(sizeof kinds / sizeof kinds[0]) ? kinds[kind]
                                                                                             : "another kind");
    }
}

/* Refuses null for a field that may be absent, but for which null has no meaning. */
GRAFT_INLINE int graft_config_not_null(const struct graft_config *config, const char *path, const char *expected,
                                       struct graft_error *error) {
    return graft_config_is_null(config, path) ? graft_config_expected(config, path, expected, error) : GRAFT_OK;
}

/* An integer within [minimum, maximum]. */
GRAFT_INLINE int graft_config_int(const struct graft_config *config, const char *path, int64_t minimum, int64_t maximum,
                                  int64_t *value, struct graft_error *error) {
    if (!graft_config_has(config, path)) {
        return GRAFT_OK;
    }
    if (config->kind(config->data, path) != GRAFT_FIELD_INT) {
        return graft_config_expected(config, path, "an integer", error);
    }
    *value = config->integer(config->data, path);
    if (*value < minimum || *value > maximum) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %lld to %lld, got %lld",
                               graft_config_spelling(config, path), (long long)minimum, (long long)maximum,
                               (long long)*value);
    }
    return GRAFT_OK;
}

/* Like graft_config_int, for a required field. */
GRAFT_INLINE int graft_config_need_int(const struct graft_config *config, const char *path, int64_t minimum,
                                       int64_t maximum, int64_t *value, struct graft_error *error) {
    if (!graft_config_has(config, path)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: missing, expected an integer",
                               graft_config_spelling(config, path));
    }
    return graft_config_int(config, path, minimum, maximum, value, error);
}

/* A finite number. */
GRAFT_INLINE int graft_config_finite(const struct graft_config *config, const char *path, double *value,
                                     struct graft_error *error) {
    int32_t kind = config->kind(config->data, path);
    if (!graft_config_has(config, path)) {
        return GRAFT_OK;
    }
    if (kind != GRAFT_FIELD_INT && kind != GRAFT_FIELD_REAL) {
        return graft_config_expected(config, path, "a number", error);
    }
    *value = config->real(config->data, path);
    if (!(*value <= DBL_MAX && *value >= -DBL_MAX)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected a finite number, got %s",
                               graft_config_spelling(config, path),
                               *value > 0.0   ? "Infinity"
                               : *value < 0.0 ? "-Infinity"
                                              : "NaN");
    }
    return GRAFT_OK;
}

/* A finite number not below `least`, such as an epsilon, which may be 0. */
GRAFT_INLINE int graft_config_real_from(const struct graft_config *config, const char *path, double least,
                                        double *value, struct graft_error *error) {
    int status = graft_config_finite(config, path, value, error);
    if (status == GRAFT_OK && graft_config_has(config, path) && *value < least) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected at least %g, got %g",
                               graft_config_spelling(config, path), least, *value);
    }
    return status;
}

/* A finite number above `above`. */
GRAFT_INLINE int graft_config_real(const struct graft_config *config, const char *path, double above, double *value,
                                   struct graft_error *error) {
    int status = graft_config_finite(config, path, value, error);
    if (status == GRAFT_OK && graft_config_has(config, path) && !(*value > above)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected more than %g, got %g",
                               graft_config_spelling(config, path), above, *value);
    }
    return status;
}

/* A boolean, as 0 or 1. */
GRAFT_INLINE int graft_config_bool(const struct graft_config *config, const char *path, int32_t *value,
                                   struct graft_error *error) {
    if (!graft_config_has(config, path)) {
        return GRAFT_OK;
    }
    if (config->kind(config->data, path) != GRAFT_FIELD_BOOL) {
        return graft_config_expected(config, path, "a boolean", error);
    }
    *value = config->integer(config->data, path) != 0;
    return GRAFT_OK;
}

/* A string, which lives as long as the config. */
GRAFT_INLINE int graft_config_string(const struct graft_config *config, const char *path, const char **value,
                                     struct graft_error *error) {
    if (!graft_config_has(config, path)) {
        return GRAFT_OK;
    }
    if (config->kind(config->data, path) != GRAFT_FIELD_STRING) {
        return graft_config_expected(config, path, "a string", error);
    }
    *value = config->string(config->data, path);
    return GRAFT_OK;
}

#ifdef __cplusplus
}
#endif

#endif
