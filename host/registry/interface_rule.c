/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule that a replacement has the interface of what it replaces, for patterns: a broad one such as ".*Attention"
 * that also hits a container is an error, with a narrower pattern that would do.
 */
#include <string.h>

#include "base/text.h"
#include "registry/snapshot.h"

static void add_name(struct graft_text *list, const char *name) {
    graft_text_printf(list, "%s%s", list->length > 0 ? ", " : "", name);
}

/* "^(A|B)$": exactly the names that fit. */
static void add_alternative(struct graft_text *pattern, const char *name) {
    graft_text_printf(pattern, "%s%s", pattern->length > 0 ? "|" : "^(", name);
}

struct hits {
    struct graft_text fitting;
    struct graft_text misfits;
    struct graft_text narrower;
};

static int sort_hit(const struct patch *patch, const struct graft_known_class *known, struct hits *hits) {
    int hit = patch_hits(patch, known);
    if (hit == 1 && strcmp(known->cls->interface_id, patch->declared->replacement->interface_id) == 0) {
        add_name(&hits->fitting, known->cls->name);
        add_alternative(&hits->narrower, known->cls->name);
    } else if (hit == 1) {
        graft_text_printf(&hits->misfits, "%s%s (%s)", hits->misfits.length > 0 ? ", " : "", known->cls->name,
                          known->cls->interface_id);
    }
    return hit;
}

static int report(const struct patch *patch, struct hits *hits, struct graft_error *error) {
    const struct graft_class *replacement = patch->declared->replacement;
    if (hits->misfits.failed || hits->fitting.failed || hits->narrower.failed) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, patch->origin.file, "out of memory");
    }
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, patch->origin.file,
                          "pattern \"%s\" for %s (%s) also hits %s; fitting: %s", patch->declared->target,
                          replacement->name, replacement->interface_id, hits->misfits.bytes,
                          hits->fitting.length > 0 ? hits->fitting.bytes : "none");
    if (hits->fitting.length > 0) {
        graft_error_hint(error, "use the pattern \"%s)$\"", hits->narrower.bytes);
    }
    return GRAFT_ERROR_PLUGIN;
}

static int check(const struct graft_snapshot *snapshot, const struct patch *patch, const char *const *names, size_t n,
                 struct graft_error *error) {
    struct hits hits = {0};
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_known_class *known = graft_snapshot_class(snapshot, names[i], patch->origin.plugin);
        if (known != NULL && sort_hit(patch, known, &hits) < 0) {
            status = graft_error_set(error, GRAFT_ERROR_PLUGIN, patch->origin.file,
                                     "pattern \"%s\": searching \"%s\" costs too much", patch->declared->target,
                                     names[i]);
        }
    }
    if (status == GRAFT_OK && hits.misfits.length > 0) {
        status = report(patch, &hits, error);
    }
    graft_text_free(&hits.fitting);
    graft_text_free(&hits.misfits);
    graft_text_free(&hits.narrower);
    return status;
}

int graft_snapshot_check_patterns(const struct graft_snapshot *snapshot, const char *model_type,
                                  const char *const *class_names, size_t n, struct graft_error *error) {
    for (size_t i = 0; i < snapshot->n_patches; i++) {
        const struct patch *patch = snapshot->patches[i];
        if (patch->declared->key == GRAFT_KEY_PATTERN && patch_wants_model(patch, model_type)) {
            int status = check(snapshot, patch, class_names, n, error);
            if (status != GRAFT_OK) {
                return status;
            }
        }
    }
    return GRAFT_OK;
}
