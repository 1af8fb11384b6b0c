/* SPDX-License-Identifier: Apache-2.0 */
/* Reads members of JSON objects strictly. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "names/transform_read.h"

int graft_json_place_wrong(const struct json_place *place, const char *key, const char *expected,
                           const graft_json *value, struct graft_error *error) {
    const char *dot = place->field[0] != '\0' && key[0] != '\0' ? "." : "";
    /* the document itself has no field to name */
    const char *colon = place->field[0] != '\0' || key[0] != '\0' ? ": " : "";
    return graft_error_set(error, GRAFT_ERROR_USAGE, place->file, "%s%s%s%sexpected %s, got %s", place->field, dot, key,
                           colon, expected, value != NULL ? graft_json_type_name(value) : "nothing");
}

int graft_json_place_only(const struct json_place *place, const graft_json *object, const char *const *keys,
                          struct graft_error *error) {
    if (graft_json_type(object) != GRAFT_JSON_OBJECT) {
        return graft_json_place_wrong(place, "", "an object", object, error);
    }
    const char *other = graft_json_other_key(object, keys);
    const char *dot = place->field[0] != '\0' ? "." : "";
    return other == NULL ? GRAFT_OK
                         : graft_error_set(error, GRAFT_ERROR_USAGE, place->file, "%s%s%.100s: unknown field",
                                           place->field, dot, other);
}

/* A string without NUL bytes, or NULL. */
static const char *plain_string(const graft_json *value) {
    size_t length;
    const char *string = graft_json_string(value, &length);
    return string != NULL && strlen(string) == length ? string : NULL;
}

int graft_json_place_string(const struct json_place *place, const graft_json *object, const char *key,
                            const char **string, struct graft_error *error) {
    const graft_json *value = graft_json_get(object, key);
    *string = plain_string(value);
    if (*string == NULL && value != NULL && graft_json_type(value) != GRAFT_JSON_NULL) {
        return graft_json_place_wrong(place, key, "a string without NUL", value, error);
    }
    return GRAFT_OK;
}

int graft_json_place_strings(const struct json_place *place, const graft_json *object, const char *key,
                             const char ***strings, size_t *n, struct graft_error *error) {
    static const char expected[] = "a string or an array of strings, at least one";
    const graft_json *value = graft_json_get(object, key);
    int single = graft_json_type(value) == GRAFT_JSON_STRING;
    *n = single ? 1 : graft_json_type(value) == GRAFT_JSON_ARRAY ? graft_json_size(value) : 0;
    *strings = NULL;
    if (*n == 0) {
        return graft_json_place_wrong(place, key, expected, value, error);
    }
    const char **list = graft_alloc(*n + 1, sizeof *list);
    if (list == NULL) {
        return graft_fail_memory(error, place->file);
    }
    for (size_t i = 0; i < *n; i++) {
        const graft_json *item = single ? value : graft_json_at(value, i);
        list[i] = plain_string(item);
        if (list[i] == NULL) {
            graft_free(list);
            return graft_json_place_wrong(place, key, expected, item, error);
        }
    }
    *strings = list;
    return GRAFT_OK;
}
