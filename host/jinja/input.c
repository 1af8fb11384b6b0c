/* SPDX-License-Identifier: Apache-2.0 */
/* Converts JSON to template values, and marks every byte of its strings as input. */
#include <string.h>

#include "jinja/run.h"

struct taking {
    struct graft_jinja_run *run;
    const struct graft_jinja_variable *variable;
};

static int is_word(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const char c = bytes[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) {
            return 0;
        }
    }
    return length > 0;
}

static int take_string(const struct taking *taking, const char *bytes, size_t length, const char *member,
                       struct graft_jinja_value *result) {
    struct graft_jinja_run *run = taking->run;
    const char *word_member = taking->variable->word_member;
    const int plain =
        !taking->variable->is_input || length == 0 ||
        (member != NULL && word_member != NULL && strcmp(member, word_member) == 0 && is_word(bytes, length));
    struct graft_jinja_string string = {graft_jinja_arena_copy(&run->arena, bytes, length), NULL, length};
    if (string.bytes == NULL) {
        return graft_jinja_fail_memory(run);
    }
    if (!plain) {
        unsigned char *marks = graft_jinja_take_memory(run, length, 1);
        if (marks == NULL) {
            return graft_jinja_failed(run);
        }
        memset(marks, 1, length);
        string.marks = marks;
    }
    *result = graft_jinja_text(string);
    return GRAFT_OK;
}

static int take_value(const struct taking *taking, const graft_json *json, const char *member,
                      struct graft_jinja_value *result);

static int take_array(const struct taking *taking, const graft_json *json, struct graft_jinja_value *result) {
    const size_t n = graft_json_size(json);
    struct graft_jinja_list *list = graft_jinja_new_list(taking->run, GRAFT_JINJA_PLAIN, n);
    int status = list != NULL ? GRAFT_OK : graft_jinja_failed(taking->run);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = take_value(taking, graft_json_at(json, i), NULL, &list->items[i]);
        list->n = i + 1;
    }
    *result = graft_jinja_of_list(list);
    return status;
}

/* A parsed document has no duplicate members, so members are appended without a look-up. */
static int take_object(const struct taking *taking, const graft_json *json, struct graft_jinja_value *result) {
    const size_t n = graft_json_size(json);
    struct graft_jinja_dict *dict = graft_jinja_new_dict(taking->run, n);
    void *iterator = NULL;
    const char *key = NULL;
    const graft_json *value = NULL;
    int status = dict != NULL ? GRAFT_OK : graft_jinja_failed(taking->run);
    while (status == GRAFT_OK && graft_json_next(json, &iterator, &key, &value)) {
        struct graft_jinja_entry *entry = &dict->entries[dict->n++];
        status = take_string(taking, key, strlen(key), NULL, &entry->key);
        if (status == GRAFT_OK) {
            status = take_value(taking, value, key, &entry->value);
        }
    }
    *result = graft_jinja_of_dict(dict);
    return status;
}

/* The recursion is bounded by the parser's limit on nesting. */
static int take_value(const struct taking *taking, const graft_json *json, const char *member,
                      struct graft_jinja_value *result) {
    size_t length = 0;
    const char *bytes = graft_json_string(json, &length);
    switch (graft_json_type(json)) {
    case GRAFT_JSON_STRING:
        return take_string(taking, bytes, length, member, result);
    case GRAFT_JSON_ARRAY:
        return take_array(taking, json, result);
    case GRAFT_JSON_OBJECT:
        return take_object(taking, json, result);
    case GRAFT_JSON_BOOL:
        *result = graft_jinja_bool(graft_json_bool(json));
        return GRAFT_OK;
    case GRAFT_JSON_INT:
        *result = graft_jinja_int(graft_json_int(json));
        return GRAFT_OK;
    case GRAFT_JSON_REAL:
        *result = graft_jinja_float(graft_json_real(json));
        return GRAFT_OK;
    default:
        *result = graft_jinja_none();
        return GRAFT_OK;
    }
}

int graft_jinja_take_input(struct graft_jinja_run *run, const struct graft_jinja_variable *variable,
                           struct graft_jinja_value *result) {
    const struct taking taking = {run, variable};
    return take_value(&taking, variable->value, NULL, result);
}
