/* SPDX-License-Identifier: Apache-2.0 */
/* The notes of an assignment on a built tree: what the user may not have intended, although it is not an error. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "registry/assignment_rows.h"
#include "registry/nearest.h"

/* Whether rule `i` belongs to a plugin none of whose classes replaces anything in this model. */
static int is_idle_plugin(const struct graft_assignment *assignment, size_t i) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    for (size_t k = 0; k < assignment->n; k++) {
        const struct rule *other = graft_snapshot_rule(assignment->snapshot, k);
        const char *plugin = other->replacement.origin.plugin;
        int is_its = plugin != NULL && rule->origin.plugin != NULL && strcmp(plugin, rule->origin.plugin) == 0;
        if (assignment->rows[k].won > 0 && (is_its || graft_rule_same_source(rule, other))) {
            return 0;
        }
    }
    return rule->declared->key != KEY_BOTH;
}

/* Whether weights keep the plugin of rule `i` from modules, which another note reports. */
static int is_kept_from_modules(const struct graft_assignment *assignment, size_t i) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    for (size_t k = 0; k < assignment->n; k++) {
        if (assignment->rows[k].declined > 0 && assignment->rows[k].declined_for == NULL &&
            graft_rule_same_source(rule, graft_snapshot_rule(assignment->snapshot, k))) {
            return 1;
        }
    }
    return 0;
}

/* Whether a patch file or a call gave the rule's own class to the modules that the rule wants. */
static int is_class_used(const struct graft_assignment *assignment, const struct rule *rule) {
    for (size_t k = 0; k < assignment->n; k++) {
        const struct rule *other = graft_snapshot_rule(assignment->snapshot, k);
        if (assignment->rows[k].won > 0 && !graft_rule_same_source(rule, other) &&
            other->replacement.cls == rule->replacement.cls) {
            return 1;
        }
    }
    return 0;
}

static int is_first_of_source(const struct graft_assignment *assignment, size_t i) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    for (size_t k = 0; k < i; k++) {
        if (graft_rule_same_source(rule, graft_snapshot_rule(assignment->snapshot, k))) {
            return 0;
        }
    }
    return 1;
}

