/* SPDX-License-Identifier: Apache-2.0 */
/* A parsed template: a tree of nodes in an arena. The comment on each kind names the fields that its nodes use. */
#ifndef GRAFT_JINJA_NODE_H
#define GRAFT_JINJA_NODE_H

#include "jinja/arena.h"
#include "jinja/jinja.h"
#include "jinja/lexer.h"
#include "jinja/value.h"

enum graft_jinja_node_kind {
    /* Expressions. */
    GRAFT_JINJA_CONSTANT,  /* constant */
    GRAFT_JINJA_NAME,      /* name */
    GRAFT_JINJA_LIST_OF,   /* list; op: 1 for a tuple */
    GRAFT_JINJA_DICT_OF,   /* list: keys and values in turn */
    GRAFT_JINJA_ATTRIBUTE, /* a . name */
    GRAFT_JINJA_ITEM,      /* a [ b ] */
    GRAFT_JINJA_SLICE,     /* a [ b : c : d ], each of which may be NULL */
    GRAFT_JINJA_CALL,      /* a ( list of arguments ) */
    GRAFT_JINJA_ARGUMENT,  /* a; name: of a keyword, else without bytes; op: 1 for *a, 2 for **a */
    GRAFT_JINJA_FILTER,    /* a | name ( list of arguments ); a is NULL in a filter block */
    GRAFT_JINJA_TEST,      /* a is name ( list of arguments ); op: 1 for "is not" */
    GRAFT_JINJA_NOT,       /* a */
    GRAFT_JINJA_AND,       /* a, b */
    GRAFT_JINJA_OR,        /* a, b */
    GRAFT_JINJA_UNARY,     /* op a */
    GRAFT_JINJA_BINARY,    /* a op b */
    GRAFT_JINJA_COMPARE,   /* a, and a list of COMPARED */
    GRAFT_JINJA_COMPARED,  /* op a */
    GRAFT_JINJA_CONCAT,    /* list, joined by "~" */
    GRAFT_JINJA_CONDITION, /* b if a else c, which may be NULL */
    /* Statements. */
    GRAFT_JINJA_DATA,       /* name: a text that is written out */
    GRAFT_JINJA_OUTPUT,     /* a */
    GRAFT_JINJA_IF,         /* a: condition; list, or otherwise */
    GRAFT_JINJA_FOR,        /* a: target, b: iterable, c: condition or NULL; list, or otherwise if there are no items */
    GRAFT_JINJA_SET,        /* a: target, b: value */
    GRAFT_JINJA_SET_BLOCK,  /* a: target, b: filters or NULL; list */
    GRAFT_JINJA_MACRO_OF,   /* name; parameters; list: the body */
    GRAFT_JINJA_CALL_BLOCK, /* a: the call; parameters: those of `caller`; list: the body */
    GRAFT_JINJA_FILTER_BLOCK, /* b: filters; list */
    GRAFT_JINJA_WITH,         /* parameters: targets and values; list */
    GRAFT_JINJA_SCOPE,        /* list: a generation block */
    GRAFT_JINJA_BREAK,
    GRAFT_JINJA_CONTINUE,
    GRAFT_JINJA_PARAMETER, /* a: NAME or other target, b: default or NULL */
    GRAFT_JINJA_MEMBER,    /* a target only: name . of, the member of a namespace */
};

enum graft_jinja_operator {
    GRAFT_JINJA_ADD,
    GRAFT_JINJA_SUBTRACT,
    GRAFT_JINJA_MULTIPLY,
    GRAFT_JINJA_DIVIDE,
    GRAFT_JINJA_FLOOR_DIVIDE,
    GRAFT_JINJA_MODULO,
    GRAFT_JINJA_POWER,
    GRAFT_JINJA_EQUAL,
    GRAFT_JINJA_NOT_EQUAL,
    GRAFT_JINJA_LESS,
    GRAFT_JINJA_LESS_EQUAL,
    GRAFT_JINJA_GREATER,
    GRAFT_JINJA_GREATER_EQUAL,
    GRAFT_JINJA_IN,
    GRAFT_JINJA_NOT_IN,
};

struct graft_jinja_node {
    enum graft_jinja_node_kind kind;
    uint32_t at; /* byte offset in the source, for errors */
    int op;
    struct graft_jinja_string name; /* followed by a NUL, except in DATA */
    struct graft_jinja_string of;
    struct graft_jinja_value constant;
    struct graft_jinja_node *a, *b, *c, *d;
    struct graft_jinja_node *list;
    struct graft_jinja_node *otherwise;
    struct graft_jinja_node *parameters;
    struct graft_jinja_node *next; /* the next node of the same list */
};

struct graft_jinja_template {
    struct graft_jinja_source source;
    struct graft_jinja_arena arena;
    struct graft_jinja_node *body;       /* a list of statements */
    struct graft_jinja_string *literals; /* [n_literals] texts and strings as written */
    size_t n_literals;
};

#endif
