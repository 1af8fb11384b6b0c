/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the nodes of a parsed expression, and operands, the values that evaluation passes between
 * them. */
#ifndef GRAFT_ARCH_DATA_EXPRESSION_NODE_H
#define GRAFT_ARCH_DATA_EXPRESSION_NODE_H

#include "arch/data/expression.h"

enum { GRAFT_EXPRESSION_LEVELS = 64 /* nesting depth of brackets, and height of the tree of nodes */ };

enum graft_node_kind {
    GRAFT_NODE_CONSTANT,
    GRAFT_NODE_FIELD,   /* its path is `word` */
    GRAFT_NODE_ELEMENT, /* first: GRAFT_NODE_FIELD; second: the index; `word`: a path below the element; 0: none */
    GRAFT_NODE_LAYER,
    GRAFT_NODE_LIST,      /* first: the first element; `next` links the others */
    GRAFT_NODE_CONDITION, /* first ? second : third */
    GRAFT_NODE_OTHERWISE, /* first ?? second */
    GRAFT_NODE_OR,
    GRAFT_NODE_AND,
    GRAFT_NODE_NOT,
    GRAFT_NODE_EQUAL,
    GRAFT_NODE_UNEQUAL,
    GRAFT_NODE_LESS,
    GRAFT_NODE_LESS_EQUAL,
    GRAFT_NODE_GREATER,
    GRAFT_NODE_GREATER_EQUAL,
    GRAFT_NODE_IN,
    GRAFT_NODE_NOT_IN,
    GRAFT_NODE_ADD,
    GRAFT_NODE_SUBTRACT,
    GRAFT_NODE_MULTIPLY,
    GRAFT_NODE_DIVIDE,
    GRAFT_NODE_FLOOR_DIVIDE,
    GRAFT_NODE_REMAINDER,
    GRAFT_NODE_POWER,
    GRAFT_NODE_NEGATE,
    GRAFT_NODE_SQRT,
    GRAFT_NODE_LOG,
    GRAFT_NODE_INT,
    GRAFT_NODE_BF16,
    GRAFT_NODE_MIN,
    GRAFT_NODE_MAX,
    GRAFT_NODE_COUNT,   /* first: an array; second: the value to count */
    GRAFT_NODE_SIZE,    /* first: an array or a string */
    GRAFT_NODE_IS_ARRAY /* first */
};

struct graft_node {
    enum graft_node_kind kind;
    int32_t height; /* 1 more than that of the highest child */
    int32_t first;  /* numbers of nodes; -1: none */
    int32_t second;
    int32_t third;
    int32_t next;  /* next element of a list */
    int32_t start; /* start of its text, including brackets around it */
    int32_t length;
    int32_t word;                /* for GRAFT_NODE_FIELD and _ELEMENT, and constant texts: an offset into the words */
    struct graft_value constant; /* for GRAFT_NODE_CONSTANT; its `text` is not used */
};

/* A single block without pointers into itself: nodes, the text, and a copy of the text in which names and texts end
 * with a NUL (the words). */
struct graft_expression {
    size_t size; /* size of the block */
    int32_t root;
    int32_t n_nodes;
    int32_t length;
    struct graft_node nodes[];
};

static inline const char *graft_expression_words(const struct graft_expression *expression) {
    return graft_expression_text(expression) + expression->length + 1;
}

/* [load] Copies an expression; NULL if memory ran out. */
struct graft_expression *graft_expression_copy(const struct graft_expression *expression, struct graft_error *error);

/* [any] Whether the expression's value depends on the layer. */
int graft_expression_has_layer(const struct graft_expression *expression);

/* [any] Whether an expression is a constant; if so, gets its value. */
int graft_expression_fixed(const struct graft_expression *expression, struct graft_value *value);

