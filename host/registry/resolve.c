/* SPDX-License-Identifier: Apache-2.0 */
/* What a class name stands for at one place of a model. */
#include <string.h>

#include "registry/assignment_rows.h"
#include "registry/fused_modules.h"
#include "registry/implementations.h"
#include "registry/nearest.h"

const struct graft_known_class *graft_snapshot_class(const struct graft_snapshot *snapshot, const char *name,
                                                     const char *asking) {
    const struct graft_known_class *found = NULL;
    for (size_t i = 0; i < snapshot->n_classes; i++) {
        const struct graft_known_class *known = &snapshot->classes[i];
        if (strcmp(known->cls->name, name) != 0) {
            continue;
        }
        if (!known->private_to_plugin) {
            found = known;
        } else if (asking != NULL && strcmp(known->origin.plugin, asking) == 0) {
            return known;
        }
    }
    return found;
}

const struct graft_known_plugin *graft_snapshot_plugin_at(const struct graft_snapshot *snapshot, size_t i) {
    return i < snapshot->n_plugins ? &snapshot->plugins[i] : NULL;
}

const struct graft_known_class *graft_snapshot_class_at(const struct graft_snapshot *snapshot, size_t i) {
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

/* Whether it is among the plugin's replacements, registered still or not. */
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
    return i < snapshot->mapping->n ? snapshot->mapping->patches[i] : NULL;
}

static int undecided(const struct rule *a, const struct rule *b, const struct graft_module_place *place,
                     struct graft_error *error) {
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, place->path, "plugins %s and %s both replace %s", a->origin.plugin,
                          b->origin.plugin, place->class_name);
    graft_error_hint(error, "load first the one that should win, or leave one out");
    return GRAFT_ERROR_PLUGIN;
}

static int check_interface(const struct rule *patch, const struct graft_known_class *original,
                           const struct graft_module_place *place, struct graft_error *error) {
    const struct graft_class *replacement = patch->declared->replacement;
    if (graft_rule_fits(patch, original)) {
        return GRAFT_OK;
    }
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, graft_rule_source(patch),
                           "%s cannot replace %s at %s: its interface is %s, expected %s", replacement->name,
                           original->cls->name, place->path, replacement->interface_id, original->cls->interface_id);
}

int graft_snapshot_original(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                            struct graft_resolution *resolution, struct graft_error *error) {
    *resolution =
        (struct graft_resolution){.original = graft_snapshot_class(snapshot, place->class_name, place->asking)};
    if (resolution->original == NULL) {
        int status = graft_error_set(error, place->asking != NULL ? GRAFT_ERROR_PLUGIN : GRAFT_ERROR_MODEL, place->path,
                                     "there is no class %s", place->class_name);
        graft_snapshot_hint_nearest(snapshot, place->class_name, error);
        return status;
    }
    return GRAFT_OK;
}

/* The patch that gets the module, among kernels or among the others; `*chosen` is NULL when nobody wants it. In a trial
 * the first of two gets what nothing decides, and nobody is said to have lost it. A kernel that wants the class before
 * anything replaces it claims it, and has lost it if something does. */
static int choose(const struct graft_snapshot *snapshot, const struct graft_known_class *original,
                  const struct graft_module_place *place, struct graft_assignment *assignment, int among_kernels,
                  const struct rule **chosen, struct graft_error *error) {
    const struct rule *tied = NULL;
    *chosen = NULL;
    for (size_t i = 0; graft_snapshot_rule(snapshot, i) != NULL; i++) {
        const struct rule *patch = graft_snapshot_rule(snapshot, i);
        if ((among_kernels && !patch->is_kernel) || (assignment != NULL && assignment->rows[i].left_out)) {
            continue;
        }
        int hit = graft_rule_wants(patch, original, place, error);
        if (hit < 0) {
            return GRAFT_ERROR_PLUGIN;
        }
        if (hit == 0) {
            continue;
        }
        if (assignment != NULL) {
            graft_assignment_claim(assignment, i);
        }
        if (patch->is_kernel != among_kernels) {
            continue;
        }
        const struct rule *better = *chosen == NULL ? patch : graft_rule_prefer(*chosen, patch, original);
        if (better == NULL) {
            tied = patch;
        } else if (better != *chosen) {
            tied = *chosen != NULL && graft_rule_same_source(*chosen, better) ? tied : NULL;
            *chosen = better;
        }
    }
    if (tied != NULL && (assignment == NULL || !assignment->trial)) {
        return undecided(*chosen, tied, place, error);
    }
    if (assignment != NULL && *chosen != NULL && tied == NULL) {
        graft_assignment_give(assignment, *chosen);
    }
    return GRAFT_OK;
}

/* The module is fused; patches that want it lose it. */
static int give_to_fusion(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                          struct graft_assignment *assignment, struct graft_resolution *resolution,
                          struct graft_error *error) {
    for (size_t i = 0; assignment != NULL && graft_snapshot_rule(snapshot, i) != NULL; i++) {
        int hit = graft_rule_wants(graft_snapshot_rule(snapshot, i), resolution->original, place, error);
        if (hit < 0) {
            return GRAFT_ERROR_PLUGIN;
        }
        if (hit == 1 && !assignment->rows[i].left_out) {
            graft_assignment_claim(assignment, i);
        }
    }
    if (assignment != NULL) {
        graft_assignment_give_fusion(assignment, &place->fused->known.origin);
    }
    resolution->replacement = &place->fused->known;
    return GRAFT_OK;
}

/* The replacement, or the kernel, that gets a module of the class `original`; `*found` is NULL when none does. */
static int resolve_one(const struct graft_snapshot *snapshot, const struct graft_known_class *original,
                       const struct graft_module_place *place, struct graft_assignment *assignment, int among_kernels,
                       const struct graft_known_class **found, struct graft_error *error) {
    const struct rule *chosen;
    *found = NULL;
    int status = choose(snapshot, original, place, assignment, among_kernels, &chosen, error);
    if (status != GRAFT_OK || chosen == NULL) {
        return status;
    }
    if (assignment != NULL && assignment->trial && !graft_rule_fits(chosen, original)) {
        return GRAFT_OK;
    }
    *found = graft_rule_replacement(chosen, place);
    return check_interface(chosen, original, place, error);
}

int graft_snapshot_resolve(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                           struct graft_assignment *assignment, struct graft_resolution *resolution,
                           struct graft_error *error) {
    int status = graft_snapshot_original(snapshot, place, resolution, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (assignment != NULL) {
        assignment->modules++;
    }
    if (place->fused != NULL && place->fused->original == resolution->original->cls) {
        status = give_to_fusion(snapshot, place, assignment, resolution, error);
    } else {
        status = resolve_one(snapshot, resolution->original, place, assignment, 0, &resolution->replacement, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_known_class *built =
        resolution->replacement != NULL ? resolution->replacement : resolution->original;
    return resolve_one(snapshot, built, place, assignment, 1, &resolution->kernel, error);
}
