/* SPDX-License-Identifier: Apache-2.0 */
/* Equality, order, and the operator "in". */
#include <string.h>

#include "jinja/run.h"

/* Values can nest as deep as the input or the template made them. */
enum { MAX_DEPTH = 200 };

static int equal_at(struct graft_jinja_run *run, const struct graft_jinja_value *a, const struct graft_jinja_value *b,
                    int depth);

/* Counts the steps of a comparison: lists that contain each other many times would take for ever. Once the limit is
 * reached the result does not matter, because the next step fails. */
static int may_go_on(struct graft_jinja_run *run, size_t steps) {
    run->steps += steps;
    return run->steps <= run->limits->steps;
}

static int equal_lists(struct graft_jinja_run *run, const struct graft_jinja_list *a, const struct graft_jinja_list *b,
                       int depth) {
    if (a == b) {
        return 1;
    }
    if (a->form != b->form || a->n != b->n || a->form >= GRAFT_JINJA_VIEW) {
        return 0;
    }
    for (size_t i = 0; i < a->n; i++) {
        if (!equal_at(run, &a->items[i], &b->items[i], depth + 1)) {
            return 0;
        }
    }
    return 1;
}

static int equal_dicts(struct graft_jinja_run *run, const struct graft_jinja_dict *a, const struct graft_jinja_dict *b,
                       int depth) {
    if (a == b) {
        return 1;
    }
    if (a->n != b->n) {
        return 0;
    }
    for (size_t i = 0; i < a->n; i++) {
        const struct graft_jinja_value *other = graft_jinja_find(run, b, &a->entries[i].key);
        if (other == NULL || !equal_at(run, &a->entries[i].value, other, depth + 1)) {
            return 0;
        }
    }
    return 1;
}

static int equal_numbers(const struct graft_jinja_value *a, const struct graft_jinja_value *b) {
    int64_t m = 0, n = 0;
    if (graft_jinja_as_int(a, &m) && graft_jinja_as_int(b, &n)) {
        return m == n;
    }
    return graft_jinja_as_double(a) == graft_jinja_as_double(b);
}

static int equal_at(struct graft_jinja_run *run, const struct graft_jinja_value *a, const struct graft_jinja_value *b,
                    int depth) {
    if (graft_jinja_is_number(a) && graft_jinja_is_number(b)) {
        return equal_numbers(a, b);
    }
    if (a->kind != b->kind || depth > MAX_DEPTH || !may_go_on(run, 1)) {
        return 0;
    }
    switch (a->kind) {
    case GRAFT_JINJA_STRING:
        if (a->as.string.length != b->as.string.length || !may_go_on(run, a->as.string.length / 16)) {
            return 0;
        }
        return graft_jinja_string_equal(&a->as.string, &b->as.string);
    case GRAFT_JINJA_LIST:
        return equal_lists(run, a->as.list, b->as.list, depth);
    case GRAFT_JINJA_DICT:
        return equal_dicts(run, a->as.dict, b->as.dict, depth);
    case GRAFT_JINJA_NAMESPACE:
        return a->as.dict == b->as.dict;
    case GRAFT_JINJA_LOOP:
        return a->as.loop == b->as.loop;
    case GRAFT_JINJA_MACRO:
        return a->as.macro == b->as.macro;
    case GRAFT_JINJA_METHOD:
        return a->as.method.which == b->as.method.which &&
               equal_at(run, a->as.method.self, b->as.method.self, depth + 1);
    case GRAFT_JINJA_FUNCTION:
        return a->as.function == b->as.function;
    default:
        return 1; /* both are undefined, or both none */
    }
}

int graft_jinja_equal(struct graft_jinja_run *run, const struct graft_jinja_value *a,
                      const struct graft_jinja_value *b) {
    return equal_at(run, a, b, 0);
}

