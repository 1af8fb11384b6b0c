/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replacements that share one module: classes that call super wrap each other, and the innermost class is the one
 * that does not. Used in this folder only.
 */
#ifndef GRAFT_REGISTRY_STACK_H
#define GRAFT_REGISTRY_STACK_H

#include "registry/snapshot.h"

/* a resolution needs room for a fused class and the original as well */
enum { MAX_WANTING = GRAFT_MAX_STACK - 2 };

struct stack_item {
    const struct rule *rule;
    const struct graft_known_class *known; /* the rule's class for this module */
};

/* Starts as zeros. */
struct stack {
    struct stack_item items[MAX_WANTING]; /* the first rule of each source; wrappers first once the stack is ordered */
    size_t n;
    size_t n_wrappers;
    /* a rule that is tied with the innermost one, as nothing decides between the two; or NULL */
    const struct rule *tied;
    int32_t is_by_place; /* 1: what a rule says of the class depends on where the module is */
};

/* Adds a rule that wants the module, of the class `original`. Too many sources are an error. */
int graft_stack_add(struct stack *stack, const struct rule *rule, const struct graft_known_class *known,
                    const struct graft_known_class *original, struct graft_error *error);

/* Orders the stack: classes that call super, outermost first and each class once, followed by the first of the other
 * classes. */
void graft_stack_order(struct stack *stack, const struct graft_known_class *original);

/* The item that does not call super; NULL if all do. */
const struct stack_item *graft_stack_innermost(const struct stack *stack);

/* Whether the class wraps what it replaces. */
int graft_known_calls_super(const struct graft_known_class *known);

/* Whether `a` excludes `b` where it takes precedence: both are of the same source, or neither calls super. */
int graft_rule_excludes(const struct rule *a, const struct rule *b);

#endif