/* Whether the key is a name that no class has, which is probably misspelt. */
static int is_unknown_name(const struct graft_assignment *assignment, const struct rule *rule) {
    const char *target = rule->declared->target;
    size_t letters = strspn(target, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    int may_be_name = rule->declared->key != GRAFT_KEY_PATTERN && target[letters] == '\0';
    return may_be_name && graft_snapshot_class(assignment->snapshot, target, rule->origin.plugin) == NULL;
}

void graft_declined_tell(const struct assignment_row *row, const char *before, struct graft_text *text) {
    if (row->declined_for != NULL) {
        graft_text_add_string(text, before);
        graft_condition_tell(row->declined_for, text);
    } else {
        graft_text_printf(text, "%s%s", before[0] != '\0' ? " stay apart: " : "", row->declined_why);
    }
}

/* Writes which modules conditions, or weights that cannot be joined, keep from a rule. */
static void write_declined(const struct assignment_row *row, const struct rule *rule, struct graft_text *text) {
    graft_rule_add_key(rule, text);
    graft_text_printf(text, " leaves %zu module%s alone, %s%s: ", row->declined, row->declined == 1 ? "" : "s",
                      row->declined == 1 ? "" : "first ", row->declined_path);
    graft_declined_tell(row, "", text);
}

/* Whether a note should report the modules that the rule declined. */
static int is_declined(const struct assignment_row *row) {
    return row->declined > 0 && !row->left_out &&
           (row->declined_for == NULL || !graft_condition_is_of_adapters(row->declined_for));
}

/* Whether another rule of the same source, whose conditions hold, gives the same class to the same modules. */
static int has_alternative(const struct graft_assignment *assignment, size_t i) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    for (size_t k = 0; k < assignment->n; k++) {
        const struct rule *other = graft_snapshot_rule(assignment->snapshot, k);
        if (assignment->rows[k].counts && graft_rule_same_source(rule, other) &&
            other->replacement.cls == rule->replacement.cls && other->declared->key == rule->declared->key &&
            strcmp(other->declared->target, rule->declared->target) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Writes that modules have a class derived from the one that the rule names, if that is why they are left alone. */
static void write_derived(const struct assignment_row *row, const struct rule *rule, struct graft_text *text) {
    if (row->derived != NULL) {
        graft_text_printf(text, ": its modules are of %s, which is derived from %s and has to be named itself",
                          row->derived->cls->name, rule->declared->target);
    }
}

/* Writes the note on rule `i` alone; mostly there is none. */
static void write_note(const struct graft_assignment *assignment, size_t i, struct graft_text *text) {
    const struct assignment_row *row = &assignment->rows[i];
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    if (row->unmet != NULL && !row->left_out && !is_idle_plugin(assignment, i) && !has_alternative(assignment, i)) {
        graft_rule_add_key(rule, text);
        graft_text_add_string(text, " is not used: ");
        graft_condition_tell(row->unmet, text);
    }
    if (is_declined(row)) {
        write_declined(row, rule, text);
        return;
    }
    if (!row->counts || row->left_out || row->won > 0 || row->declined > 0 ||
        (row->wanted > 0 && is_class_used(assignment, rule))) {
        return;
    }
    if (row->wanted == 0 && is_unknown_name(assignment, rule)) {
        struct graft_text near = {0};
        graft_snapshot_suggest(assignment->snapshot, rule->declared->target, &near);
        graft_rule_add_key(rule, text);
        graft_text_printf(text, " matches nothing in this model, and there is no class of that name%s%s",
                          near.length > 0 ? "; " : "", near.length > 0 ? near.bytes : "");
        graft_text_free(&near);
    } else if (rule->is_kernel || !is_idle_plugin(assignment, i)) {
        graft_rule_add_key(rule, text);
        if (row->wanted == 0) {
            graft_text_add_string(text, " matches nothing in this model");
            write_derived(row, rule, text);
        } else if (row->lost_to != NULL) {
            graft_text_printf(text, " has no effect: %s replaces what it matches", row->lost_to);
        } else {
            graft_text_add_string(text, " has no effect: earlier replacements of the same plugin take these modules");
        }
    }
}

/* Whether a rule before rule `k`, of the same source, is for the same model type. */
static int is_type_named(const struct graft_assignment *assignment, size_t k, const char *model_type) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, k);
    for (size_t i = 0; i < k; i++) {
        const struct rule *other = graft_snapshot_rule(assignment->snapshot, i);
        if (graft_rule_same_source(rule, other) && graft_rule_is_for_model(other, model_type)) {
            return 1;
        }
    }
    return 0;
}

/* Writes the model types for which the rules with the source of rule `i` are; nothing if one of them is for this
 * model. */
static void write_model_types(const struct graft_assignment *assignment, size_t i, struct graft_text *text) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    struct graft_text names = {0};
    size_t n = 0;
    for (size_t k = i; k < assignment->n; k++) {
        const struct rule *other = graft_snapshot_rule(assignment->snapshot, k);
        int is_its = graft_rule_same_source(rule, other);
        if (is_its && graft_rule_is_for_model(other, assignment->model_type)) {
            n = 0;
            break;
        }
        for (const char *const *type = other->declared->model_types; is_its && *type != NULL; type++) {
            if (!is_type_named(assignment, k, *type)) {
                graft_text_printf(&names, "%s \"%s\"", n++ > 0 ? "," : "", *type);
            }
        }
    }
    if (n > 0) {
        graft_text_printf(text, ": model_type is %s%s", n > 1 ? "none of" : "not", names.bytes);
    }
    text->failed |= names.failed;
    graft_text_free(&names);
}

/* Whether rule `i` has no effect because its plugin was not named. */
static int needs_naming(const struct graft_assignment *assignment, size_t i) {
    return graft_snapshot_rule(assignment->snapshot, i)->is_unasked && assignment->rows[i].counts;
}

/* Whether rule `i` is the first of a plugin without effect, which a note should report. */
static int is_first_idle(const struct graft_assignment *assignment, size_t i) {
    return !needs_naming(assignment, i) && is_idle_plugin(assignment, i) && is_first_of_source(assignment, i) &&
           !assignment->rows[i].skipped && !is_kept_from_modules(assignment, i);
}

