/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/known_families.h"

#include "base/alloc.h"
#include "base/fail.h"

static size_t count(const struct graft_plugin_set *set) {
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++) {
        n += (size_t)set->plugins[i].descriptor->n_families;
    }
    return n;
}

static void add_set(struct graft_known_families *known, const struct graft_plugin_set *set) {
    for (size_t i = 0; i < set->n; i++) {
        for (int32_t k = 0; k < set->plugins[i].descriptor->n_families; k++) {
            known->uses[known->n] = set->plugins[i].use;
            known->families[known->n++] = graft_plugin_family(set->plugins[i].descriptor, k);
        }
    }
}

int graft_known_families_collect(const struct graft_plugin_options *options, const struct graft_plugin_set *set,
                                 struct graft_known_families *known, struct graft_error *error) {
    static const struct graft_family *const none[] = {NULL};
    const struct graft_family *const *families = none;
    size_t n = count(set);
    int status = options->families != NULL ? options->families(options->families_data, &families, error) : GRAFT_OK;
    if (status != GRAFT_OK) {
        return status;
    }
    for (size_t i = 0; families[i] != NULL; i++) {
        n++;
    }
    for (size_t i = 0; i < options->n_others; i++) {
        n += count(options->others[i]);
    }
    known->families = graft_alloc(n + 1, sizeof *known->families);
    known->uses = graft_alloc(n + 1, sizeof *known->uses);
    if (known->families == NULL || known->uses == NULL) {
        return graft_fail_memory(error, NULL);
    }
    while (families[known->n] != NULL) {
        known->families[known->n] = families[known->n];
        known->n++;
    }
    add_set(known, set);
    for (size_t i = 0; i < options->n_others; i++) {
        add_set(known, options->others[i]);
    }
    return GRAFT_OK;
}

void graft_known_families_finish(struct graft_known_families *known) {
    graft_free(known->families);
    graft_free(known->uses);
}
