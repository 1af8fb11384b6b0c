/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replacements that share one module: those that call super wrap each other and, innermost, the one that does not.
 * Shared by the units of this folder only.
 */
#ifndef GRAFT_REGISTRY_STACK_H
#define GRAFT_REGISTRY_STACK_H

#include "registry/snapshot.h"

/* Room is left in a resolution for a fused class and the original. */
enum { MAX_WANTING = GRAFT_MAX_STACK - 2 };

struct stack_item {
    const struct rule *rule;
    const struct graft_known_class *known; /* what the rule has for this module */
};

/* Begins as zeros. */
struct stack {
    struct stack_item items[MAX_WANTING]; /* of each source the rule that goes first; once ordered, wrappers first */
    size_t n;
    size_t n_wrappers;
    const struct rule *tied; /* with the innermost: nothing says which of the two replaces the module; or NULL */
};

/* Adds a rule that wants the module, of the class `original`. More sources than there is room for are an error. */
int graft_stack_add(struct stack *stack, const struct rule *rule, const struct graft_known_class *known,
                    const struct graft_known_class *original, struct graft_error *error);

/* Puts those that call super in order, the outermost first, each class once, and of the others keeps the one that goes
 * first, behind them. */
void graft_stack_order(struct stack *stack, const struct graft_known_class *original);

/* The one that does not call super; NULL: none does. */
const struct stack_item *graft_stack_innermost(const struct stack *stack);

/* Whether the class is to be built around what it replaces. */
int graft_known_calls_super(const struct graft_known_class *known);

/* Whether `a` leaves no place for `b` where it goes before it: both are of one source, or neither calls super. */
int graft_rule_excludes(const struct rule *a, const struct rule *b);

#endif