/* How many of rule `i`'s conditions come before the first unmet one. */
static int32_t count_met(const struct graft_assignment *assignment, size_t i) {
    return graft_conditions_before(graft_snapshot_rule(assignment->snapshot, i)->declared, assignment->rows[i].unmet);
}

/* The condition to report as the reason why rule `i`'s plugin does not take part: the first unmet one of the plugin's
 * rules from `i` on, of the rule that meets most conditions. NULL if there is none. */
static const struct graft_condition *find_unmet(const struct graft_assignment *assignment, size_t i) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    size_t found = assignment->n;
    for (size_t k = i; k < assignment->n; k++) {
        if (assignment->rows[k].unmet != NULL &&
            graft_rule_same_source(rule, graft_snapshot_rule(assignment->snapshot, k)) &&
            (found == assignment->n || count_met(assignment, k) > count_met(assignment, found))) {
            found = k;
        }
    }
    return found < assignment->n ? assignment->rows[found].unmet : NULL;
}

/* Whether both rules belong to idle plugins that the same field of the config keeps from the model. */
static int are_idle_alike(const struct graft_assignment *assignment, size_t i, size_t k) {
    const struct graft_condition *one = find_unmet(assignment, i), *other = find_unmet(assignment, k);
    return one != NULL && other != NULL && one->kind == other->kind && one->field != NULL && other->field != NULL &&
           strcmp(one->field, other->field) == 0 && (one->any_of == NULL) == (other->any_of == NULL) &&
           is_first_idle(assignment, k);
}

static int is_first_alike(const struct graft_assignment *assignment, size_t i) {
    size_t k = 0;
    while (k < i && !are_idle_alike(assignment, i, k)) {
        k++;
    }
    return k == i;
}

/* How many idle plugins share the reason of rule `i`'s plugin, which is the first of them. */
static size_t count_alike(const struct graft_assignment *assignment, size_t i) {
    size_t n = 0;
    for (size_t k = i + 1; k < assignment->n; k++) {
        n += (size_t)are_idle_alike(assignment, i, k);
    }
    return n;
}

/* Writes "plugin a has" or "plugins a, b and c have": the plugin of rule `i` and those with the same reason. */
static void write_idle_plugins(const struct graft_assignment *assignment, size_t i, struct graft_text *text) {
    size_t left = count_alike(assignment, i);
    const char *verb = left > 0 ? "have" : "has";
    graft_text_printf(text, "plugin%s %s", left > 0 ? "s" : "",
                      graft_snapshot_rule(assignment->snapshot, i)->origin.plugin);
    for (size_t k = i + 1; k < assignment->n; k++) {
        if (are_idle_alike(assignment, i, k)) {
            left--;
            graft_text_printf(text, "%s%s", left > 0 ? ", " : " and ",
                              graft_snapshot_rule(assignment->snapshot, k)->origin.plugin);
        }
    }
    graft_text_printf(text, " %s no effect on this model", verb);
}

/* The number of values that the condition lists. */
static size_t count_values(const struct graft_condition *condition) {
    size_t n = 0;
    while (condition->any_of[n] != NULL) {
        n++;
    }
    return n;
}

/* Adds the condition's values that are not among the first `n`. Returns the new number of values. */
static size_t add_values(const struct graft_condition *condition, const char **values, size_t n) {
    for (const char *const *value = condition->any_of; *value != NULL; value++) {
        size_t k = 0;
        while (k < n && strcmp(values[k], *value) != 0) {
            k++;
        }
        values[k] = *value;
        n += k == n;
    }
    return n;
}

/* Writes the unmet condition of rule `i`'s plugin and of those with the same reason, each value once. */
static void write_unmet(const struct graft_assignment *assignment, size_t i, struct graft_text *text) {
    const struct graft_condition *unmet = find_unmet(assignment, i);
    size_t most = 1, n = 0;
    if (unmet->field == NULL || unmet->any_of == NULL) {
        graft_condition_tell(unmet, text);
        return;
    }
    for (size_t k = i; k < assignment->n; k++) {
        most += are_idle_alike(assignment, i, k) ? count_values(find_unmet(assignment, k)) : 0;
    }
    const char **values = graft_alloc(most, sizeof *values); /* NULL-terminated */
    for (size_t k = i; k < assignment->n && values != NULL; k++) {
        n = are_idle_alike(assignment, i, k) ? add_values(find_unmet(assignment, k), values, n) : n;
    }
    if (values != NULL) {
        graft_condition_tell(&(struct graft_condition){sizeof *unmet, unmet->kind, unmet->field, values}, text);
    }
    text->failed |= values == NULL;
    graft_free(values);
}

