/* SPDX-License-Identifier: Apache-2.0 */
/* Reads transforms of cases, and their patterns after compilation. */
#include <string.h>

#include "base/alloc.h"
#include "key_renaming.h"
#include "names/legacy.h"
#include "names/transform_read.h"

/* Fields that cases have in addition to those of transforms. */
static int is_extra(const char *kind, const char *key) {
    int of_pattern = strcmp(key, "source_patterns") == 0 || strcmp(key, "target_patterns") == 0;
    return (strcmp(kind, "prefix_change") == 0 && of_pattern) || strcmp(key, "forward") == 0 ||
           strcmp(key, "reverse") == 0;
}

/* A copy of the object without these fields. */
static graft_json *plain_transform(const graft_json *transform, enum case_form form) {
    graft_json *plain = graft_json_new_object();
    void *iterator = NULL;
    const char *key;
    const graft_json *value;
    while (graft_json_next(transform, &iterator, &key, &value)) {
        int ready = form == CASE_AS_READY && strcmp(key, "source_patterns") == 0;
        char *text = graft_json_dump(ready ? graft_json_get(graft_json_get(transform, "forward"), key) : value, 0);
        graft_json *copy = NULL;
        if (text != NULL && !is_extra(text_at(transform, "kind"), key)) {
            (void)graft_json_parse(text, strlen(text), key, &copy, NULL);
            (void)graft_json_set_take(plain, key, copy);
        }
        graft_free(text);
    }
    return plain;
}

int case_list_init(struct key_list *list, const graft_json *transforms, enum case_form form, enum key_fault *fault,
                   struct graft_error *error) {
    struct transforms_read read = {0};
    graft_json *plain = graft_json_new_array();
    size_t n_legacy, n = graft_json_size(transforms);
    const struct graft_weight_transform *old = graft_legacy_transforms(&n_legacy);
    int status = GRAFT_OK;
    *list = (struct key_list){0};
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        (void)graft_json_append_take(plain, plain_transform(graft_json_at(transforms, i), form));
        const struct graft_field transform = graft_field_root(graft_json_at(plain, i), "case");
        status = graft_transform_read(&transform, &read, error);
    }
    for (size_t i = 0; form == CASE_WITH_LEGACY && i < n_legacy && status == GRAFT_OK; i++) {
        status =
            graft_grow(&read.items, &read.capacity, read.n, sizeof *read.items) == 0 ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
        if (status == GRAFT_OK) {
            read.items[read.n++] = old[i];
        }
    }
    if (status == GRAFT_OK) {
        status = graft_key_list_init(list, read.items, read.n, "transforms", fault, error);
    }
    graft_transforms_read_finish(&read);
    graft_json_free(plain);
    return status;
}

const char *case_key_fault(enum key_fault fault) {
    static const char *const kinds[] = {
        [KEY_FAULT_NONE] = "",
        [KEY_FAULT_OTHER] = "other",
        [KEY_FAULT_INVALID_REGEX] = "invalid_regex",
        [KEY_FAULT_MULTIPLE_GROUPS] = "multiple_capture_groups",
        [KEY_FAULT_BACKREFERENCE_WITHOUT_GROUP] = "backreference_without_group",
        [KEY_FAULT_GROUP_LENGTH] = "group_length_mismatch",
        [KEY_FAULT_PREFIX_ARGUMENTS] = "prefix_arguments",
        [KEY_FAULT_NO_OPERATIONS] = "no_operations",
        [KEY_FAULT_MANY_TO_MANY] = "many_to_many",
        [KEY_FAULT_NO_SUCH_GROUP] = "no_such_group",
        [KEY_FAULT_GROUP_DID_NOT_MATCH] = "group_did_not_match",
        [KEY_FAULT_INDEX] = "other",
    };
    return kinds[fault];
}

int case_same_strings(char *const *strings, int32_t n, const graft_json *recorded) {
    int same = graft_json_size(recorded) == (size_t)n;
    for (int32_t i = 0; same && i < n; i++) {
        same = strcmp(strings[i], graft_json_string(graft_json_at(recorded, (size_t)i), NULL)) == 0;
    }
    return same;
}

int case_same_patterns(const struct key_transform *transform, const graft_json *processed, const char *what,
                       struct graft_text *why) {
    const struct key_patterns *patterns = &transform->patterns;
    if (!case_same_strings(patterns->sources, patterns->n_sources, graft_json_get(processed, "source_patterns")) ||
        !case_same_strings(patterns->targets, patterns->n_targets, graft_json_get(processed, "target_patterns"))) {
        (void)fail(why, "%s: patterns became \"%s\" ... \"%s\", expected %s", what, patterns->sources[0],
                   patterns->targets[0], text_at(processed, "regex"));
        return -1;
    }
    if (strcmp(transform->joined, text_at(processed, "regex")) != 0) {
        (void)fail(why, "%s: joined \"%s\", expected \"%s\"", what, transform->joined, text_at(processed, "regex"));
        return -1;
    }
    return 0;
}

int case_holds(void *array, const char *name) {
    const graft_json *strings = array;
    for (size_t i = 0; i < graft_json_size(strings); i++) {
        if (strcmp(graft_json_string(graft_json_at(strings, i), NULL), name) == 0) {
            return 1;
        }
    }
    return 0;
}
