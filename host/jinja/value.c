/* SPDX-License-Identifier: Apache-2.0 */
#include "jinja/value.h"

#include <string.h>

const char graft_jinja_group_type[] = "_GroupTuple";

struct graft_jinja_string graft_jinja_literal(const char *text) {
    return (struct graft_jinja_string){text, NULL, strlen(text)};
}

int graft_jinja_string_equal(const struct graft_jinja_string *a, const struct graft_jinja_string *b) {
    return a->length == b->length && (a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0);
}

int graft_jinja_string_is(const struct graft_jinja_string *string, const char *text) {
    const struct graft_jinja_string other = graft_jinja_literal(text);
    return graft_jinja_string_equal(string, &other);
}

const char *graft_jinja_type_name(const struct graft_jinja_value *value) {
    static const char *const names[] = {"Undefined", "NoneType",  "bool",        "int",   "float",  "str",     "list",
                                        "dict",      "Namespace", "LoopContext", "Macro", "method", "function"};
    static const char *const forms[] = {"list", "tuple", "range"};
    if (value->kind != GRAFT_JINJA_LIST) {
        return names[value->kind];
    }
    const struct graft_jinja_list *list = value->as.list;
    return list->form < GRAFT_JINJA_VIEW ? forms[list->form] : list->type_name;
}

int graft_jinja_truth(const struct graft_jinja_value *value) {
    switch (value->kind) {
    case GRAFT_JINJA_UNDEFINED:
    case GRAFT_JINJA_NONE:
        return 0;
    case GRAFT_JINJA_BOOL:
        return value->as.truth;
    case GRAFT_JINJA_INT:
        return value->as.integer != 0;
    case GRAFT_JINJA_FLOAT:
        return value->as.real != 0;
    case GRAFT_JINJA_STRING:
        return value->as.string.length > 0;
    case GRAFT_JINJA_LIST:
        return value->as.list->form == GRAFT_JINJA_GENERATOR || value->as.list->n > 0;
    case GRAFT_JINJA_DICT:
        return value->as.dict->n > 0;
    default:
        return 1;
    }
}

int graft_jinja_is_number(const struct graft_jinja_value *value) {
    return value->kind == GRAFT_JINJA_BOOL || value->kind == GRAFT_JINJA_INT || value->kind == GRAFT_JINJA_FLOAT;
}

double graft_jinja_as_double(const struct graft_jinja_value *value) {
    return value->kind == GRAFT_JINJA_FLOAT ? value->as.real
           : value->kind == GRAFT_JINJA_INT ? (double)value->as.integer
                                            : (double)value->as.truth;
}

int graft_jinja_as_int(const struct graft_jinja_value *value, int64_t *number) {
    if (value->kind != GRAFT_JINJA_INT && value->kind != GRAFT_JINJA_BOOL) {
        return 0;
    }
    *number = value->kind == GRAFT_JINJA_INT ? value->as.integer : value->as.truth;
    return 1;
}
