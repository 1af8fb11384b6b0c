/* SPDX-License-Identifier: Apache-2.0 */
/* sort, dictsort, unique, groupby, min and max. Upper and lower case are equal unless case_sensitive is true. */
#include <string.h>

#include "jinja/methods.h"

struct sorted {
    struct graft_jinja_value key;
    struct graft_jinja_value item;
};

/* The value that an item is sorted by. */
static int key_of(struct graft_jinja_run *run, const struct graft_jinja_value *item,
                  const struct graft_jinja_value *path, int case_sensitive, struct graft_jinja_value *key) {
    int status = GRAFT_OK;
    *key = *item;
    if (path != NULL && path->kind != GRAFT_JINJA_NONE) {
        status = graft_jinja_attribute_path(run, item, path, key);
    }
    if (status == GRAFT_OK && !case_sensitive && key->kind == GRAFT_JINJA_STRING) {
        const struct graft_jinja_string text = key->as.string;
        status = graft_jinja_change_case(run, &text, GRAFT_JINJA_LOWER, key);
    }
    return status;
}

/* Merges the sorted ranges [begin, middle) and [middle, end); equal items keep their order. */
static int merge(struct graft_jinja_run *run, struct sorted *items, struct sorted *room, size_t begin, size_t middle,
                 size_t end, int reverse) {
    size_t a = begin, b = middle;
    int status = GRAFT_OK;
    for (size_t i = begin; i < end && status == GRAFT_OK; i++) {
        int order = a == middle ? 1 : -1;
        if (a < middle && b < end) {
            status = graft_jinja_order(run, &items[a].key, &items[b].key, &order);
            order = reverse ? -order : order;
        }
        room[i] = order <= 0 ? items[a++] : items[b++];
        status = status == GRAFT_OK ? graft_jinja_spend(run, 16) : status;
    }
    if (status == GRAFT_OK) {
        memcpy(items + begin, room + begin, (end - begin) * sizeof *items);
    }
    return status;
}

static int sort_items(struct graft_jinja_run *run, struct sorted *items, size_t n, int reverse) {
    struct sorted *room = graft_jinja_take_memory(run, n + 1, sizeof *room);
    int status = room != NULL ? GRAFT_OK : graft_jinja_failed(run);
    for (size_t width = 1; width < n && status == GRAFT_OK; width *= 2) {
        for (size_t begin = 0; begin + width < n && status == GRAFT_OK; begin += 2 * width) {
            size_t end = begin + 2 * width < n ? begin + 2 * width : n;
            status = merge(run, items, room, begin, begin + width, end, reverse);
        }
    }
    return status;
}

/* Collects the items with their keys. */
static int take_items(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                      const struct graft_jinja_value *path, int case_sensitive, struct sorted **items, size_t *n) {
    const struct graft_jinja_value *all = NULL;
    int status = graft_jinja_walk(run, self, &all, n);
    *items = status == GRAFT_OK ? graft_jinja_take_memory(run, *n + 1, sizeof **items) : NULL;
    status = status == GRAFT_OK && *items == NULL ? graft_jinja_failed(run) : status;
    for (size_t i = 0; i < *n && status == GRAFT_OK; i++) {
        (*items)[i].item = all[i];
        status = key_of(run, &all[i], path, case_sensitive, &(*items)[i].key);
    }
    return status;
}

static int give_items(struct graft_jinja_run *run, const struct sorted *items, size_t n, enum graft_jinja_form form,
                      struct graft_jinja_value *result) {
    struct graft_jinja_list *made = graft_jinja_new_list(run, form, n);
    int status = made != NULL ? GRAFT_OK : graft_jinja_failed(run);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = graft_jinja_push(run, made, &items[i].item);
    }
    *result = graft_jinja_of_list(made);
    return status;
}

static int is_given(const struct graft_jinja_value *value) {
    return value != NULL && graft_jinja_truth(value);
}

/* reverse=false, case_sensitive=false, attribute=none. */
static int sort(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct sorted *items = NULL;
    size_t n = 0;
    int status = take_items(run, call->self, call->given[2], is_given(call->given[1]), &items, &n);
    if (status == GRAFT_OK) {
        status = sort_items(run, items, n, is_given(call->given[0]));
    }
    return status == GRAFT_OK ? give_items(run, items, n, GRAFT_JINJA_PLAIN, result) : status;
}