/* The first rule from `i` on, of the same source, that names the base of a module's class; the number of rules if there
 * is none. */
static size_t find_derived(const struct graft_assignment *assignment, size_t i) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    size_t k = i;
    while (k < assignment->n && (assignment->rows[k].derived == NULL ||
                                 !graft_rule_same_source(rule, graft_snapshot_rule(assignment->snapshot, k)))) {
        k++;
    }
    return k;
}

/* Whether the plugin of rule `i` is unused because modules have another plugin's class, derived from the one it names.
 * Its author may not know that class, so the plugin gets a note of its own, and is not counted among the unused. */
static int passes_plugins_class(const struct graft_assignment *assignment, size_t i) {
    const size_t k = find_unmet(assignment, i) == NULL ? find_derived(assignment, i) : assignment->n;
    return k < assignment->n && assignment->rows[k].derived->origin.plugin != NULL;
}

/* One note for the plugin of rule `i` and those with the same reason. It says why they are unused, if that is a
 * condition or the model's type. */
static char *idle_note(const struct graft_assignment *assignment, size_t i) {
    struct graft_text text = {0};
    write_idle_plugins(assignment, i, &text);
    if (find_unmet(assignment, i) != NULL) {
        graft_text_add_string(&text, ": ");
        write_unmet(assignment, i, &text);
    } else {
        write_model_types(assignment, i, &text);
        const size_t derived = find_derived(assignment, i);
        if (derived < assignment->n) {
            write_derived(&assignment->rows[derived], graft_snapshot_rule(assignment->snapshot, derived), &text);
        }
    }
    char *note = text.failed ? NULL : graft_strdup(text.bytes);
    graft_text_free(&text);
    return note;
}

static int is_on_request(const struct rule *rule) {
    return (rule->declared->flags & GRAFT_REPLACEMENT_ON_REQUEST) != 0;
}

static int same_reason(const struct rule *rule, const struct rule *other) {
    return graft_rule_same_source(rule, other) && is_on_request(rule) == is_on_request(other);
}

/* Whether rule `i` is the first of its source that needs naming for its reason and, if `of_class` is set, for its
 * class. */
static int is_first_unnamed(const struct graft_assignment *assignment, size_t i, int of_class) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    for (size_t k = 0; k < i; k++) {
        if (needs_naming(assignment, k) && same_reason(rule, graft_snapshot_rule(assignment->snapshot, k)) &&
            (!of_class || rule->replacement.cls == graft_snapshot_rule(assignment->snapshot, k)->replacement.cls)) {
            return 0;
        }
    }
    return 1;
}

/* One note for all classes of a plugin that need naming for the same reason as rule `i`, the first of them. */
static char *unnamed_note(const struct graft_assignment *assignment, size_t i) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    size_t more = 0;
    char others[64] = " is";
    for (size_t k = i + 1; k < assignment->n; k++) {
        more += needs_naming(assignment, k) && same_reason(rule, graft_snapshot_rule(assignment->snapshot, k)) &&
                is_first_unnamed(assignment, k, 1);
    }
    if (more > 0) {
        (void)snprintf(others, sizeof others, " and %zu more of its classes are", more);
    }
    return graft_format("%s: %s%s not used%s; enable it by id (%s)", graft_rule_source(rule),
                        rule->declared->replacement->name, others,
                        is_on_request(rule) ? ""
                        : more > 0          ? ", because they change the model's results"
                                            : ", because it changes the model's results",
                        rule->origin.plugin);
}

/* Whether rule `i` is the first of a plugin without effect, all of whose classes need naming for the same reason. */
static int is_all_unnamed(const struct graft_assignment *assignment, size_t i) {
    return needs_naming(assignment, i) && is_idle_plugin(assignment, i) && is_first_unnamed(assignment, i, 0);
}

