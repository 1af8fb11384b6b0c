/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, dicts, and iteration over them. */
#include <string.h>

#include "base/utf8.h"
#include "jinja/run.h"

struct graft_jinja_list *graft_jinja_new_list(struct graft_jinja_run *run, enum graft_jinja_form form,
                                              size_t capacity) {
    struct graft_jinja_list *list = graft_jinja_take_memory(run, 1, sizeof *list);
    if (list != NULL) {
        list->form = form;
        list->type_name = "generator";
        list->items = capacity > 0 ? graft_jinja_take_memory(run, capacity, sizeof *list->items) : NULL;
        list->capacity = capacity;
        list = capacity > 0 && list->items == NULL ? NULL : list;
    }
    return list;
}

int graft_jinja_push(struct graft_jinja_run *run, struct graft_jinja_list *list, const struct graft_jinja_value *item) {
    int status = graft_jinja_reserve(run, &list->items, &list->capacity, list->n, sizeof *list->items);
    if (status == GRAFT_OK) {
        list->items[list->n++] = *item;
    }
    return status;
}

struct graft_jinja_dict *graft_jinja_new_dict(struct graft_jinja_run *run, size_t capacity) {
    struct graft_jinja_dict *dict = graft_jinja_take_memory(run, 1, sizeof *dict);
    if (dict != NULL && capacity > 0) {
        dict->entries = graft_jinja_take_memory(run, capacity, sizeof *dict->entries);
        dict->capacity = capacity;
        dict = dict->entries == NULL ? NULL : dict;
    }
    return dict;
}

const struct graft_jinja_value *graft_jinja_find(struct graft_jinja_run *run, const struct graft_jinja_dict *dict,
                                                 const struct graft_jinja_value *key) {
    for (size_t i = 0; i < dict->n; i++) {
        if (graft_jinja_equal(run, &dict->entries[i].key, key)) {
            return &dict->entries[i].value;
        }
    }
    return NULL;
}

int graft_jinja_put(struct graft_jinja_run *run, struct graft_jinja_dict *dict, const struct graft_jinja_value *key,
                    const struct graft_jinja_value *value) {
    if (key->kind == GRAFT_JINJA_DICT || graft_jinja_is_list_of(key, GRAFT_JINJA_PLAIN)) {
        return graft_jinja_fail(run, "a %s cannot be a key", graft_jinja_type_name(key));
    }
    int status = graft_jinja_spend(run, 4 * dict->n);
    for (size_t i = 0; i < dict->n && status == GRAFT_OK; i++) {
        if (graft_jinja_equal(run, &dict->entries[i].key, key)) {
            dict->entries[i].value = *value;
            return GRAFT_OK;
        }
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_reserve(run, &dict->entries, &dict->capacity, dict->n, sizeof *dict->entries);
    }
    if (status == GRAFT_OK) {
        dict->entries[dict->n++] = (struct graft_jinja_entry){*key, *value};
    }
    return status;
}

static int walk_text(struct graft_jinja_run *run, const struct graft_jinja_string *string,
                     const struct graft_jinja_value **items, size_t *n) {
    size_t count = graft_utf8_count(string->bytes, string->length);
    struct graft_jinja_value *characters = graft_jinja_take_memory(run, count + 1, sizeof *characters);
    if (characters == NULL) {
        return graft_jinja_failed(run);
    }
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t code;
        size_t step = graft_utf8_read(string->bytes + at, &code);
        characters[i] = graft_jinja_text(graft_jinja_part(string, at, at + step));
        at += step;
    }
    *items = characters;
    *n = count;
    return graft_jinja_spend(run, string->length);
}

static int walk_keys(struct graft_jinja_run *run, const struct graft_jinja_dict *dict,
                     const struct graft_jinja_value **items, size_t *n) {
    struct graft_jinja_value *keys = graft_jinja_take_memory(run, dict->n + 1, sizeof *keys);
    if (keys == NULL) {
        return graft_jinja_failed(run);
    }
    for (size_t i = 0; i < dict->n; i++) {
        keys[i] = dict->entries[i].key;
    }
    *items = keys;
    *n = dict->n;
    return graft_jinja_spend(run, dict->n);
}

int graft_jinja_walk(struct graft_jinja_run *run, const struct graft_jinja_value *value,
                     const struct graft_jinja_value **items, size_t *n) {
    *items = NULL;
    *n = 0;
    switch (value->kind) {
    case GRAFT_JINJA_UNDEFINED:
        return GRAFT_OK;
    case GRAFT_JINJA_LIST:
        *items = value->as.list->items;
        *n = value->as.list->n;
        if (value->as.list->form == GRAFT_JINJA_GENERATOR) {
            value->as.list->n = 0;
        }
        return graft_jinja_spend(run, *n);
    case GRAFT_JINJA_STRING:
        return walk_text(run, &value->as.string, items, n);
    case GRAFT_JINJA_DICT:
        return walk_keys(run, value->as.dict, items, n);
    default:
        return graft_jinja_fail(run, "'%s' object is not iterable", graft_jinja_type_name(value));
    }
}
