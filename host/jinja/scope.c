/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes: looks up names and assigns them. */
#include "jinja/run.h"

int graft_jinja_push_scope(struct graft_jinja_run *run, struct graft_jinja_scope *parent) {
    struct graft_jinja_scope *scope = run->free_scopes;
    if (scope != NULL) {
        run->free_scopes = scope->parent;
    } else if ((scope = graft_jinja_take_memory(run, 1, sizeof *scope)) == NULL) {
        return graft_jinja_failed(run);
    }
    *scope = (struct graft_jinja_scope){.parent = parent};
    run->scope = scope;
    return GRAFT_OK;
}

void graft_jinja_pop_scope(struct graft_jinja_run *run, struct graft_jinja_scope *outer) {
    struct graft_jinja_scope *scope = run->scope;
    run->scope = outer;
    if (scope == outer || scope->is_kept) {
        return;
    }
    while (scope->first != NULL) {
        struct graft_jinja_assigned *assigned = scope->first;
        scope->first = assigned->next;
        assigned->next = run->free_assigned;
        run->free_assigned = assigned;
    }
    scope->parent = run->free_scopes;
    run->free_scopes = scope;
}

int graft_jinja_assign(struct graft_jinja_run *run, const struct graft_jinja_string *name,
                       const struct graft_jinja_value *value) {
    struct graft_jinja_assigned *assigned = run->scope->first;
    while (assigned != NULL && !graft_jinja_string_equal(&assigned->name, name)) {
        assigned = assigned->next;
    }
    if (assigned == NULL) {
        assigned = run->free_assigned;
        if (assigned != NULL) {
            run->free_assigned = assigned->next;
        } else if ((assigned = graft_jinja_take_memory(run, 1, sizeof *assigned)) == NULL) {
            return graft_jinja_failed(run);
        }
        assigned->name = *name;
        assigned->next = run->scope->first;
        run->scope->first = assigned;
    }
    assigned->value = *value;
    return GRAFT_OK;
}

static const struct graft_jinja_value *find(const struct graft_jinja_run *run, const struct graft_jinja_string *name) {
    for (const struct graft_jinja_scope *scope = run->scope; scope != NULL; scope = scope->parent) {
        for (const struct graft_jinja_assigned *assigned = scope->first; assigned != NULL; assigned = assigned->next) {
            if (graft_jinja_string_equal(&assigned->name, name)) {
                return &assigned->value;
            }
        }
    }
    return NULL;
}

int graft_jinja_lookup(const struct graft_jinja_run *run, const struct graft_jinja_string *name,
                       struct graft_jinja_value *result) {
    const struct graft_jinja_value *found = find(run, name);
    if (found != NULL) {
        *result = *found;
    } else if (!graft_jinja_find_function(name, result)) {
        *result = graft_jinja_missing(name->bytes, NULL);
    }
    return GRAFT_OK;
}

static int assign_member(struct graft_jinja_run *run, const struct graft_jinja_node *target,
                         const struct graft_jinja_value *value) {
    const struct graft_jinja_value *space = find(run, &target->of);
    if (space == NULL || space->kind != GRAFT_JINJA_NAMESPACE) {
        return graft_jinja_fail(run, "cannot assign attribute on non-namespace object '%s'", target->of.bytes);
    }
    if (target->name.bytes[0] == '_') {
        return graft_jinja_fail(run, "a namespace takes no member whose name begins with '_', as '%s' does",
                                target->name.bytes);
    }
    const struct graft_jinja_value key = graft_jinja_text(target->name);
    return graft_jinja_put(run, space->as.dict, &key, value);
}

static int assign_each(struct graft_jinja_run *run, const struct graft_jinja_node *target,
                       const struct graft_jinja_value *value) {
    const struct graft_jinja_value *items = NULL;
    size_t n = 0, wanted = 0;
    if (value->kind == GRAFT_JINJA_UNDEFINED) {
        int status = graft_jinja_need_defined(run, value);
        if (status != GRAFT_OK) {
            return status;
        }
    }
    int status = graft_jinja_walk(run, value, &items, &n);
    for (const struct graft_jinja_node *one = target->list; one != NULL; one = one->next) {
        wanted++;
    }
    if (status == GRAFT_OK && n != wanted) {
        return graft_jinja_fail(run, "%s values to unpack (expected %zu, got %zu)",
                                n < wanted ? "not enough" : "too many", wanted, n);
    }
    const struct graft_jinja_node *one = target->list;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++, one = one->next) {
        status = graft_jinja_assign_target(run, one, &items[i]);
    }
    return status;
}

int graft_jinja_assign_target(struct graft_jinja_run *run, const struct graft_jinja_node *target,
                              const struct graft_jinja_value *value) {
    switch (target->kind) {
    case GRAFT_JINJA_NAME:
        return graft_jinja_assign(run, &target->name, value);
    case GRAFT_JINJA_MEMBER:
        return assign_member(run, target, value);
    default:
        return assign_each(run, target, value);
    }
}