/* Whether the note on rule `i`, the first of a plugin that needs naming, covers the plugin of rule `k` as well. */
static int shares_note(const struct graft_assignment *assignment, size_t i, size_t k) {
    return is_all_unnamed(assignment, k) && is_on_request(graft_snapshot_rule(assignment->snapshot, i)) ==
                                                is_on_request(graft_snapshot_rule(assignment->snapshot, k));
}

static size_t count_sharing(const struct graft_assignment *assignment, size_t from, size_t i) {
    const int may_share = is_all_unnamed(assignment, i);
    size_t n = 0;
    for (size_t k = from; may_share && k < assignment->n; k++) {
        n += (size_t)shares_note(assignment, i, k);
    }
    return n;
}

/* One note for several plugins that take effect only if they are named. */
static char *shared_note(const struct graft_assignment *assignment, size_t i) {
    struct graft_text text = {0};
    size_t left = count_sharing(assignment, i, i);
    graft_text_add_string(&text, "plugins");
    for (size_t k = i; k < assignment->n; k++) {
        if (shares_note(assignment, i, k)) {
            left--;
            graft_text_printf(&text, " %s%s", graft_snapshot_rule(assignment->snapshot, k)->origin.plugin,
                              left > 1    ? ","
                              : left == 1 ? " and"
                                          : "");
        }
    }
    int is_free = is_on_request(graft_snapshot_rule(assignment->snapshot, i));
    graft_text_printf(&text, " are not used%s; to use one, enable it by id",
                      is_free ? "" : ", because they change the model's results");
    char *note = text.failed ? NULL : graft_strdup(text.bytes);
    graft_text_free(&text);
    return note;
}

/* Adds the note on rule `i`, whose plugin takes effect only if it is named, unless another rule's note covers it. */
static int add_unnamed(const struct graft_assignment *assignment, size_t i, graft_assignment_add add, void *data,
                       struct graft_error *error) {
    size_t all = count_sharing(assignment, 0, i);
    if (all > 1) {
        return all == count_sharing(assignment, i, i) ? add(data, shared_note(assignment, i), all, error) : GRAFT_OK;
    }
    size_t unused = is_all_unnamed(assignment, i) ? 1 : 0;
    return is_first_unnamed(assignment, i, 0) ? add(data, unnamed_note(assignment, i), unused, error) : GRAFT_OK;
}

static int add_notes(const struct graft_assignment *assignment, size_t i, graft_assignment_add add, void *data,
                     struct graft_error *error) {
    const struct rule *rule = graft_snapshot_rule(assignment->snapshot, i);
    struct graft_text text = {0};
    int status = GRAFT_OK;
    if (needs_naming(assignment, i)) {
        status = add_unnamed(assignment, i, add, data, error);
    } else if (is_first_idle(assignment, i) && is_first_alike(assignment, i)) {
        const size_t unused = passes_plugins_class(assignment, i) ? 0 : 1 + count_alike(assignment, i);
        status = add(data, idle_note(assignment, i), unused, error);
    }
    if (status == GRAFT_OK && rule->invalid != NULL && assignment->rows[i].counts) {
        status =
            add(data, graft_format("key \"%s\" is treated as a plain name: %s", rule->declared->target, rule->invalid),
                0, error);
    }
    write_note(assignment, i, &text);
    if (status == GRAFT_OK && text.failed) {
        status = graft_fail_memory(error, graft_rule_source(rule));
    } else if (status == GRAFT_OK && text.length > 0) {
        status = add(data, graft_strdup(text.bytes), 0, error);
    }
    graft_text_free(&text);
    return status;
}

int graft_assignment_notes(const struct graft_assignment *assignment, graft_assignment_add add, void *data,
                           struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < assignment->n_notes && status == GRAFT_OK; i++) {
        status = add(data, graft_strdup(assignment->notes[i]), 0, error);
    }
    for (size_t i = 0; i < assignment->n && status == GRAFT_OK; i++) {
        status = add_notes(assignment, i, add, data, error);
    }
    return status;
}
