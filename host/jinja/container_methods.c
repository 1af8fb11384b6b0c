/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of dicts, lists and loops. */
#include "jinja/methods.h"

static int get(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_value *found = graft_jinja_find(run, call->self->as.dict, call->given[0]);
    *result = found != NULL ? *found : call->given[1] != NULL ? *call->given[1] : graft_jinja_none();
    return graft_jinja_spend(run, 2 * call->self->as.dict->n);
}

static struct graft_jinja_list *new_view(struct graft_jinja_run *run, size_t n, const char *type_name) {
    struct graft_jinja_list *view = graft_jinja_new_list(run, GRAFT_JINJA_VIEW, n);
    if (view != NULL) {
        view->type_name = type_name;
    }
    return view;
}

static int keys(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_dict *dict = call->self->as.dict;
    struct graft_jinja_list *view = new_view(run, dict->n, "dict_keys");
    int status = view != NULL ? graft_jinja_spend(run, dict->n) : graft_jinja_failed(run);
    for (size_t i = 0; i < dict->n && status == GRAFT_OK; i++) {
        status = graft_jinja_push(run, view, &dict->entries[i].key);
    }
    *result = graft_jinja_of_list(view);
    return status;
}

static int values(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_dict *dict = call->self->as.dict;
    struct graft_jinja_list *view = new_view(run, dict->n, "dict_values");
    int status = view != NULL ? graft_jinja_spend(run, dict->n) : graft_jinja_failed(run);
    for (size_t i = 0; i < dict->n && status == GRAFT_OK; i++) {
        status = graft_jinja_push(run, view, &dict->entries[i].value);
    }
    *result = graft_jinja_of_list(view);
    return status;
}

int graft_jinja_push_pair(struct graft_jinja_run *run, struct graft_jinja_list *list,
                          const struct graft_jinja_value *first, const struct graft_jinja_value *second) {
    struct graft_jinja_list *pair = graft_jinja_new_list(run, GRAFT_JINJA_TUPLE, 2);
    int status = pair != NULL ? graft_jinja_push(run, pair, first) : graft_jinja_failed(run);
    if (status == GRAFT_OK) {
        status = graft_jinja_push(run, pair, second);
    }
    const struct graft_jinja_value value = graft_jinja_of_list(pair);
    return status == GRAFT_OK ? graft_jinja_push(run, list, &value) : status;
}

static int items(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_dict *dict = call->self->as.dict;
    struct graft_jinja_list *view = new_view(run, dict->n, "dict_items");
    int status = view != NULL ? graft_jinja_spend(run, dict->n) : graft_jinja_failed(run);
    for (size_t i = 0; i < dict->n && status == GRAFT_OK; i++) {
        status = graft_jinja_push_pair(run, view, &dict->entries[i].key, &dict->entries[i].value);
    }
    *result = graft_jinja_of_list(view);
    return status;
}

/* Returns the object itself: nothing can change a dict or list, so no copy is needed. */
static int copy(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    *result = *call->self;
    return graft_jinja_spend(run, 0);
}

static int count(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_list *list = call->self->as.list;
    int64_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        n += graft_jinja_equal(run, &list->items[i], call->given[0]);
    }
    *result = graft_jinja_int(n);
    return graft_jinja_spend(run, 4 * list->n);
}

static int index_of(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    const struct graft_jinja_list *list = call->self->as.list;
    size_t i = 0;
    while (i < list->n && !graft_jinja_equal(run, &list->items[i], call->given[0])) {
        i++;
    }
    *result = graft_jinja_int((int64_t)i);
    return i < list->n ? graft_jinja_spend(run, 4 * i) : graft_jinja_fail(run, "the value is not in the list");
}

static int cycle(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_arguments *arguments = call->arguments;
    if (arguments->n == 0) {
        return graft_jinja_fail(run, "no items for cycling given");
    }
    *result = arguments->values[call->self->as.loop->i % arguments->n];
    return GRAFT_OK;
}

static int changed(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_loop *loop = call->self->as.loop;
    const struct graft_jinja_arguments *arguments = call->arguments;
    struct graft_jinja_list *now = graft_jinja_new_list(run, GRAFT_JINJA_TUPLE, 0);
    int status = now != NULL ? GRAFT_OK : graft_jinja_failed(run);
    for (size_t i = 0; i < arguments->n && status == GRAFT_OK; i++) {
        status = graft_jinja_push(run, now, &arguments->values[i]);
    }
    if (status == GRAFT_OK) {
        const struct graft_jinja_value value = graft_jinja_of_list(now);
        *result = graft_jinja_bool(!loop->has_seen || !graft_jinja_equal(run, &loop->seen, &value));
        loop->seen = value;
        loop->has_seen = 1;
    }
    return status;
}

static const struct graft_jinja_built_in dict_entries[] = {
    {"get", get, "key default", 1}, {"keys", keys, "", 0}, {"values", values, "", 0},
    {"items", items, "", 0},        {"copy", copy, "", 0},
};

static const struct graft_jinja_built_in list_entries[] = {
    {"count", count, "value", 1},
    {"index", index_of, "value", 1},
    {"copy", copy, "", 0},
};

static const struct graft_jinja_built_in loop_entries[] = {
    {"cycle", cycle, NULL, 0},
    {"changed", changed, NULL, 0},
};

const struct graft_jinja_table graft_jinja_dict_methods = GRAFT_JINJA_TABLE(dict_entries);
const struct graft_jinja_table graft_jinja_list_methods = GRAFT_JINJA_TABLE(list_entries);
const struct graft_jinja_table graft_jinja_loop_methods = GRAFT_JINJA_TABLE(loop_entries);
