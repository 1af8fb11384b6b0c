/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one rendering, shared by this folder's files: limits, scopes and position. All functions are [any]; one
 * that fails has recorded an error that says where in the template. */
#ifndef GRAFT_JINJA_RUN_H
#define GRAFT_JINJA_RUN_H

#include "jinja/node.h"

struct graft_jinja_assigned {
    struct graft_jinja_string name;
    struct graft_jinja_value value;
    struct graft_jinja_assigned *next;
};

/* Loops, macros and some blocks open a scope; "if" does not. */
struct graft_jinja_scope {
    struct graft_jinja_scope *parent;
    struct graft_jinja_assigned *first;
    int is_kept; /* a macro was defined in this scope or one below, and reads its names later */
};

/* A text under construction, with a mark for each byte. Starts as {0}. */
struct graft_jinja_builder {
    struct graft_text text;
    struct graft_text marks; /* up to the last marked byte; later bytes are not marked */
};

enum graft_jinja_signal { GRAFT_JINJA_GO_ON, GRAFT_JINJA_BREAKS, GRAFT_JINJA_CONTINUES };

struct graft_jinja_run {
    const struct graft_jinja_template *parsed;
    const struct graft_jinja_limits *limits;
    struct graft_jinja_arena arena;
    struct graft_jinja_scope *scope;
    struct graft_jinja_scope *free_scopes; /* free lists, as is the next */
    struct graft_jinja_assigned *free_assigned;
    struct graft_jinja_builder *out;
    const struct graft_jinja_node *node; /* the node being evaluated, for errors */
    enum graft_jinja_signal signal;      /* break or continue, for the enclosing loop */
    uint64_t steps;
    int depth;
    time_t now;
    struct graft_error *error; /* never NULL */
};

/* The status to return after a function that returns a pointer has failed. */
static inline int graft_jinja_failed(const struct graft_jinja_run *run) {
    return run->error->code;
}

struct graft_jinja_macro {
    const struct graft_jinja_node *node; /* MACRO_OF or CALL_BLOCK */
    struct graft_jinja_scope *scope;     /* the scope it was defined in */
};

