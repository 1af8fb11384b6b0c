/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves a class name at one place of a model. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "registry/assignment_rows.h"
#include "registry/condition.h"
#include "registry/fused_modules.h"
#include "registry/implementations.h"
#include "registry/nearest.h"
#include "registry/stack.h"

/* Whether the later of two public classes of the same name takes precedence: the host's comes first, then those of
 * plugins in their order. */
static int goes_before(const struct graft_known_class *later, const struct graft_known_class *earlier) {
    if (later->origin.plugin == NULL || earlier->origin.plugin == NULL) {
        return later->origin.plugin == NULL;
    }
    return later->origin.rank < earlier->origin.rank;
}

int graft_snapshot_find_class(const struct graft_snapshot *snapshot, const char *name, const char *asking,
                              const struct graft_known_class **known_class, struct graft_error *error) {
    const struct graft_known_class *found = NULL, *built_in = NULL;
    int status = GRAFT_OK;
    const uint64_t hash = graft_text_hash(0, name);
    for (uint32_t i = snapshot->first_in[hash % GRAFT_CLASS_BUCKETS]; i != 0; i = snapshot->classes[i - 1].next) {
        const struct graft_known_class *known = &snapshot->classes[i - 1];
        if (known->name_hash != hash || strcmp(known->cls->name, name) != 0) {
            continue;
        }
        if (asking != NULL && known->origin.plugin != NULL && strcmp(known->origin.plugin, asking) == 0) {
            *known_class = known;
            return GRAFT_OK;
        }
        if (!known->private_to_plugin && (found == NULL || goes_before(known, found))) {
            found = known;
        }
    }
    if (snapshot->built_in != NULL && (found == NULL || found->origin.plugin != NULL)) {
        status = graft_built_in_find_class(snapshot->built_in, name, &built_in, error);
    }
    *known_class = built_in != NULL ? built_in : found;
    return status;
}

const struct graft_known_class *graft_snapshot_class(const struct graft_snapshot *snapshot, const char *name,
                                                     const char *asking) {
    const struct graft_known_class *known = NULL;
    return graft_snapshot_find_class(snapshot, name, asking, &known, NULL) == GRAFT_OK ? known : NULL;
}

int graft_snapshot_read_all(const struct graft_snapshot *snapshot, struct graft_error *error) {
    return snapshot->built_in != NULL ? graft_built_in_read_all(snapshot->built_in, error) : GRAFT_OK;
}

const struct graft_known_plugin *graft_snapshot_plugin_at(const struct graft_snapshot *snapshot, size_t i) {
    return i < snapshot->n_plugins ? &snapshot->plugins[i] : NULL;
}

const struct graft_known_class *graft_snapshot_class_at(const struct graft_snapshot *snapshot, size_t i) {
    size_t n_basic = 0;
    while (n_basic < snapshot->n_classes && snapshot->classes[n_basic].origin.plugin == NULL) {
        n_basic++;
    }
    size_t after = i - n_basic;
    if (i >= n_basic && snapshot->built_in != NULL) {
        const struct graft_known_class *known = graft_built_in_class_at(snapshot->built_in, &after);
        if (known != NULL) {
            return known;
        }
        i = n_basic + after;
    }
    return i < snapshot->n_classes ? &snapshot->classes[i] : NULL;
}

const struct graft_replacement *graft_snapshot_replacement(const struct graft_snapshot *snapshot, size_t i,
                                                           struct graft_origin *origin) {
    const struct rule *rule;
    for (size_t k = 0; (rule = graft_snapshot_rule(snapshot, k)) != NULL; k++) {
        if (rule->source == SOURCE_PLUGIN && i-- == 0) {
            *origin = rule->origin;
            return rule->declared;
        }
    }
    return NULL;
}

/* Whether the class is among the plugin's replacements, even if these are no longer registered. */
static int replaces_by(const struct graft_plugin *plugin, const struct graft_class *cls) {
    for (int32_t i = 0; i < plugin->n_replacements; i++) {
        if (graft_plugin_replacement(plugin, i)->replacement == cls) {
            return 1;
        }
    }
    return 0;
}

const struct graft_origin *graft_snapshot_origin_of(const struct graft_snapshot *snapshot,
                                                    const struct graft_class *cls) {
    const struct graft_implementation *kernel = graft_snapshot_kernel_of(snapshot, cls);
    if (snapshot->built_in != NULL && graft_built_in_has(snapshot->built_in, cls)) {
        return NULL;
    }
    for (size_t i = 0; i < snapshot->n_classes; i++) {
        if (snapshot->classes[i].cls == cls) {
            return snapshot->classes[i].origin.plugin != NULL ? &snapshot->classes[i].origin : NULL;
        }
    }
    for (size_t i = 0; i < snapshot->n_plugins; i++) {
        if (replaces_by(snapshot->plugins[i].descriptor, cls)) {
            return &snapshot->plugins[i].origin;
        }
    }
    return kernel != NULL ? &kernel->origin : NULL;
}

struct rule *graft_snapshot_rule(const struct graft_snapshot *snapshot, size_t i) {
    return i < snapshot->mapping->n ? snapshot->mapping->rules[i] : NULL;
}

