/* SPDX-License-Identifier: Apache-2.0 */
/* One rendering: what it may still use, where it is, and what its files share. All functions are [any]; those that can
 * fail return a status and have then recorded an error that says where in the template. */
#ifndef GRAFT_JINJA_RUN_H
#define GRAFT_JINJA_RUN_H

#include "jinja/node.h"

struct graft_jinja_assigned {
    struct graft_jinja_string name;
    struct graft_jinja_value value;
    struct graft_jinja_assigned *next;
};

/* Loops, macros and some blocks have names of their own; "if" has none. */
struct graft_jinja_scope {
    struct graft_jinja_scope *parent;
    struct graft_jinja_assigned *first;
    int is_kept; /* a macro was defined in it, or in one below, and reads its names later */
};

/* A text under construction, with the marks of its bytes. Starts as {0}. */
struct graft_jinja_builder {
    struct graft_text text;
    struct graft_text marks; /* as long as the text up to the last marked byte; behind that none is */
};

enum graft_jinja_signal { GRAFT_JINJA_GO_ON, GRAFT_JINJA_BREAKS, GRAFT_JINJA_CONTINUES };

struct graft_jinja_run {
    const struct graft_jinja_template *parsed;
    const struct graft_jinja_limits *limits;
    struct graft_jinja_arena arena;
    struct graft_jinja_scope *scope;
    struct graft_jinja_scope *free_scopes; /* this and the following: to be used again */
    struct graft_jinja_assigned *free_assigned;
    struct graft_jinja_builder *out;
    const struct graft_jinja_node *node; /* what is evaluated, for errors */
    enum graft_jinja_signal signal;      /* what the statement before asked the loop around it to do */
    uint64_t steps;
    int depth;
    time_t now;
    struct graft_error *error; /* never NULL */
};

/* What to return after a function that returns a pointer has failed. */
static inline int graft_jinja_failed(const struct graft_jinja_run *run) {
    return run->error->code;
}

struct graft_jinja_macro {
    const struct graft_jinja_node *node; /* MACRO_OF or CALL_BLOCK */
    struct graft_jinja_scope *scope;     /* that it was defined in */
};

struct graft_jinja_loop {
    const struct graft_jinja_value *items; /* [n] */
    size_t n;
    size_t i;
    int depth;
    struct graft_jinja_value seen; /* what `changed` was last called with */
    int has_seen;
};

struct graft_jinja_keyword {
    struct graft_jinja_string name;
    struct graft_jinja_value value;
};

struct graft_jinja_arguments {
    struct graft_jinja_value *values; /* [n] */
    size_t n;
    size_t capacity;
    struct graft_jinja_keyword *keywords; /* [n_keywords] */
    size_t n_keywords;
    size_t keyword_capacity;
};

enum { GRAFT_JINJA_MAX_PARAMETERS = 6 };

/* A call of something built in: a filter, a test, a method or a function. */
struct graft_jinja_call {
    const struct graft_jinja_value *self; /* what the filter or test applies to, or whose method it is */
    const struct graft_jinja_arguments *arguments;
    const struct graft_jinja_value *given[GRAFT_JINJA_MAX_PARAMETERS]; /* by the entry's parameters; NULL: not given */
};

struct graft_jinja_built_in {
    const char *name;
    int (*call)(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result);
    const char *parameters; /* "width first"; NULL: the function reads the arguments itself */
    int required;           /* so many of them */
};

