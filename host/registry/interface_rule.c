/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies the interface rule to patterns: a replacement has the interface of what it replaces. A broad pattern such as
 * ".*Attention" that also matches a container is an error, whose hint is a narrower pattern.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "registry/assignment_rows.h"
#include "registry/stack.h"

/* The classes that a pattern matches, as parts of the message. */
struct hits {
    struct graft_text fitting;
    struct graft_text misfits;
    struct graft_text narrower; /* "^(A|B": a pattern of exactly the names that fit */
};

/* Whether an earlier place has the same class and is matched as well, so that the class is listed already. */
static int is_listed(const struct rule *rule, const struct graft_known_class *known,
                     const struct graft_module_place *places, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (strcmp(places[k].class_name, places[i].class_name) == 0 &&
            graft_rule_finds(rule, known, &places[k], NULL) == 1) {
            return 1;
        }
    }
    return 0;
}

static void list(const struct rule *rule, const struct graft_class *cls, struct hits *hits) {
    if (strcmp(cls->interface_id, rule->declared->replacement->interface_id) == 0) {
        graft_text_printf(&hits->fitting, "%s%s", hits->fitting.length > 0 ? ", " : "", cls->name);
        graft_text_printf(&hits->narrower, "%s%s", hits->narrower.length > 0 ? "|" : "^(", cls->name);
    } else {
        graft_text_printf(&hits->misfits, "%s%s (%s)", hits->misfits.length > 0 ? ", " : "", cls->name,
                          cls->interface_id);
    }
}

/* Adds a note on the classes left alone, for a pattern that may match misfits. */
static int note(const struct rule *rule, const struct hits *hits, struct graft_assignment *assignment,
                struct graft_error *error) {
    const struct graft_class *replacement = rule->declared->replacement;
    struct graft_text text = {0};
    graft_rule_add_key(rule, &text);
    graft_text_printf(&text, " leaves %s alone: %s is a %s", hits->misfits.bytes, replacement->name,
                      replacement->interface_id);
    char *taken = text.failed ? NULL : graft_strdup(text.bytes);
    graft_text_free(&text);
    return graft_assignment_note(assignment, taken, error);
}

static int report(const struct rule *rule, struct hits *hits, struct graft_assignment *assignment,
                  struct graft_error *error) {
    const struct graft_class *replacement = rule->declared->replacement;
    if (hits->misfits.failed || hits->fitting.failed || hits->narrower.failed) {
        return graft_fail_memory(error, graft_rule_source(rule));
    }
    if (hits->misfits.length == 0) {
        return GRAFT_OK;
    }
    if ((rule->declared->flags & GRAFT_REPLACEMENT_WHERE_IT_FITS) != 0) {
        return assignment != NULL ? note(rule, hits, assignment, error) : GRAFT_OK;
    }
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, graft_rule_source(rule),
                          "pattern \"%s\" for %s (%s) also matches %s; classes that fit: %s", rule->declared->target,
                          replacement->name, replacement->interface_id, hits->misfits.bytes,
                          hits->fitting.length > 0 ? hits->fitting.bytes : "none");
    if (hits->fitting.length > 0) {
        graft_error_hint(error, "use the pattern \"%s)$\"", hits->narrower.bytes);
    }
    return GRAFT_ERROR_PLUGIN;
}

/* Whether another rule takes precedence at that place and excludes this one. */
static int is_preceded(const struct graft_snapshot *snapshot, const struct rule *rule,
                       const struct graft_known_class *known, const struct graft_module_place *place) {
    int before = 1;
    for (size_t i = 0; i < snapshot->mapping->n; i++) {
        const struct rule *other = snapshot->mapping->rules[i];
        const struct rule *first = before ? other : rule, *second = before ? rule : other;
        if (other == rule) {
            before = 0;
        } else if (!other->is_kernel && graft_rule_excludes(other, rule) &&
                   graft_rule_prefer(first, second, known) == other &&
                   graft_rule_wants(other, known, place, NULL) == 1) {
            return 1;
        }
    }
    return 0;
}

/* Whether the place counts for the check: not where the key is a class's name of another interface, or where another
 * rule takes precedence. */
static int is_judged(const struct graft_snapshot *snapshot, const struct rule *rule,
                     const struct graft_known_class *known, const struct graft_module_place *place) {
    return rule->declared->key != KEY_BOTH || (graft_rule_names(rule, known) && graft_rule_fits(rule, known)) ||
           (!graft_rule_names(rule, known) && !is_preceded(snapshot, rule, known, place));
}

static int check(const struct graft_snapshot *snapshot, const struct rule *rule,
                 const struct graft_module_place *places, size_t n, struct graft_assignment *assignment,
                 struct graft_error *error) {
    struct hits hits = {0};
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_known_class *known = graft_snapshot_class(snapshot, places[i].class_name, places[i].asking);
        int hit = known != NULL ? graft_rule_finds(rule, known, &places[i], error) : 0;
        if (hit == 1 && is_judged(snapshot, rule, known, &places[i]) && !is_listed(rule, known, places, i)) {
            list(rule, known->cls, &hits);
        }
        status = hit < 0 ? GRAFT_ERROR_PLUGIN : GRAFT_OK;
    }
    if (status == GRAFT_OK) {
        status = report(rule, &hits, assignment, error);
    }
    graft_text_free(&hits.fitting);
    graft_text_free(&hits.misfits);
    graft_text_free(&hits.narrower);
    return status;
}

int graft_snapshot_check_patterns(const struct graft_snapshot *snapshot, const struct graft_module_place *places,
                                  size_t n, struct graft_assignment *assignment, int *changed,
                                  struct graft_error *error) {
    const struct rule *rule;
    int status = GRAFT_OK;
    *changed = 0;
    for (size_t i = 0; (rule = graft_snapshot_rule(snapshot, i)) != NULL && status == GRAFT_OK && !*changed; i++) {
        struct graft_error cause = graft_error_none();
        int may_skip = graft_assignment_may_skip(assignment, i);
        if (rule->target == NULL || rule->is_unasked || graft_assignment_leaves_out(assignment, i) ||
            !graft_assignment_counts(assignment, i)) {
            continue;
        }
        status = check(snapshot, rule, places, n, assignment, may_skip ? &cause : error);
        if (status == GRAFT_ERROR_PLUGIN && may_skip) {
            status = graft_assignment_skip(assignment, i, &cause, error);
            *changed = 1;
        }
    }
    return status;
}