int graft_snapshot_asks_for_tensors(const struct graft_snapshot *snapshot, const char *model_type,
                                    const struct graft_model_facts *facts) {
    const struct rule *rule;
    for (size_t i = 0; (rule = graft_snapshot_rule(snapshot, i)) != NULL; i++) {
        if (!rule->is_unasked && graft_asks_for_tensors(rule->declared) && graft_rule_is_for_model(rule, model_type) &&
            graft_unmet_in_config(rule->declared, facts) == NULL) {
            return 1;
        }
    }
    return 0;
}

static int undecided(const struct rule *a, const struct rule *b, const struct graft_module_place *place,
                     struct graft_error *error) {
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, place->path, "plugins %s and %s both replace %s", a->origin.plugin,
                          b->origin.plugin, place->class_name);
    graft_error_hint(error, "load the one that should win first, or leave one out");
    return GRAFT_ERROR_PLUGIN;
}

static int check_interface(const struct rule *rule, const struct graft_known_class *original,
                           const struct graft_module_place *place, struct graft_error *error) {
    const struct graft_class *replacement = rule->declared->replacement;
    if (graft_rule_fits(rule, original)) {
        return GRAFT_OK;
    }
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, graft_rule_source(rule),
                           "%s cannot replace %s at %s: its interface is %s, expected %s", replacement->name,
                           original->cls->name, place->path, replacement->interface_id, original->cls->interface_id);
}

static void push(struct graft_resolution *resolution, const struct graft_known_class *known) {
    resolution->stack[resolution->n++] = (struct graft_stacked_class){.known = known};
}

int graft_snapshot_original(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                            struct graft_resolution *resolution, struct graft_error *error) {
    int status = graft_snapshot_find_class(snapshot, place->class_name, place->asking, &resolution->original, error);
    resolution->n = 0;
    resolution->is_by_place = 0;
    if (status != GRAFT_OK) {
        return status;
    }
    if (resolution->original == NULL) {
        status = graft_error_set(error, place->asking != NULL ? GRAFT_ERROR_PLUGIN : GRAFT_ERROR_MODEL, place->path,
                                 "there is no class %s", place->class_name);
        graft_snapshot_hint_nearest(snapshot, place->class_name, error);
        return status;
    }
    push(resolution, resolution->original);
    return GRAFT_OK;
}

/* Whether the class is made of the same functions as another, as are those of a family that is like another's. */
static int is_made_alike(const struct graft_class *cls, const struct graft_class *other) {
    return cls != other && cls->describe == other->describe && cls->create == other->create && cls->create != NULL &&
           cls->forward == other->forward;
}

/* Whether the class is derived from the one that the rule names, or is that under another name. */
static int is_derived_from_named(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                                 const struct rule *rule) {
    const char *target = rule->declared->target;
    if (rule->declared->key != GRAFT_KEY_NAME || strcmp(known->cls->name, target) == 0 ||
        !graft_rule_fits(rule, known)) {
        return 0;
    }
    if (graft_snapshot_is_derived(snapshot, known, target)) {
        return 1;
    }
    const struct graft_known_class *named = graft_snapshot_class(snapshot, target, rule->origin.plugin);
    return named != NULL && is_made_alike(known->cls, named->cls);
}

/* Handles a rule that does not want the module. If the reason is a tensor that only some joined parts have, these parts
 * must not be joined. */
static int decline(const struct rule *rule, size_t i, const struct graft_known_class *known,
                   const struct graft_module_place *place, struct graft_assignment *assignment,
                   struct graft_error *error) {
    const struct graft_condition *unmet = graft_rule_declines(rule, known, place);
    struct graft_text why = {0};
    int status = GRAFT_OK;
    if (unmet != NULL && place->joined != NULL && assignment != NULL && graft_rule_divides(rule, place, &why)) {
        status = why.failed ? graft_fail_memory(error, place->path)
                            : graft_assignment_veto(assignment, place->joined, why.bytes, error);
    } else {
        graft_assignment_decline(assignment, i, unmet, place->path);
    }
    graft_text_free(&why);
    return status;
}

/* Collects the rules that want a module of the class `known`: kernels, or all others. While collecting the others,
 * kernels claim the module as well, and lose it if a rule replaces the class. */
static int collect(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                   const struct graft_module_place *place, int kernels, struct graft_assignment *assignment,
                   struct stack *stack, struct graft_error *error) {
    const struct rule *rule;
    int status = GRAFT_OK;
    for (size_t i = graft_assignment_in_play(assignment, 0);
         (rule = graft_snapshot_rule(snapshot, i)) != NULL && status == GRAFT_OK;
         i = graft_assignment_in_play(assignment, i + 1)) {
        if (kernels && !rule->is_kernel) {
            continue;
        }
        stack->is_by_place |= graft_rule_asks_for_place(rule, known);
        const char *why = graft_assignment_vetoed(assignment, i, place->path);
        int hit = why == NULL ? graft_rule_wants(rule, known, place, error) : 0;
        if (hit == 1) {
            graft_assignment_claim(assignment, i);
        } else if (why != NULL && !kernels) {
            graft_assignment_decline_for(assignment, i, why, place->path);
        } else if (hit == 0 && why == NULL) {
            status = decline(rule, i, known, place, assignment, error);
            if (!kernels && graft_assignment_is_idle(assignment, i) && is_derived_from_named(snapshot, known, rule)) {
                graft_assignment_pass_derived(assignment, i, known);
            }
        }
        if (hit == 1 && rule->is_kernel == kernels) {
            status = graft_stack_add(stack, rule, graft_rule_replacement(rule, place), known, error);
        }
        status = hit < 0 ? GRAFT_ERROR_PLUGIN : status;
    }
    graft_stack_order(stack, known);
    return status;
}

