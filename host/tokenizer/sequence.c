/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/sequence.h"

#include <string.h>

enum { MAX_NESTING = 8 };

struct walk {
    const char *key;
    graft_sequence_member member;
    void *data;
};

static int step(const struct walk *walk, const struct graft_field *spec, int depth, struct graft_error *error) {
    const char *const keys[] = {"type", walk->key, NULL};
    struct graft_field members = graft_field_get(spec, walk->key);
    const char *type;
    int status = graft_field_optional_string(spec, "type", &type, NULL, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (type == NULL ? members.value == NULL : strcmp(type, "Sequence") != 0) {
        return walk->member(walk->data, spec, error);
    }
    if (depth == MAX_NESTING) {
        return graft_field_error(spec, error, "sequences nested deeper than %d", depth);
    }
    status = graft_field_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_field_array(&members, error);
    }
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(members.value); i++) {
        struct graft_field member = graft_field_at(&members, i);
        status = step(walk, &member, depth + 1, error);
    }
    return status;
}

int graft_sequence_walk(const struct graft_field *spec, const char *key, graft_sequence_member member, void *data,
                        struct graft_error *error) {
    const struct walk walk = {key, member, data};
    return step(&walk, spec, 0, error);
}

int graft_sequence_kind(const struct graft_field *spec, const void *kinds, size_t stride, size_t n, size_t *number,
                        struct graft_error *error) {
    struct graft_field field = graft_field_get(spec, "type");
    const char *type;
    int status = graft_field_optional_string(spec, "type", &type, NULL, error);
    if (status != GRAFT_OK) {
        return status;
    }
    for (*number = 0; *number < n; ++*number) {
        const char *const *names = (const char *const *)(const void *)((const char *)kinds + *number * stride);
        if (type != NULL ? strcmp(names[0], type) == 0
                         : names[1] != NULL && graft_json_get(spec->value, names[1]) != NULL) {
            return GRAFT_OK;
        }
    }
    return type != NULL ? graft_field_error(&field, error, "\"%s\" is not supported", type)
                        : graft_field_string(spec, "type", &type, NULL, error);
}