/* case_sensitive=false, by='key', reverse=false. */
static int dictsort(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    struct graft_jinja_string by = graft_jinja_literal("key");
    struct graft_jinja_list *pairs = graft_jinja_new_list(run, GRAFT_JINJA_PLAIN, 0);
    struct sorted *items = NULL;
    size_t n = 0;
    int status =
        pairs != NULL ? graft_jinja_want_text(run, call->given[1], "dictsort's by", &by) : graft_jinja_failed(run);
    if (status == GRAFT_OK && call->self->kind != GRAFT_JINJA_DICT) {
        status = graft_jinja_need_defined(run, call->self);
        return status == GRAFT_OK
                   ? graft_jinja_fail(run, "dictsort takes a dict, found a %s", graft_jinja_type_name(call->self))
                   : status;
    }
    const struct graft_jinja_dict *dict = call->self->as.dict;
    for (size_t i = 0; status == GRAFT_OK && i < dict->n; i++) {
        status = graft_jinja_push_pair(run, pairs, &dict->entries[i].key, &dict->entries[i].value);
    }
    const struct graft_jinja_value all = graft_jinja_of_list(pairs);
    const struct graft_jinja_value place = graft_jinja_int(graft_jinja_string_is(&by, "value"));
    if (status == GRAFT_OK) {
        status = take_items(run, &all, &place, is_given(call->given[0]), &items, &n);
    }
    if (status == GRAFT_OK) {
        status = sort_items(run, items, n, is_given(call->given[2]));
    }
    return status == GRAFT_OK ? give_items(run, items, n, GRAFT_JINJA_PLAIN, result) : status;
}

/* case_sensitive=false, attribute=none. */
static int unique(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct sorted *items = NULL;
    size_t n = 0, kept = 0;
    int status = take_items(run, call->self, call->given[1], is_given(call->given[0]), &items, &n);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        size_t k = 0;
        while (k < kept && !graft_jinja_equal(run, &items[k].key, &items[i].key)) {
            k++;
        }
        if (k == kept) {
            items[kept++] = items[i];
        }
        status = graft_jinja_spend(run, 4 * kept);
    }
    return status == GRAFT_OK ? give_items(run, items, kept, GRAFT_JINJA_GENERATOR, result) : status;
}

/* attribute, default=none: a tuple (value, items) for each value, sorted; its elements are also called grouper and
 * list. */
static int groupby(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_list *groups = graft_jinja_new_list(run, GRAFT_JINJA_PLAIN, 0), *group = NULL;
    struct sorted *items = NULL;
    size_t n = 0;
    int status = groups != NULL ? take_items(run, call->self, call->given[0], 0, &items, &n) : graft_jinja_failed(run);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        if (items[i].key.kind == GRAFT_JINJA_UNDEFINED && call->given[1] != NULL) {
            items[i].key = *call->given[1];
        }
    }
    status = status == GRAFT_OK ? sort_items(run, items, n, 0) : status;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        if (i == 0 || !graft_jinja_equal(run, &items[i - 1].key, &items[i].key)) {
            struct graft_jinja_value key;
            group = graft_jinja_new_list(run, GRAFT_JINJA_PLAIN, 0);
            const struct graft_jinja_value value = graft_jinja_of_list(group);
            status = group != NULL ? key_of(run, &items[i].item, call->given[0], 1, &key) : graft_jinja_failed(run);
            if (status == GRAFT_OK && key.kind == GRAFT_JINJA_UNDEFINED) {
                key = items[i].key;
            }
            status = status == GRAFT_OK ? graft_jinja_push_pair(run, groups, &key, &value) : status;
            if (status == GRAFT_OK) {
                groups->items[groups->n - 1].as.list->type_name = graft_jinja_group_type;
            }
        }
        status = status == GRAFT_OK ? graft_jinja_push(run, group, &items[i].item) : status;
    }
    *result = graft_jinja_of_list(groups);
    return status;
}

/* case_sensitive=false, attribute=none: returns the first of several smallest or largest items. */
static int extreme(struct graft_jinja_run *run, const struct graft_jinja_call *call, int largest,
                   struct graft_jinja_value *result) {
    struct sorted *items = NULL;
    size_t n = 0, best = 0;
    int status = take_items(run, call->self, call->given[1], is_given(call->given[0]), &items, &n);
    for (size_t i = 1; i < n && status == GRAFT_OK; i++) {
        int order = 0;
        status = graft_jinja_order(run, &items[i].key, &items[best].key, &order);
        best = (largest ? order > 0 : order < 0) ? i : best;
    }
    *result = n > 0 && status == GRAFT_OK ? items[best].item
                                          : graft_jinja_missing("No aggregated item, sequence was empty.", NULL);
    return status;
}

static int min(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return extreme(run, call, 0, result);
}

static int max(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return extreme(run, call, 1, result);
}

static const struct graft_jinja_built_in entries[] = {
    {"sort", sort, "reverse case_sensitive attribute", 0}, {"dictsort", dictsort, "case_sensitive by reverse", 0},
    {"unique", unique, "case_sensitive attribute", 0},     {"groupby", groupby, "attribute default", 1},
    {"min", min, "case_sensitive attribute", 0},           {"max", max, "case_sensitive attribute", 0},
};

const struct graft_jinja_table graft_jinja_order_filters = GRAFT_JINJA_TABLE(entries);