/* "line L column C: ..." of the node at hand. Returns GRAFT_ERROR_MODEL. */
int graft_jinja_fail(struct graft_jinja_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
int graft_jinja_fail_memory(struct graft_jinja_run *run);

/* Counts steps: one and another for each 16 of `walked`. Fails when the limit is met. */
int graft_jinja_spend(struct graft_jinja_run *run, size_t walked);

/* Counts a step, and a level of nodes within nodes or values within values; fails where there are too many. To be
 * undone by run->depth--, also then. */
int graft_jinja_descend(struct graft_jinja_run *run);

/* Zeroed memory of the rendering; NULL, with an error, when there is none. */
void *graft_jinja_take_memory(struct graft_jinja_run *run, size_t count, size_t size);

/* Doubles the room of an array in the arena when `n` has reached `*capacity`. */
int graft_jinja_reserve(struct graft_jinja_run *run, void *array, size_t *capacity, size_t n, size_t size);

/* Texts. A builder's memory is bounded by the limit of the output. */
int graft_jinja_add(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                    const struct graft_jinja_string *string);
int graft_jinja_add_literal(struct graft_jinja_run *run, struct graft_jinja_builder *builder, const char *text);
/* `marked`: the bytes count as the input's. */
int graft_jinja_add_bytes(struct graft_jinja_run *run, struct graft_jinja_builder *builder, const char *bytes,
                          size_t length, int marked);
/* The text as a value, unless `status` says that it is not complete; that or another failure is returned. The builder
 * is empty again in each case. */
int graft_jinja_finish_text(struct graft_jinja_run *run, struct graft_jinja_builder *builder, int status,
                            struct graft_jinja_value *result);
void graft_jinja_builder_free(struct graft_jinja_builder *builder);

/* A part of a string: bytes [begin, end). */
struct graft_jinja_string graft_jinja_part(const struct graft_jinja_string *string, size_t begin, size_t end);

/* Lists and dicts. */
struct graft_jinja_list *graft_jinja_new_list(struct graft_jinja_run *run, enum graft_jinja_form form, size_t capacity);
int graft_jinja_push(struct graft_jinja_run *run, struct graft_jinja_list *list, const struct graft_jinja_value *item);
struct graft_jinja_dict *graft_jinja_new_dict(struct graft_jinja_run *run, size_t capacity);
int graft_jinja_put(struct graft_jinja_run *run, struct graft_jinja_dict *dict, const struct graft_jinja_value *key,
                    const struct graft_jinja_value *value);
/* NULL when there is none. */
const struct graft_jinja_value *graft_jinja_find(struct graft_jinja_run *run, const struct graft_jinja_dict *dict,
                                                 const struct graft_jinja_value *key);

/* What Python walks over: elements, keys, characters. A generator is empty afterwards. */
int graft_jinja_walk(struct graft_jinja_run *run, const struct graft_jinja_value *value,
                     const struct graft_jinja_value **items, size_t *n);

/* Names. */
int graft_jinja_assign(struct graft_jinja_run *run, const struct graft_jinja_string *name,
                       const struct graft_jinja_value *value);
int graft_jinja_push_scope(struct graft_jinja_run *run, struct graft_jinja_scope *parent);
/* Leaves scopes up to `outer`. Their memory is used again, as loops within loops make millions of them. */
void graft_jinja_pop_scope(struct graft_jinja_run *run, struct graft_jinja_scope *outer);
int graft_jinja_lookup(const struct graft_jinja_run *run, const struct graft_jinja_string *name,
                       struct graft_jinja_value *result);
/* What a target stands for: a name, a member of a namespace, or several of them, which take a value apart. */
int graft_jinja_assign_target(struct graft_jinja_run *run, const struct graft_jinja_node *target,
                              const struct graft_jinja_value *value);

/* Nodes. */
int graft_jinja_execute(struct graft_jinja_run *run, const struct graft_jinja_node *list);
int graft_jinja_execute_for(struct graft_jinja_run *run, const struct graft_jinja_node *node);
/* Executes a list in a scope of its own and returns what it writes. */
int graft_jinja_capture(struct graft_jinja_run *run, const struct graft_jinja_node *list,
                        struct graft_jinja_value *result);
int graft_jinja_evaluate(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                         struct graft_jinja_value *result);
int graft_jinja_evaluate_call(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                              const struct graft_jinja_value *caller, struct graft_jinja_value *result);
/* Applies a chain of FILTER nodes whose innermost has no `a`. */
int graft_jinja_filter_chain(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                             const struct graft_jinja_value *input, struct graft_jinja_value *result);
int graft_jinja_evaluate_arguments(struct graft_jinja_run *run, const struct graft_jinja_node *list,
                                   struct graft_jinja_arguments *arguments);

/* Calls. `what` is for messages: "filter 'replace'". */
int graft_jinja_call_built_in(struct graft_jinja_run *run, const struct graft_jinja_built_in *entry,
                              const struct graft_jinja_value *self, const struct graft_jinja_arguments *arguments,
                              struct graft_jinja_value *result);
int graft_jinja_call_value(struct graft_jinja_run *run, const struct graft_jinja_value *called,
                           const struct graft_jinja_arguments *arguments, struct graft_jinja_value *result);
/* By name; an unknown one fails. */
int graft_jinja_apply_filter(struct graft_jinja_run *run, const struct graft_jinja_string *name,
                             const struct graft_jinja_value *input, const struct graft_jinja_arguments *arguments,
                             struct graft_jinja_value *result);
int graft_jinja_apply_test(struct graft_jinja_run *run, const struct graft_jinja_string *name,
                           const struct graft_jinja_value *input, const struct graft_jinja_arguments *arguments,
                           int *truth);
const struct graft_jinja_built_in *graft_jinja_find_filter(const struct graft_jinja_string *name);
const struct graft_jinja_built_in *graft_jinja_find_test(const struct graft_jinja_string *name);
const struct graft_jinja_built_in *graft_jinja_find_in(const struct graft_jinja_built_in *table, size_t n,
                                                       const struct graft_jinja_string *name);
/* The method of a value's type; an undefined value that says why not where the sandbox withholds it. 0: none. */
int graft_jinja_find_method(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                            const struct graft_jinja_string *name, struct graft_jinja_value *result);
const struct graft_jinja_built_in *graft_jinja_method(int which);
/* range, dict, namespace, ...; 0: none. */
int graft_jinja_find_function(const struct graft_jinja_string *name, struct graft_jinja_value *result);
const struct graft_jinja_built_in *graft_jinja_function(int which);

/* Attributes and items. What is not there is an undefined value, not a fault. */
int graft_jinja_attribute(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                          const struct graft_jinja_string *name, struct graft_jinja_value *result);
int graft_jinja_item(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                     const struct graft_jinja_value *key, struct graft_jinja_value *result);
int graft_jinja_slice(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                      const struct graft_jinja_value *bounds[3], struct graft_jinja_value *result);
/* "a.b.0" as filters take it: `path` is a string or an integer. */
int graft_jinja_attribute_path(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                               const struct graft_jinja_value *path, struct graft_jinja_value *result);
/* Fails for an undefined value, as jinja2 does where one is used. */
int graft_jinja_need_defined(struct graft_jinja_run *run, const struct graft_jinja_value *value);
/* str(value), in which a string is itself. */
int graft_jinja_to_text(struct graft_jinja_run *run, const struct graft_jinja_value *value,
                        struct graft_jinja_value *result);
int graft_jinja_add_text(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                         const struct graft_jinja_value *value);
int graft_jinja_add_repr(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                         const struct graft_jinja_value *value);
int graft_jinja_to_json(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                        struct graft_jinja_value *result);
/* Python's repr of a float. */
void graft_jinja_spell_float(double number, char out[40]);

/* Operators. */
int graft_jinja_binary(struct graft_jinja_run *run, int op, const struct graft_jinja_value *left,
                       const struct graft_jinja_value *right, struct graft_jinja_value *result);
int graft_jinja_negate(struct graft_jinja_run *run, const struct graft_jinja_value *a,
                       struct graft_jinja_value *result);
int graft_jinja_equal(struct graft_jinja_run *run, const struct graft_jinja_value *a,
                      const struct graft_jinja_value *b);
/* "<": below 0, above 0 or 0 in `*order`; fails for types that have no order. */
int graft_jinja_order(struct graft_jinja_run *run, const struct graft_jinja_value *a, const struct graft_jinja_value *b,
                      int *order);
int graft_jinja_compare(struct graft_jinja_run *run, int op, const struct graft_jinja_value *a,
                        const struct graft_jinja_value *b, int *truth);
int graft_jinja_contains(struct graft_jinja_run *run, const struct graft_jinja_value *all,
                         const struct graft_jinja_value *one, int *truth);

/* Strings. */
/* Where `part` begins in [from, string->length), or the length's next when it does not. */
size_t graft_jinja_find_part(const struct graft_jinja_string *string, const struct graft_jinja_string *part,
                             size_t from);
enum graft_jinja_side { GRAFT_JINJA_LEFT = 1, GRAFT_JINJA_RIGHT = 2, GRAFT_JINJA_BOTH = 3 };
/* Without the characters of `set` at its ends; NULL: white space. */
struct graft_jinja_string graft_jinja_strip(const struct graft_jinja_string *string,
                                            const struct graft_jinja_string *set, enum graft_jinja_side side);
enum graft_jinja_case {
    GRAFT_JINJA_UPPER,
    GRAFT_JINJA_LOWER,
    GRAFT_JINJA_TITLE,      /* each run of letters begins with a large one */
    GRAFT_JINJA_CAPITALIZE, /* the first character only */
    GRAFT_JINJA_SWAP,
};
int graft_jinja_change_case(struct graft_jinja_run *run, const struct graft_jinja_string *string,
                            enum graft_jinja_case to, struct graft_jinja_value *result);
int graft_jinja_replace(struct graft_jinja_run *run, const struct graft_jinja_string *string,
                        const struct graft_jinja_string *old, const struct graft_jinja_string *new, int64_t count,
                        struct graft_jinja_value *result);

/* A string for HTML, unless it is safe already; safe from then on. */
int graft_jinja_escape(struct graft_jinja_run *run, struct graft_jinja_value *value);

/* Arguments that must be of a type; absent ones leave `*out` as it is. */
int graft_jinja_want_int(struct graft_jinja_run *run, const struct graft_jinja_value *value, const char *what,
                         int64_t *out);
int graft_jinja_want_text(struct graft_jinja_run *run, const struct graft_jinja_value *value, const char *what,
                          struct graft_jinja_string *out);

/* JSON to values. */
int graft_jinja_take_input(struct graft_jinja_run *run, const struct graft_jinja_variable *variable,
                           struct graft_jinja_value *result);

#endif
