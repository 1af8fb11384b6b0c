/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a template. They live in the arena of the rendering; literals live in that of the parsed template. Lists,
 * dicts and namespaces are shared, all other values are copied. */
#ifndef GRAFT_JINJA_VALUE_H
#define GRAFT_JINJA_VALUE_H

#include <stddef.h>
#include <stdint.h>

enum graft_jinja_kind {
    GRAFT_JINJA_UNDEFINED,
    GRAFT_JINJA_NONE,
    GRAFT_JINJA_BOOL,
    GRAFT_JINJA_INT,
    GRAFT_JINJA_FLOAT,
    GRAFT_JINJA_STRING,
    GRAFT_JINJA_LIST,
    GRAFT_JINJA_DICT,
    GRAFT_JINJA_NAMESPACE,
    GRAFT_JINJA_LOOP,
    GRAFT_JINJA_MACRO,
    GRAFT_JINJA_METHOD,   /* of a string, list or dict, bound to its object */
    GRAFT_JINJA_FUNCTION, /* range, dict, ... */
};

/* Valid UTF-8. May contain NULs, and is not NUL-terminated. */
struct graft_jinja_string {
    const char *bytes;          /* [length] */
    const unsigned char *marks; /* [length] 1 for a byte of the input; NULL: none is */
    size_t length;
};

/* Python's kinds of sequences, which allow different operations. */
enum graft_jinja_form {
    GRAFT_JINJA_PLAIN,     /* list */
    GRAFT_JINJA_TUPLE,     /* compares and prints differently */
    GRAFT_JINJA_RANGE,     /* as above */
    GRAFT_JINJA_VIEW,      /* dict.items() and the like: has a length, cannot be indexed */
    GRAFT_JINJA_GENERATOR, /* what filters such as map return: true, without a length, usable once */
};

struct graft_jinja_list {
    struct graft_jinja_value *items; /* [n] */
    size_t n;
    size_t capacity;
    enum graft_jinja_form form;
    const char *type_name; /* of views, generators and groups: Python's name */
};

/* The type_name of a group made by groupby: a tuple whose elements have names. */
extern const char graft_jinja_group_type[];

struct graft_jinja_macro;
struct graft_jinja_loop;

struct graft_jinja_value {
    enum graft_jinja_kind kind;
    int safe; /* a string that the filters safe or escape returned; "+" escapes what it is joined to */
    union {
        /* Of an undefined value: the name that was looked up (NUL-terminated) and in what; owner NULL: a variable. */
        struct {
            const char *name;
            const char *owner;
            int unsafe; /* it exists, but the sandbox refuses it */
        } missing;
        int truth;
        int64_t integer;
        double real;
        struct graft_jinja_string string;
        struct graft_jinja_list *list;
        struct graft_jinja_dict *dict; /* also of a namespace */
        struct graft_jinja_macro *macro;
        struct graft_jinja_loop *loop;
        struct {
            const struct graft_jinja_value *self;
            int which;
        } method;
        int function;
    } as;
};

struct graft_jinja_entry {
    struct graft_jinja_value key;
    struct graft_jinja_value value;
};

/* Entries are in the order of insertion. */
struct graft_jinja_dict {
    struct graft_jinja_entry *entries; /* [n] */
    size_t n;
    size_t capacity;
};

static inline struct graft_jinja_value graft_jinja_none(void) {
    return (struct graft_jinja_value){.kind = GRAFT_JINJA_NONE};
}

static inline struct graft_jinja_value graft_jinja_bool(int truth) {
    return (struct graft_jinja_value){.kind = GRAFT_JINJA_BOOL, .as.truth = truth != 0};
}

static inline struct graft_jinja_value graft_jinja_int(int64_t number) {
    return (struct graft_jinja_value){.kind = GRAFT_JINJA_INT, .as.integer = number};
}

static inline struct graft_jinja_value graft_jinja_float(double number) {
    return (struct graft_jinja_value){.kind = GRAFT_JINJA_FLOAT, .as.real = number};
}

static inline struct graft_jinja_value graft_jinja_text(struct graft_jinja_string string) {
    return (struct graft_jinja_value){.kind = GRAFT_JINJA_STRING, .as.string = string};
}

static inline struct graft_jinja_value graft_jinja_of_list(struct graft_jinja_list *list) {
    return (struct graft_jinja_value){.kind = GRAFT_JINJA_LIST, .as.list = list};
}

static inline struct graft_jinja_value graft_jinja_of_dict(struct graft_jinja_dict *dict) {
    return (struct graft_jinja_value){.kind = GRAFT_JINJA_DICT, .as.dict = dict};
}

/* The undefined value that jinja2 returns where there is nothing, as for `first` of an empty list. */
static inline struct graft_jinja_value graft_jinja_missing(const char *name, const char *owner) {
    return (struct graft_jinja_value){.as.missing = {name, owner, 0}};
}

static inline int graft_jinja_is_list_of(const struct graft_jinja_value *value, enum graft_jinja_form form) {
    return value->kind == GRAFT_JINJA_LIST && value->as.list->form == form;
}

/* Makes a string from a C literal, for comparisons and constants. */
struct graft_jinja_string graft_jinja_literal(const char *text);
int graft_jinja_string_equal(const struct graft_jinja_string *a, const struct graft_jinja_string *b);
int graft_jinja_string_is(const struct graft_jinja_string *string, const char *text);

/* Python's name of the type, such as "str", for messages. */
const char *graft_jinja_type_name(const struct graft_jinja_value *value);

/* Whether the value is true in Python. */
int graft_jinja_truth(const struct graft_jinja_value *value);

/* Whether it is a bool, int or float. */
int graft_jinja_is_number(const struct graft_jinja_value *value);
double graft_jinja_as_double(const struct graft_jinja_value *value);
/* Returns 1 and the number for a bool or int, else 0. */
int graft_jinja_as_int(const struct graft_jinja_value *value, int64_t *number);

#endif
