/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/stack.h"

#include <string.h>

int graft_known_calls_super(const struct graft_known_class *known) {
    return (known->cls->flags & GRAFT_CLASS_CALLS_SUPER) != 0;
}

int graft_rule_excludes(const struct rule *a, const struct rule *b) {
    return graft_rule_same_source(a, b) ||
           (!graft_known_calls_super(&a->replacement) && !graft_known_calls_super(&b->replacement));
}

int graft_stack_add(struct stack *stack, const struct rule *rule, const struct graft_known_class *known,
                    const struct graft_known_class *original, struct graft_error *error) {
    for (size_t i = 0; i < stack->n; i++) {
        struct stack_item *item = &stack->items[i];
        if (graft_rule_same_source(item->rule, rule)) {
            *item = graft_rule_prefer(item->rule, rule, original) == rule ? (struct stack_item){rule, known} : *item;
            return GRAFT_OK;
        }
    }
    if (stack->n == MAX_WANTING) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, graft_rule_source(rule),
                               "%s for %s: expected at most %d plugins to replace one module", known->cls->name,
                               original->cls->name, (int)MAX_WANTING);
    }
    stack->items[stack->n++] = (struct stack_item){rule, known};
    return GRAFT_OK;
}

/* Whether `a` wraps `b`: ordered by source, then by rank, and without ranks by id. */
static int goes_outside(const struct rule *a, const struct rule *b) {
    if (a->source != b->source) {
        return a->source < b->source;
    }
    if (a->origin.rank != b->origin.rank) {
        return a->origin.rank < b->origin.rank;
    }
    return strcmp(a->origin.plugin, b->origin.plugin) < 0;
}

static void wrap(struct stack *stack, const struct stack_item *wrapper) {
    size_t place = 0;
    while (place < stack->n && goes_outside(stack->items[place].rule, wrapper->rule)) {
        place++;
    }
    memmove(&stack->items[place + 1], &stack->items[place], (stack->n - place) * sizeof *stack->items);
    stack->items[place] = *wrapper;
    stack->n++;
}

/* Removes a class that occurs twice, as a load patch may name a class that a plugin brings anyway. */
static void leave_out_repeated(struct stack *stack) {
    size_t kept = 0;
    for (size_t i = 0; i < stack->n; i++) {
        size_t k = 0;
        while (k < kept && stack->items[k].known->cls != stack->items[i].known->cls) {
            k++;
        }
        if (k == kept) {
            stack->items[kept++] = stack->items[i];
        }
    }
    stack->n = kept;
}

void graft_stack_order(struct stack *stack, const struct graft_known_class *original) {
    if (stack->n == 0) {
        return;
    }
    struct stack ordered = {0};
    struct stack_item innermost = {0};
    for (size_t i = 0; i < stack->n; i++) {
        const struct stack_item *item = &stack->items[i];
        if (graft_known_calls_super(item->known)) {
            wrap(&ordered, item);
            continue;
        }
        const struct rule *first =
            innermost.rule != NULL ? graft_rule_prefer(innermost.rule, item->rule, original) : item->rule;
        if (first == NULL) {
            ordered.tied = item->rule;
        } else if (first == item->rule) {
            ordered.tied = NULL;
            innermost = *item;
        }
    }
    leave_out_repeated(&ordered);
    ordered.n_wrappers = ordered.n;
    if (innermost.rule != NULL) {
        ordered.items[ordered.n++] = innermost;
    }
    *stack = ordered;
}

const struct stack_item *graft_stack_innermost(const struct stack *stack) {
    return stack->n > stack->n_wrappers ? &stack->items[stack->n_wrappers] : NULL;
}
