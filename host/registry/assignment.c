/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/assignment.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "registry/assignment_rows.h"
#include "registry/stack.h"

static const char *group_of(const struct graft_assignment *assignment, size_t i) {
    return graft_snapshot_rule(assignment->snapshot, i)->declared->group;
}

/* Leaves out rule `i` and the other rules of its group. */
static void leave_out(struct graft_assignment *assignment, size_t i) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    assignment->rows[i].left_out = 1;
    for (size_t k = 0; rule->declared->group != NULL && k < assignment->n; k++) {
        const struct rule *other = graft_snapshot_rule(assignment->snapshot, k);
        if (group_of(assignment, k) != NULL && graft_rule_same_source(rule, other) &&
            strcmp(group_of(assignment, k), rule->declared->group) == 0) {
            assignment->rows[k].left_out = 1;
        }
    }
}

/* Resets the decisions on groups: skipped rules, and unasked rules with their groups, are left out. */
static void undecide(struct graft_assignment *assignment) {
    for (size_t i = 0; i < assignment->n; i++) {
        assignment->rows[i].left_out = assignment->rows[i].skipped;
    }
    for (size_t i = 0; i < assignment->n; i++) {
        if (graft_snapshot_rule(assignment->snapshot, i)->is_unasked) {
            leave_out(assignment, i);
        }
    }
}

static int takes_part(const struct graft_assignment *assignment, size_t i) {
    return assignment->rows[i].counts && !assignment->rows[i].left_out;
}

/* Lists the rules that take part, so that modules need not ask the others, which are most. */
static void list_in_play(struct graft_assignment *assignment) {
    assignment->in_play[assignment->n] = assignment->n;
    for (size_t i = assignment->n; i > 0; i--) {
        assignment->in_play[i - 1] = takes_part(assignment, i - 1) ? i - 1 : assignment->in_play[i];
    }
}

size_t graft_assignment_in_play(const struct graft_assignment *assignment, size_t i) {
    return assignment == NULL || i >= assignment->n ? i : assignment->in_play[i];
}

struct graft_assignment *graft_assignment_create(struct graft_snapshot *snapshot, const char *model_type,
                                                 const struct graft_model_facts *facts, int skip_bad) {
    struct graft_assignment *assignment = graft_alloc(1, sizeof *assignment);
    size_t n = 0;
    while (graft_snapshot_rule(snapshot, n) != NULL) {
        n++;
    }
    if (assignment == NULL || (assignment->rows = graft_alloc(n, sizeof *assignment->rows)) == NULL ||
        (assignment->in_play = graft_alloc(n + 1, sizeof *assignment->in_play)) == NULL) {
        graft_assignment_free(assignment);
        return NULL;
    }
    assignment->snapshot = graft_snapshot_retain(snapshot);
    assignment->model_type = model_type;
    assignment->skip_bad = skip_bad;
    assignment->n = n;
    for (size_t i = 0; i < n; i++) {
        const struct rule *rule = graft_snapshot_rule(snapshot, i);
        struct assignment_row *row = &assignment->rows[i];
        int is_for_type = graft_rule_is_for_model(rule, model_type);
        row->unmet = is_for_type ? graft_unmet_in_config(rule->declared, facts) : NULL;
        row->counts = is_for_type && row->unmet == NULL;
    }
    undecide(assignment);
    list_in_play(assignment);
    return assignment;
}

void graft_assignment_free(struct graft_assignment *assignment) {
    if (assignment != NULL) {
        for (size_t i = 0; i < assignment->n_notes; i++) {
            graft_free(assignment->notes[i]);
        }
        graft_assignment_free_vetoes(assignment);
        graft_free(assignment->notes);
        graft_free(assignment->rows);
        graft_free(assignment->in_play);
        graft_snapshot_release(assignment->snapshot);
        graft_free(assignment);
    }
}

void graft_assignment_keep_method(struct graft_assignment *assignment, const char *quant_method) {
    for (size_t i = 0; i < assignment->n; i++) {
        const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
        assignment->rows[i].skipped |= rule->source != SOURCE_PLUGIN || rule->is_kernel ||
                                       !graft_snapshot_reads(assignment->snapshot, rule->origin.plugin, quant_method);
    }
    undecide(assignment);
}

