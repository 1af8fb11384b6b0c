/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/fused_modules.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

struct shared_modules {
    struct graft_fused_modules content; /* first member, so that pointers to it can be converted back */
    atomic_long references;
};

struct graft_fused_modules *graft_fused_modules_create(const struct graft_known_fusion *known) {
    struct shared_modules *shared = graft_alloc(1, sizeof *shared);
    if (shared == NULL) {
        return NULL;
    }
    shared->references = 1;
    shared->content.known = known;
    return &shared->content;
}

static struct shared_modules *shared_of(const struct graft_fused_modules *fused) {
    return (struct shared_modules *)(uintptr_t)fused;
}

const struct graft_fused_modules *graft_fused_modules_retain(const struct graft_fused_modules *fused) {
    atomic_fetch_add(&shared_of(fused)->references, 1);
    return fused;
}

void graft_fused_modules_release(const struct graft_fused_modules *fused) {
    if (fused != NULL && atomic_fetch_sub(&shared_of(fused)->references, 1) == 1) {
        for (size_t i = 0; i < fused->n; i++) {
            graft_candidate_free(fused->candidates[i]);
        }
        graft_free(fused->candidates);
        graft_free(shared_of(fused));
    }
}

const struct graft_candidate *graft_fused_modules_at(const struct graft_fused_modules *fused, const char *path) {
    for (size_t i = 0; i < fused->n; i++) {
        if (fused->candidates[i]->fusable && strcmp(fused->candidates[i]->path, path) == 0) {
            return fused->candidates[i];
        }
    }
    return NULL;
}

struct graft_candidate *graft_fused_modules_add(struct graft_fused_modules *fused, const char *path,
                                                const struct graft_class *original,
                                                const struct graft_fusion_verdict *verdict, struct graft_error *error) {
    struct graft_candidate *candidate = graft_candidate_create(fused->known, path);
    if (candidate == NULL || (candidate->reason = graft_strdup(verdict->reason)) == NULL ||
        graft_grow(&fused->candidates, &fused->capacity, fused->n, sizeof(struct graft_candidate *)) != 0) {
        graft_candidate_free(candidate);
        (void)graft_fail_memory(error, path);
        return NULL;
    }
    graft_error_clean(candidate->reason);
    candidate->original = original;
    candidate->fusable = verdict->fusable;
    fused->candidates[fused->n++] = candidate;
    return candidate;
}
