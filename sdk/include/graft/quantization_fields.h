/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of `quantization_config` that have several names, because the tools that write and read a method have not
 * always agreed: a layout is `format`, `checkpoint_format` or `version`, in upper or lower case. If two names are
 * present, readers differ in which one they use, so it is an error if their values differ. All functions are [load]. */
#ifndef GRAFT_QUANTIZATION_FIELDS_H
#define GRAFT_QUANTIZATION_FIELDS_H

#include <stdio.h>

#include "config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a text, including the NUL, and of a field's path. */
enum { GRAFT_QUANTIZATION_TEXT = 64, GRAFT_QUANTIZATION_PATH = 96 };

/* The path of a field: "quantization_config.NAME". */
GRAFT_INLINE const char *graft_quantization_path(const char *name, char path[GRAFT_QUANTIZATION_PATH]) {
    (void)snprintf(path, GRAFT_QUANTIZATION_PATH, "quantization_config.%.64s", name);
    return path;
}

/* A text in lower case, ASCII only, truncated if it does not fit. */
GRAFT_INLINE void graft_quantization_lower(const char *from, char to[GRAFT_QUANTIZATION_TEXT]) {
    size_t i = 0;
    for (; from[i] != '\0' && i + 1 < GRAFT_QUANTIZATION_TEXT; i++) {
        to[i] = (char)(from[i] >= 'A' && from[i] <= 'Z' ? from[i] - 'A' + 'a' : from[i]);
    }
    to[i] = '\0';
}

/* Sets the error that two names of one field have different values. */
GRAFT_INLINE int graft_quantization_differ(const struct graft_config *config, const char *one, const char *other,
                                           struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                           "%s: expected the value of %s, which is the same field under another name", other, one);
}

/* Reads the text of the field with one of `names` (NULL-terminated), in lower case, into `text`, and its path into
 * `path`. If the field is absent, `text` is unchanged and `path` is that of the first name. */
GRAFT_INLINE int graft_quantization_text(const struct graft_config *config, const char *const *names,
                                         char text[GRAFT_QUANTIZATION_TEXT], char path[GRAFT_QUANTIZATION_PATH],
                                         struct graft_error *error) {
    char other[GRAFT_QUANTIZATION_PATH], lower[GRAFT_QUANTIZATION_TEXT];
    int found = 0;
    (void)graft_quantization_path(names[0], path);
    for (size_t i = 0; names[i] != NULL; i++) {
        const char *value = NULL;
        int status = graft_config_string(config, graft_quantization_path(names[i], other), &value, error);
        if (status != GRAFT_OK) {
            return status;
        }
        if (value == NULL) {
            continue;
        }
        graft_quantization_lower(value, lower);
        if (found && strcmp(lower, text) != 0) {
            return graft_quantization_differ(config, path, other, error);
        }
        found = 1;
        memcpy(text, lower, sizeof lower);
        memcpy(path, other, sizeof other);
    }
    return GRAFT_OK;
}

/* Like graft_quantization_text, for an integer within [minimum, maximum]; `*value` is unchanged if the field is
 * absent. */
GRAFT_INLINE int graft_quantization_int(const struct graft_config *config, const char *const *names, int64_t minimum,
                                        int64_t maximum, int64_t *value, struct graft_error *error) {
    char path[GRAFT_QUANTIZATION_PATH], first[GRAFT_QUANTIZATION_PATH] = "";
    for (size_t i = 0; names[i] != NULL; i++) {
        int64_t own = 0;
        if (!graft_config_has(config, graft_quantization_path(names[i], path))) {
            continue;
        }
        int status = graft_config_int(config, path, minimum, maximum, &own, error);
        if (status != GRAFT_OK) {
            return status;
        }
        if (first[0] != '\0' && own != *value) {
            return graft_quantization_differ(config, first, path, error);
        }
        *value = own;
        memcpy(first, path, sizeof path);
    }
    return GRAFT_OK;
}

/* Checks that the field is absent or has one of the values `allowed` (NULL-terminated), in upper or lower case;
 * otherwise sets an error that lists them. */
GRAFT_INLINE int graft_quantization_only(const struct graft_config *config, const char *name,
                                         const char *const *allowed, struct graft_error *error) {
    const char *const names[] = {name, NULL};
    char text[GRAFT_QUANTIZATION_TEXT] = "", path[GRAFT_QUANTIZATION_PATH], list[128] = "";
    int status = graft_quantization_text(config, names, text, path, error);
    size_t i = 0, length = 0;
    if (status != GRAFT_OK || !graft_config_has(config, path)) {
        return status;
    }
    for (; allowed[i] != NULL && strcmp(allowed[i], text) != 0; i++) {
        const int written = snprintf(list + length, sizeof list - length, "%s\"%s\"", i > 0 ? " or " : "", allowed[i]);
        length += written > 0 && (size_t)written < sizeof list - length ? (size_t)written : 0;
    }
    return allowed[i] != NULL ? GRAFT_OK
                              : graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got \"%s\"",
                                                path, list, text);
}

#ifdef __cplusplus
}
#endif

#endif