static int order_texts(const struct graft_jinja_string *a, const struct graft_jinja_string *b) {
    size_t shared = a->length < b->length ? a->length : b->length;
    /* Comparing UTF-8 by bytes gives the order of code points. */
    int order = shared > 0 ? memcmp(a->bytes, b->bytes, shared) : 0;
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int order_lists(struct graft_jinja_run *run, const struct graft_jinja_list *a, const struct graft_jinja_list *b,
                       int *order) {
    size_t i = 0;
    while (i < a->n && i < b->n && graft_jinja_equal(run, &a->items[i], &b->items[i])) {
        i++;
    }
    if (i < a->n && i < b->n) {
        int status = graft_jinja_descend(run);
        status = status == GRAFT_OK ? graft_jinja_order(run, &a->items[i], &b->items[i], order) : status;
        run->depth--;
        return status;
    }
    *order = (a->n > b->n) - (a->n < b->n);
    return GRAFT_OK;
}

int graft_jinja_order(struct graft_jinja_run *run, const struct graft_jinja_value *a, const struct graft_jinja_value *b,
                      int *order) {
    int status = graft_jinja_need_defined(run, a);
    if (status == GRAFT_OK) {
        status = graft_jinja_need_defined(run, b);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    int64_t m = 0, n = 0;
    if (graft_jinja_as_int(a, &m) && graft_jinja_as_int(b, &n)) {
        *order = (m > n) - (m < n);
    } else if (graft_jinja_is_number(a) && graft_jinja_is_number(b)) {
        double x = graft_jinja_as_double(a), y = graft_jinja_as_double(b);
        *order = (x > y) - (x < y);
    } else if (a->kind == GRAFT_JINJA_STRING && b->kind == GRAFT_JINJA_STRING) {
        *order = order_texts(&a->as.string, &b->as.string);
    } else if (a->kind == GRAFT_JINJA_LIST && b->kind == GRAFT_JINJA_LIST && a->as.list->form == b->as.list->form &&
               a->as.list->form <= GRAFT_JINJA_TUPLE) {
        return order_lists(run, a->as.list, b->as.list, order);
    } else {
        return graft_jinja_fail(run, "'<' is not supported between instances of '%s' and '%s'",
                                graft_jinja_type_name(a), graft_jinja_type_name(b));
    }
    return GRAFT_OK;
}

static int contains(struct graft_jinja_run *run, const struct graft_jinja_value *all,
                    const struct graft_jinja_value *one, int *truth) {
    const struct graft_jinja_value *items = NULL;
    size_t n = 0;
    *truth = 0;
    if (all->kind == GRAFT_JINJA_STRING) {
        if (one->kind != GRAFT_JINJA_STRING) {
            return graft_jinja_fail(run, "'in <string>' requires string as left operand, not %s",
                                    graft_jinja_type_name(one));
        }
        *truth = graft_jinja_find_part(&all->as.string, &one->as.string, 0) <= all->as.string.length;
        return graft_jinja_spend(run, all->as.string.length);
    }
    if (all->kind == GRAFT_JINJA_DICT) {
        *truth = graft_jinja_find(run, all->as.dict, one) != NULL;
        return graft_jinja_spend(run, 4 * all->as.dict->n);
    }
    if (all->kind != GRAFT_JINJA_LIST && all->kind != GRAFT_JINJA_UNDEFINED) {
        return graft_jinja_fail(run, "argument of type '%s' is not iterable", graft_jinja_type_name(all));
    }
    int status = graft_jinja_walk(run, all, &items, &n);
    for (size_t i = 0; i < n && status == GRAFT_OK && !*truth; i++) {
        *truth = graft_jinja_equal(run, &items[i], one);
    }
    return status == GRAFT_OK ? graft_jinja_spend(run, 4 * n) : status;
}

int graft_jinja_compare(struct graft_jinja_run *run, int op, const struct graft_jinja_value *a,
                        const struct graft_jinja_value *b, int *truth) {
    int order = 0;
    int status = GRAFT_OK;
    if (op == GRAFT_JINJA_IN || op == GRAFT_JINJA_NOT_IN) {
        status = contains(run, b, a, truth);
        *truth = op == GRAFT_JINJA_IN ? *truth : !*truth;
        return status;
    }
    if (op == GRAFT_JINJA_EQUAL || op == GRAFT_JINJA_NOT_EQUAL) {
        *truth = graft_jinja_equal(run, a, b) == (op == GRAFT_JINJA_EQUAL);
        return GRAFT_OK;
    }
    status = graft_jinja_order(run, a, b, &order);
    *truth = op == GRAFT_JINJA_LESS         ? order < 0
             : op == GRAFT_JINJA_LESS_EQUAL ? order <= 0
             : op == GRAFT_JINJA_GREATER    ? order > 0
                                            : order >= 0;
    return status;
}