int graft_assignment_has_groups(const struct graft_assignment *assignment) {
    for (size_t i = 0; i < assignment->n; i++) {
        if (assignment->rows[i].counts && group_of(assignment, i) != NULL) {
            return 1;
        }
    }
    return 0;
}

void graft_assignment_start(struct graft_assignment *assignment, int trial) {
    assignment->trial = trial;
    assignment->modules = 0;
    assignment->taken_by = NULL;
    list_in_play(assignment);
    for (size_t i = 0; i < assignment->n; i++) {
        struct assignment_row *row = &assignment->rows[i];
        row->wanted = row->won = row->last_wanted = row->last_won = 0;
        row->lost_to = NULL;
        row->declined = 0;
        row->derived = NULL;
    }
}

void graft_assignment_next(struct graft_assignment *assignment) {
    if (assignment != NULL) {
        assignment->modules++;
        assignment->taken_by = NULL;
    }
}

int graft_assignment_is_trial(const struct graft_assignment *assignment) {
    return assignment != NULL && assignment->trial;
}

int graft_assignment_leaves_out(const struct graft_assignment *assignment, size_t i) {
    return assignment != NULL && assignment->rows[i].left_out;
}

int graft_assignment_counts(const struct graft_assignment *assignment, size_t i) {
    return assignment == NULL || assignment->rows[i].counts;
}

void graft_assignment_claim(struct graft_assignment *assignment, size_t i) {
    if (assignment != NULL) {
        assignment->rows[i].wanted++;
        assignment->rows[i].last_wanted = assignment->modules;
    }
}

void graft_assignment_decline(struct graft_assignment *assignment, size_t i, const struct graft_condition *unmet,
                              const char *path) {
    if (assignment != NULL && unmet != NULL && assignment->rows[i].declined++ == 0) {
        assignment->rows[i].declined_path = path;
        assignment->rows[i].declined_for = unmet;
    }
}

void graft_assignment_decline_for(struct graft_assignment *assignment, size_t i, const char *why, const char *path) {
    if (assignment->rows[i].declined++ == 0) {
        assignment->rows[i].declined_path = path;
        assignment->rows[i].declined_for = NULL;
        assignment->rows[i].declined_why = why;
    }
}

int graft_assignment_is_idle(const struct graft_assignment *assignment, size_t i) {
    return assignment != NULL && assignment->rows[i].wanted == 0 && assignment->rows[i].derived == NULL;
}

void graft_assignment_pass_derived(struct graft_assignment *assignment, size_t i,
                                   const struct graft_known_class *derived) {
    assignment->rows[i].derived = derived;
}

void graft_assignment_give(struct graft_assignment *assignment, const struct rule *rule) {
    for (size_t i = 0; assignment != NULL && i < assignment->n; i++) {
        if (graft_snapshot_rule(assignment->snapshot, i) == rule) {
            assignment->rows[i].won++;
            assignment->rows[i].last_won = assignment->modules;
        }
    }
}

void graft_assignment_take(struct graft_assignment *assignment, const struct graft_origin *origin) {
    if (assignment != NULL) {
        assignment->taken_by = origin;
    }
}

/* The plugin whose kernel runs the current module; NULL if there is none. */
static const struct graft_origin *kernel_of(const struct graft_assignment *assignment) {
    for (size_t i = 0; i < assignment->n; i++) {
        const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
        if (rule->is_kernel && assignment->rows[i].last_won == assignment->modules) {
            return &rule->origin;
        }
    }
    return NULL;
}

static int is_same(const struct graft_origin *a, const struct graft_origin *b) {
    return a->plugin != NULL && b->plugin != NULL && strcmp(a->plugin, b->plugin) == 0;
}

void graft_assignment_end(struct graft_assignment *assignment) {
    for (size_t i = graft_assignment_in_play(assignment, 0); assignment != NULL && i < assignment->n;
         i = graft_assignment_in_play(assignment, i + 1)) {
        struct assignment_row *row = &assignment->rows[i];
        const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
        if (row->last_wanted != assignment->modules || row->last_won == assignment->modules ||
            graft_known_calls_super(&rule->replacement)) {
            continue;
        }
        const struct graft_origin *by = assignment->taken_by;
        by = by == NULL && rule->is_kernel ? kernel_of(assignment) : by;
        if (by != NULL && !is_same(by, &rule->origin)) {
            row->lost_to = by->plugin != NULL ? by->plugin : "a fusion";
        }
    }
}