/* Places one of the classes that share the module. A trial skips a class that does not fit, which the build reports. */
static int place_one(const struct stack_item *item, const struct graft_module_place *place,
                     struct graft_assignment *assignment, struct graft_resolution *resolution,
                     struct graft_error *error) {
    graft_assignment_give(assignment, item->rule);
    if (graft_assignment_is_trial(assignment) && !graft_rule_fits(item->rule, resolution->original)) {
        return GRAFT_OK;
    }
    push(resolution, item->known);
    return check_interface(item->rule, resolution->original, place, error);
}

/* Places the innermost class: that of a fusion, of the first rule, or the original. If nothing decides between two
 * rules, a trial takes the first one, and none counts as the loser. */
static int place_innermost(const struct stack *stack, const struct graft_module_place *place,
                           const struct graft_candidate *fused, struct graft_assignment *assignment,
                           struct graft_resolution *resolution, struct graft_error *error) {
    const struct stack_item *innermost = graft_stack_innermost(stack);
    size_t wrappers = resolution->n;
    int status = GRAFT_OK;
    if (fused != NULL) {
        graft_assignment_take(assignment, &fused->known.origin);
        push(resolution, &fused->known);
    } else if (innermost != NULL && stack->tied != NULL && !graft_assignment_is_trial(assignment)) {
        return undecided(innermost->rule, stack->tied, place, error);
    } else if (innermost != NULL && stack->tied != NULL) {
        push(resolution, innermost->known);
    } else if (innermost != NULL) {
        graft_assignment_take(assignment, &innermost->rule->origin);
        status = place_one(innermost, place, assignment, resolution, error);
    }
    if (resolution->n == wrappers) {
        push(resolution, resolution->original);
    }
    return status;
}

static int stack_up(const struct stack *stack, const struct graft_module_place *place,
                    struct graft_assignment *assignment, struct graft_resolution *resolution,
                    struct graft_error *error) {
    const struct graft_candidate *fused =
        place->fused != NULL && place->fused->original == resolution->original->cls ? place->fused : NULL;
    int fused_wraps = fused != NULL && graft_known_calls_super(&fused->known);
    int status = GRAFT_OK;
    resolution->n = 0;
    if (fused_wraps) {
        push(resolution, &fused->known);
    }
    for (size_t i = 0; i < stack->n_wrappers && status == GRAFT_OK; i++) {
        status = place_one(&stack->items[i], place, assignment, resolution, error);
    }
    return status == GRAFT_OK ? place_innermost(stack, place, fused_wraps ? NULL : fused, assignment, resolution, error)
                              : status;
}

/* Finds the kernel that runs one class of the stack. */
static int find_kernel(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                       struct graft_assignment *assignment, struct graft_stacked_class *stacked, int32_t *is_by_place,
                       struct graft_error *error) {
    struct stack stack = {0};
    int status = collect(snapshot, stacked->known, place, 1, assignment, &stack, error);
    *is_by_place |= stack.is_by_place;
    const struct stack_item *found = graft_stack_innermost(&stack);
    if (status != GRAFT_OK || found == NULL) {
        return status;
    }
    if (stack.tied != NULL && !graft_assignment_is_trial(assignment)) {
        return undecided(found->rule, stack.tied, place, error);
    }
    graft_assignment_give(assignment, found->rule);
    if (graft_assignment_is_trial(assignment) && !graft_rule_fits(found->rule, stacked->known)) {
        return GRAFT_OK;
    }
    stacked->kernel = found->known;
    return check_interface(found->rule, stacked->known, place, error);
}

int graft_snapshot_resolve(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                           struct graft_assignment *assignment, struct graft_resolution *resolution,
                           struct graft_error *error) {
    struct stack stack = {0};
    int status = graft_snapshot_original(snapshot, place, resolution, error);
    if (status != GRAFT_OK) {
        return status;
    }
    graft_assignment_next(assignment);
    status = collect(snapshot, resolution->original, place, 0, assignment, &stack, error);
    resolution->is_by_place = stack.is_by_place || graft_assignment_has_vetoes(assignment);
    if (status == GRAFT_OK) {
        status = stack_up(&stack, place, assignment, resolution, error);
    }
    for (size_t i = 0; i < resolution->n && status == GRAFT_OK; i++) {
        status = find_kernel(snapshot, place, assignment, &resolution->stack[i], &resolution->is_by_place, error);
    }
    graft_assignment_end(assignment);
    return status;
}
