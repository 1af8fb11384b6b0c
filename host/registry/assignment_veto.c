/* SPDX-License-Identifier: Apache-2.0 */
/* Vetoes: modules that a replacement turned out to be unable to replace. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "registry/assignment_rows.h"

const char *graft_assignment_vetoed(const struct graft_assignment *assignment, size_t i, const char *path) {
    for (size_t k = 0; assignment != NULL && k < assignment->n_vetoes; k++) {
        if (assignment->vetoes[k].rule == i && strcmp(assignment->vetoes[k].path, path) == 0) {
            return assignment->vetoes[k].why;
        }
    }
    return NULL;
}

int graft_assignment_has_vetoes(const struct graft_assignment *assignment) {
    return assignment != NULL && assignment->n_vetoes > 0;
}

/* The rule that put the class there; assignment->n if there is none. */
static size_t find_rule(const struct graft_assignment *assignment, const struct graft_known_class *known,
                        const char *path) {
    const struct graft_module_place place = {.path = path};
    size_t i = 0;
    while (i < assignment->n &&
           (assignment->rows[i].won == 0 || assignment->rows[i].left_out ||
            graft_rule_replacement(graft_snapshot_rule(assignment->snapshot, i), &place)->cls != known->cls)) {
        i++;
    }
    return i;
}

int graft_assignment_veto(struct graft_assignment *assignment, const struct graft_joined *joined, const char *why,
                          struct graft_error *error) {
    const size_t i = find_rule(assignment, joined->by, joined->by_path);
    if (i == assignment->n) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, joined->by_path, "%s: %s", joined->by->cls->name, why);
    }
    if (graft_assignment_vetoed(assignment, i, joined->by_path) != NULL) {
        return GRAFT_OK;
    }
    if (graft_grow(&assignment->vetoes, &assignment->veto_capacity, assignment->n_vetoes, sizeof *assignment->vetoes) !=
        0) {
        return graft_fail_memory(error, joined->by_path);
    }
    struct assignment_veto *veto = &assignment->vetoes[assignment->n_vetoes];
    *veto = (struct assignment_veto){i, graft_strdup(joined->by_path), graft_strdup(why)};
    assignment->n_vetoes++;
    return veto->path != NULL && veto->why != NULL ? GRAFT_OK : graft_fail_memory(error, joined->by_path);
}

int graft_assignment_was_vetoed(struct graft_assignment *assignment) {
    const int more = assignment->n_vetoes > assignment->n_vetoes_known;
    assignment->n_vetoes_known = assignment->n_vetoes;
    return more;
}

void graft_assignment_free_vetoes(struct graft_assignment *assignment) {
    for (size_t i = 0; i < assignment->n_vetoes; i++) {
        graft_free(assignment->vetoes[i].path);
        graft_free(assignment->vetoes[i].why);
    }
    graft_free(assignment->vetoes);
}