int graft_assignment_note(struct graft_assignment *assignment, char *note_take, struct graft_error *error) {
    if (note_take == NULL || graft_grow(&assignment->notes, &assignment->note_capacity, assignment->n_notes,
                                        sizeof *assignment->notes) != 0) {
        graft_free(note_take);
        return graft_fail_memory(error, assignment->model_type);
    }
    assignment->notes[assignment->n_notes++] = note_take;
    return GRAFT_OK;
}

int graft_assignment_may_skip(const struct graft_assignment *assignment, size_t i) {
    return assignment != NULL && assignment->skip_bad &&
           graft_snapshot_rule(assignment->snapshot, i)->source == SOURCE_PLUGIN;
}

int graft_assignment_skip(struct graft_assignment *assignment, size_t i, const struct graft_error *cause,
                          struct graft_error *error) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    for (size_t k = 0; k < assignment->n; k++) {
        if (graft_rule_same_source(rule, graft_snapshot_rule(assignment->snapshot, k))) {
            assignment->rows[k].skipped = 1;
        }
    }
    undecide(assignment);
    while (assignment->n_notes > assignment->n_skipped) {
        graft_free(assignment->notes[--assignment->n_notes]);
    }
    assignment->n_skipped++;
    return graft_assignment_note(assignment, graft_format("%s: skipped: %s", cause->source, cause->message), error);
}

static int is_member(const struct graft_assignment *assignment, size_t i) {
    return group_of(assignment, i) != NULL && assignment->rows[i].counts && !assignment->rows[i].left_out;
}

/* Whether members of the group of rule `i` were unregistered or overwritten. */
static int is_incomplete(const struct graft_assignment *assignment, size_t i) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    size_t present = 0;
    for (size_t k = 0; k < assignment->n; k++) {
        present += group_of(assignment, k) != NULL &&
                   graft_rule_same_source(rule, graft_snapshot_rule(assignment->snapshot, k)) &&
                   strcmp(group_of(assignment, k), rule->declared->group) == 0;
    }
    return present < rule->group_size;
}

static char *reason(const struct rule *rule, const struct assignment_row *row, int incomplete) {
    struct graft_text text = {0};
    graft_text_printf(&text, "%s: group %s is left out: ", rule->origin.plugin, rule->declared->group);
    if (incomplete) {
        graft_text_add_string(&text, "some of its replacements are no longer registered");
    } else if (row->declined > 0) {
        graft_text_printf(&text, "modules that \"%s\" matches", rule->declared->target);
        graft_declined_tell(row, " have ", &text);
    } else {
        graft_text_printf(&text, "\"%s\" matches nothing in this model", rule->declared->target);
    }
    char *copy = text.failed ? NULL : graft_strdup(text.bytes);
    graft_text_free(&text);
    return copy;
}

/* Groups with members that match nothing or are missing are left out first, one at a time, since they may be the reason
 * why other groups lost a module. */
int graft_assignment_decide(struct graft_assignment *assignment, int *changed, struct graft_error *error) {
    int status = GRAFT_OK;
    *changed = 0;
    for (size_t i = 0; i < assignment->n && status == GRAFT_OK; i++) {
        int incomplete = is_member(assignment, i) && is_incomplete(assignment, i);
        if (incomplete || (is_member(assignment, i) && assignment->rows[i].wanted == 0)) {
            status = graft_assignment_note(
                assignment, reason(graft_snapshot_rule(assignment->snapshot, i), &assignment->rows[i], incomplete),
                error);
            leave_out(assignment, i);
            *changed = 1;
        }
    }
    for (size_t i = 0; i < assignment->n && status == GRAFT_OK && !*changed; i++) {
        if (is_member(assignment, i) && assignment->rows[i].lost_to != NULL) {
            const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
            status = graft_assignment_note(assignment,
                                           graft_format("%s: group %s is left out: %s replaces what \"%s\" matches",
                                                        rule->origin.plugin, rule->declared->group,
                                                        assignment->rows[i].lost_to, rule->declared->target),
                                           error);
            leave_out(assignment, i);
            *changed = 1;
        }
    }
    return status;
}