/* Further kinds of values, which only occur during evaluation. */
enum { GRAFT_VALUE_ARRAY = 16, GRAFT_VALUE_OBJECT = 17, GRAFT_VALUE_LIST = 18, GRAFT_VALUE_OTHER = 19 };

struct graft_operand {
    struct graft_value value;
    int32_t field;   /* the GRAFT_NODE_FIELD or GRAFT_NODE_ELEMENT that determines the value; -1: no single one does */
    int32_t is_own;  /* the value is that of the field, not a constant that replaces it */
    int64_t element; /* for GRAFT_NODE_ELEMENT: the index; -1: there is no array */
    int32_t list;    /* for GRAFT_VALUE_LIST: the GRAFT_NODE_LIST */
};

/* What an expression is evaluated for. After the first failure, which `status` and `error` keep, every node evaluates
 * to null, so callers check `status` once at the end. */
struct graft_scope {
    const struct graft_expression *expression;
    const struct graft_config *config;
    int64_t layer;
    struct graft_error *error; /* NULL: nobody wants it */
    int status;
};

struct graft_label {
    char text[GRAFT_EXPRESSION_MAX + 32];
};

/* [load] Evaluates a node; the value may be of a further kind. */
struct graft_operand graft_evaluate_node(struct graft_scope *scope, int32_t at);

/* [load] Evaluates a node that must be a number. */
struct graft_operand graft_evaluate_number(struct graft_scope *scope, int32_t at);

/* [load] Evaluates GRAFT_NODE_ADD to GRAFT_NODE_MAX. */
struct graft_operand graft_evaluate_arithmetic(struct graft_scope *scope, int32_t at);

/* [load] For GRAFT_NODE_IN and GRAFT_NODE_COUNT: counts the elements of an array or list that equal `sought`. */
int64_t graft_evaluate_count(struct graft_scope *scope, int32_t array, const struct graft_operand *sought);

/* [any] Operands that do not come from a field of the config. */
struct graft_operand graft_operand_null(void);
struct graft_operand graft_operand_bool(int value);
struct graft_operand graft_operand_int(int64_t value);
struct graft_operand graft_operand_real(double value);

/* [load] The config's value at a path. */
struct graft_value graft_value_read(const struct graft_config *config, const char *path);

/* [any] The path of the field that determines an operand; there must be one. */
void graft_operand_path(const struct graft_scope *scope, const struct graft_operand *operand,
                        struct graft_label *label);

/* [any] An operand's name in messages: the field as the file spells it, else the text of its node, as also if `operand`
 * is NULL. */
void graft_operand_label(const struct graft_scope *scope, int32_t at, const struct graft_operand *operand,
                         struct graft_label *label);

/* [any] Whether an operand is null because the file lacks the field. */
int graft_operand_is_missing(const struct graft_scope *scope, const struct graft_operand *operand);

/* [any] Records a failure, unless there is one, as "NAME: MESSAGE", with the name by graft_operand_label. Returns null.
 */
struct graft_operand graft_operand_fail(struct graft_scope *scope, int32_t at, const struct graft_operand *operand,
                                        const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* [any] The same for an operand of the wrong kind: "hidden_size: missing, expected a number". */
struct graft_operand graft_operand_expected(struct graft_scope *scope, int32_t at, const struct graft_operand *operand,
                                            const char *expected);

/* [any] Whether both values are equal; arrays and objects equal nothing. */
int graft_values_equal(const struct graft_value *a, const struct graft_value *b);

static inline int graft_value_is_number(const struct graft_value *value) {
    return value->kind == GRAFT_VALUE_INT || value->kind == GRAFT_VALUE_REAL;
}

/* [any] Whether a real, truncated, fits 64 bits. */
static inline int graft_real_is_within(double real) {
    return real >= -9223372036854775808.0 && real < 9223372036854775808.0;
}

/* [any] Describes a value as graft_config_expected does: 'an integer (3)'. */
void graft_value_describe(const struct graft_value *value, struct graft_label *label);

#endif
