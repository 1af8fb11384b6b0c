/* SPDX-License-Identifier: Apache-2.0 */
/* Filters on lists that do not reorder by value: list, first, last, reverse, join, items, batch, sum and attr. */
#include <string.h>

#include "jinja/methods.h"

static int list(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_value *items = NULL;
    size_t n = 0;
    int status = graft_jinja_walk(run, call->self, &items, &n);
    struct graft_jinja_list *made = status == GRAFT_OK ? graft_jinja_new_list(run, GRAFT_JINJA_PLAIN, n) : NULL;
    status = status == GRAFT_OK && made == NULL ? graft_jinja_failed(run) : status;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = graft_jinja_push(run, made, &items[i]);
    }
    *result = graft_jinja_of_list(made);
    return status;
}

static int first(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_value *items = NULL;
    size_t n = 0;
    int status = graft_jinja_walk(run, call->self, &items, &n);
    *result = n > 0 ? items[0] : graft_jinja_missing("No first item, sequence was empty.", NULL);
    return status;
}

static int last(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_value *items = NULL;
    size_t n = 0;
    if (graft_jinja_is_list_of(call->self, GRAFT_JINJA_GENERATOR)) {
        return graft_jinja_fail(run, "'%s' object is not reversible", graft_jinja_type_name(call->self));
    }
    int status = graft_jinja_walk(run, call->self, &items, &n);
    *result = n > 0 ? items[n - 1] : graft_jinja_missing("No last item, sequence was empty.", NULL);
    return status;
}

/* Reverses a string, or returns an iterator that goes backwards over any other sequence. */
static int reverse(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_value *items = NULL;
    size_t n = 0;
    if (call->self->kind == GRAFT_JINJA_STRING) {
        const struct graft_jinja_value step = graft_jinja_int(-1);
        const struct graft_jinja_value *bounds[3] = {NULL, NULL, &step};
        return graft_jinja_slice(run, call->self, bounds, result);
    }
    int status = graft_jinja_walk(run, call->self, &items, &n);
    struct graft_jinja_list *made = status == GRAFT_OK ? graft_jinja_new_list(run, GRAFT_JINJA_GENERATOR, n) : NULL;
    status = status == GRAFT_OK && made == NULL ? graft_jinja_failed(run) : status;
    if (status == GRAFT_OK) {
        made->type_name = "list_reverseiterator";
    }
    for (size_t i = n; i > 0 && status == GRAFT_OK; i--) {
        status = graft_jinja_push(run, made, &items[i - 1]);
    }
    *result = graft_jinja_of_list(made);
    return status;
}

/* d='', attribute=none. */
static int join(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_value *items = NULL;
    struct graft_jinja_value separator = graft_jinja_text(graft_jinja_literal(""));
    struct graft_jinja_builder text = {0};
    size_t n = 0;
    int status = graft_jinja_walk(run, call->self, &items, &n);
    if (status == GRAFT_OK && call->given[0] != NULL) {
        status = graft_jinja_to_text(run, call->given[0], &separator);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        struct graft_jinja_value item = items[i];
        if (call->given[1] != NULL && call->given[1]->kind != GRAFT_JINJA_NONE) {
            status = graft_jinja_attribute_path(run, &items[i], call->given[1], &item);
        }
        if (status == GRAFT_OK && i > 0) {
            status = graft_jinja_add(run, &text, &separator.as.string);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_add_text(run, &text, &item);
        }
    }
    return graft_jinja_finish_text(run, &text, status, result);
}

static int items(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_list *made = graft_jinja_new_list(run, GRAFT_JINJA_GENERATOR, 0);
    int status = made != NULL ? GRAFT_OK : graft_jinja_failed(run);
    *result = graft_jinja_of_list(made);
    if (status != GRAFT_OK || call->self->kind == GRAFT_JINJA_UNDEFINED) {
        return status;
    }
    if (call->self->kind != GRAFT_JINJA_DICT) {
        return graft_jinja_fail(run, "Can only get item pairs from a mapping.");
    }
    const struct graft_jinja_dict *dict = call->self->as.dict;
    for (size_t i = 0; i < dict->n && status == GRAFT_OK; i++) {
        status = graft_jinja_push_pair(run, made, &dict->entries[i].key, &dict->entries[i].value);
    }
    return status == GRAFT_OK ? graft_jinja_spend(run, 16 * dict->n) : status;
}

/* Splits a list into lists of `linecount` items; the last one is padded. */
static int batch(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_value *all = NULL;
    struct graft_jinja_list *made = graft_jinja_new_list(run, GRAFT_JINJA_GENERATOR, 0), *part = NULL;
    size_t n = 0;
    int64_t size = 0;
    int status = made != NULL ? graft_jinja_walk(run, call->self, &all, &n) : graft_jinja_failed(run);
    if (status == GRAFT_OK) {
        status = graft_jinja_want_int(run, call->given[0], "batch's linecount", &size);
    }
    if (status == GRAFT_OK && (size < 1 || size > 100000)) {
        status = graft_jinja_fail(run, "batch's linecount is not between 1 and 100000");
    }
    const int fills = call->given[1] != NULL && call->given[1]->kind != GRAFT_JINJA_NONE;
    for (size_t i = 0; status == GRAFT_OK && (i < n || (fills && n > 0 && i % (size_t)size != 0)); i++) {
        if (i % (size_t)size == 0) {
            part = graft_jinja_new_list(run, GRAFT_JINJA_PLAIN, 0);
            const struct graft_jinja_value value = graft_jinja_of_list(part);
            status = part != NULL ? graft_jinja_push(run, made, &value) : graft_jinja_failed(run);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_push(run, part, i < n ? &all[i] : call->given[1]);
        }
    }
    *result = graft_jinja_of_list(made);
    return status;
}

/* attribute=none, start=0. */
static int sum(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_value *all = NULL;
    size_t n = 0;
    int status = graft_jinja_walk(run, call->self, &all, &n);
    struct graft_jinja_value total = call->given[1] != NULL ? *call->given[1] : graft_jinja_int(0);
    if (status == GRAFT_OK && total.kind == GRAFT_JINJA_STRING) {
        status = graft_jinja_fail(run, "sum() can't sum strings");
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        struct graft_jinja_value item = all[i];
        if (call->given[0] != NULL && call->given[0]->kind != GRAFT_JINJA_NONE) {
            status = graft_jinja_attribute_path(run, &all[i], call->given[0], &item);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_binary(run, GRAFT_JINJA_ADD, &total, &item, &total);
        }
    }
    *result = total;
    return status;
}

static int attr(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_string name = {0};
    int status = graft_jinja_want_text(run, call->given[0], "attr's name", &name);
    if (status == GRAFT_OK && call->self->kind == GRAFT_JINJA_DICT &&
        !graft_jinja_find_method(run, call->self, &name, result)) {
        /* jinja2 looks for an attribute of the object here, never for a member. */
        *result = graft_jinja_missing("the attribute", "dict");
        return GRAFT_OK;
    }
    return status == GRAFT_OK ? graft_jinja_attribute(run, call->self, &name, result) : status;
}

static const struct graft_jinja_built_in entries[] = {
    {"list", list, "", 0},
    {"first", first, "", 0},
    {"last", last, "", 0},
    {"reverse", reverse, "", 0},
    {"join", join, "d attribute", 0},
    {"items", items, "", 0},
    {"batch", batch, "linecount fill_with", 1},
    {"sum", sum, "attribute start", 0},
    {"attr", attr, "name", 1},
};

const struct graft_jinja_table graft_jinja_list_filters = GRAFT_JINJA_TABLE(entries);