struct graft_jinja_loop {
    const struct graft_jinja_value *items; /* [n] */
    size_t n;
    size_t i;
    int depth;
    struct graft_jinja_value seen; /* the arguments of the last call of `changed` */
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

/* A call of a built-in filter, test, method or function. */
struct graft_jinja_call {
    const struct graft_jinja_value *self; /* what the filter or test applies to, or the method belongs to */
    const struct graft_jinja_arguments *arguments;
    const struct graft_jinja_value
        *given[GRAFT_JINJA_MAX_PARAMETERS]; /* in the order of the entry's parameters; NULL: not given */
};

struct graft_jinja_built_in {
    const char *name;
    int (*call)(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result);
    const char *parameters; /* such as "width first"; NULL: the function reads the arguments itself */
    int required;           /* number of parameters that must be given */
};

/* Records "line L column C: ..." at the current node. Returns GRAFT_ERROR_MODEL. */
int graft_jinja_fail(struct graft_jinja_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
int graft_jinja_fail_memory(struct graft_jinja_run *run);

/* Counts one step, plus one for each 16 of `walked`. Fails when the limit is reached. */
int graft_jinja_spend(struct graft_jinja_run *run, size_t walked);

/* Counts a step and a level of nesting, of nodes or values; fails if there are too many. Undo it with run->depth--,
 * also after a failure. */
int graft_jinja_descend(struct graft_jinja_run *run);

/* Allocates zeroed memory in the rendering's arena; NULL, with an error, if there is none. */
void *graft_jinja_take_memory(struct graft_jinja_run *run, size_t count, size_t size);

/* Doubles the capacity of an array in the arena when `n` has reached `*capacity`. */
int graft_jinja_reserve(struct graft_jinja_run *run, void *array, size_t *capacity, size_t n, size_t size);

/* Text builders, whose memory is bounded by the limit on the output. */
int graft_jinja_add(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                    const struct graft_jinja_string *string);
int graft_jinja_add_literal(struct graft_jinja_run *run, struct graft_jinja_builder *builder, const char *text);
/* With `marked`, the bytes count as input. */
int graft_jinja_add_bytes(struct graft_jinja_run *run, struct graft_jinja_builder *builder, const char *bytes,
                          size_t length, int marked);
/* Turns the builder's text into a value if `status` is GRAFT_OK; otherwise returns `status`. The builder is empty
 * afterwards in either case. */
int graft_jinja_finish_text(struct graft_jinja_run *run, struct graft_jinja_builder *builder, int status,
                            struct graft_jinja_value *result);
void graft_jinja_builder_free(struct graft_jinja_builder *builder);

/* The bytes [begin, end) of a string. */
struct graft_jinja_string graft_jinja_part(const struct graft_jinja_string *string, size_t begin, size_t end);

/* Lists and dicts. */
struct graft_jinja_list *graft_jinja_new_list(struct graft_jinja_run *run, enum graft_jinja_form form, size_t capacity);
int graft_jinja_push(struct graft_jinja_run *run, struct graft_jinja_list *list, const struct graft_jinja_value *item);
struct graft_jinja_dict *graft_jinja_new_dict(struct graft_jinja_run *run, size_t capacity);
int graft_jinja_put(struct graft_jinja_run *run, struct graft_jinja_dict *dict, const struct graft_jinja_value *key,
                    const struct graft_jinja_value *value);
/* Returns NULL if there is no such key. */
const struct graft_jinja_value *graft_jinja_find(struct graft_jinja_run *run, const struct graft_jinja_dict *dict,
                                                 const struct graft_jinja_value *key);

/* Lists what Python iterates over: elements, keys, characters. A generator is empty afterwards. */
int graft_jinja_walk(struct graft_jinja_run *run, const struct graft_jinja_value *value,
                     const struct graft_jinja_value **items, size_t *n);

/* Names. */
int graft_jinja_assign(struct graft_jinja_run *run, const struct graft_jinja_string *name,
                       const struct graft_jinja_value *value);
int graft_jinja_push_scope(struct graft_jinja_run *run, struct graft_jinja_scope *parent);
/* Leaves scopes until `outer` is the current one. Their memory is reused, since nested loops open millions of them. */
void graft_jinja_pop_scope(struct graft_jinja_run *run, struct graft_jinja_scope *outer);
int graft_jinja_lookup(const struct graft_jinja_run *run, const struct graft_jinja_string *name,
                       struct graft_jinja_value *result);
/* Assigns a value to a target: a name, a member of a namespace, or several targets, for which the value is unpacked. */
int graft_jinja_assign_target(struct graft_jinja_run *run, const struct graft_jinja_node *target,
                              const struct graft_jinja_value *value);

/* Nodes. */
int graft_jinja_execute(struct graft_jinja_run *run, const struct graft_jinja_node *list);
int graft_jinja_execute_for(struct graft_jinja_run *run, const struct graft_jinja_node *node);
/* Executes statements in a new scope, and returns what they write. */
int graft_jinja_capture(struct graft_jinja_run *run, const struct graft_jinja_node *list,
                        struct graft_jinja_value *result);
int graft_jinja_evaluate(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                         struct graft_jinja_value *result);
int graft_jinja_evaluate_call(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                              const struct graft_jinja_value *caller, struct graft_jinja_value *result);
/* Applies a chain of FILTER nodes; the innermost has no `a`. */
int graft_jinja_filter_chain(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                             const struct graft_jinja_value *input, struct graft_jinja_value *result);
int graft_jinja_evaluate_arguments(struct graft_jinja_run *run, const struct graft_jinja_node *list,
                                   struct graft_jinja_arguments *arguments);

/* Calls. `what` describes the callee in messages: "filter 'replace'". */
int graft_jinja_call_built_in(struct graft_jinja_run *run, const struct graft_jinja_built_in *entry,
                              const struct graft_jinja_value *self, const struct graft_jinja_arguments *arguments,
                              struct graft_jinja_value *result);
int graft_jinja_call_value(struct graft_jinja_run *run, const struct graft_jinja_value *called,
                           const struct graft_jinja_arguments *arguments, struct graft_jinja_value *result);
/* Applies a filter by name; an unknown name is an error. */
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
/* Finds a method of the value's type; returns 0 if there is none. A method that the sandbox refuses is an undefined
 * value that says so. */
int graft_jinja_find_method(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                            const struct graft_jinja_string *name, struct graft_jinja_value *result);
const struct graft_jinja_built_in *graft_jinja_method(int which);
/* Finds range, dict, namespace and so on; returns 0 if there is no such function. */
int graft_jinja_find_function(const struct graft_jinja_string *name, struct graft_jinja_value *result);
const struct graft_jinja_built_in *graft_jinja_function(int which);

/* Attributes and items. A missing one is an undefined value, not an error. */
int graft_jinja_attribute(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                          const struct graft_jinja_string *name, struct graft_jinja_value *result);
int graft_jinja_item(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                     const struct graft_jinja_value *key, struct graft_jinja_value *result);
int graft_jinja_slice(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                      const struct graft_jinja_value *bounds[3], struct graft_jinja_value *result);
/* Follows a path such as "a.b.0", as filters take it: `path` is a string or an integer. */
int graft_jinja_attribute_path(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                               const struct graft_jinja_value *path, struct graft_jinja_value *result);
/* Fails for an undefined value, as jinja2 does where one is used. */
int graft_jinja_need_defined(struct graft_jinja_run *run, const struct graft_jinja_value *value);
/* Converts to a string as str(value) does; a string stays as it is. */
int graft_jinja_to_text(struct graft_jinja_run *run, const struct graft_jinja_value *value,
                        struct graft_jinja_value *result);
int graft_jinja_add_text(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                         const struct graft_jinja_value *value);
int graft_jinja_add_repr(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                         const struct graft_jinja_value *value);
int graft_jinja_to_json(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                        struct graft_jinja_value *result);
/* Writes a float as Python's repr does. */
void graft_jinja_spell_float(double number, char out[40]);

/* Operators. */
int graft_jinja_binary(struct graft_jinja_run *run, int op, const struct graft_jinja_value *left,
                       const struct graft_jinja_value *right, struct graft_jinja_value *result);
int graft_jinja_negate(struct graft_jinja_run *run, const struct graft_jinja_value *a,
                       struct graft_jinja_value *result);
int graft_jinja_equal(struct graft_jinja_run *run, const struct graft_jinja_value *a,
                      const struct graft_jinja_value *b);
/* Compares as "<" does: `*order` is below 0, 0, or above 0. Fails for types that have no order. */
int graft_jinja_order(struct graft_jinja_run *run, const struct graft_jinja_value *a, const struct graft_jinja_value *b,
                      int *order);
int graft_jinja_compare(struct graft_jinja_run *run, int op, const struct graft_jinja_value *a,
                        const struct graft_jinja_value *b, int *truth);

/* Strings. */
/* Returns where `part` begins in [from, string->length), or string->length + 1 if it does not occur. */
size_t graft_jinja_find_part(const struct graft_jinja_string *string, const struct graft_jinja_string *part,
                             size_t from);
enum graft_jinja_side { GRAFT_JINJA_LEFT = 1, GRAFT_JINJA_RIGHT = 2, GRAFT_JINJA_BOTH = 3 };
/* Strips the characters of `set` from the ends; with NULL, white space. */
struct graft_jinja_string graft_jinja_strip(const struct graft_jinja_string *string,
                                            const struct graft_jinja_string *set, enum graft_jinja_side side);
enum graft_jinja_case {
    GRAFT_JINJA_UPPER,
    GRAFT_JINJA_LOWER,
    GRAFT_JINJA_TITLE,      /* each word begins with an upper case letter */
    GRAFT_JINJA_CAPITALIZE, /* only the first letter is upper case */
    GRAFT_JINJA_SWAP,
};
int graft_jinja_change_case(struct graft_jinja_run *run, const struct graft_jinja_string *string,
                            enum graft_jinja_case to, struct graft_jinja_value *result);
int graft_jinja_replace(struct graft_jinja_run *run, const struct graft_jinja_string *string,
                        const struct graft_jinja_string *old, const struct graft_jinja_string *new, int64_t count,
                        struct graft_jinja_value *result);

/* Escapes a string for HTML unless it is safe already, and marks it as safe. */
int graft_jinja_escape(struct graft_jinja_run *run, struct graft_jinja_value *value);

/* Read arguments that must have a certain type; for an absent one `*out` stays as it is. */
int graft_jinja_want_int(struct graft_jinja_run *run, const struct graft_jinja_value *value, const char *what,
                         int64_t *out);
int graft_jinja_want_text(struct graft_jinja_run *run, const struct graft_jinja_value *value, const char *what,
                          struct graft_jinja_string *out);

/* Converts a variable from JSON to a value. */
int graft_jinja_take_input(struct graft_jinja_run *run, const struct graft_jinja_variable *variable,
                           struct graft_jinja_value *result);

#endif
