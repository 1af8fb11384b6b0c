/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/fused_modules.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"

struct shared_discovery {
    struct graft_fused_modules content; /* first: what others see */
    atomic_long references;
};

struct graft_fused_modules *graft_fused_modules_create(const struct graft_known_fusion *known) {
    struct shared_discovery *shared = graft_alloc(1, sizeof *shared);
    if (shared == NULL) {
        return NULL;
    }
    shared->references = 1;
    shared->content.known = known;
    return &shared->content;
}

static struct shared_discovery *shared_of(const struct graft_fused_modules *discovery) {
    return (struct shared_discovery *)(uintptr_t)discovery;
}

const struct graft_fused_modules *graft_fused_modules_retain(const struct graft_fused_modules *discovery) {
    atomic_fetch_add(&shared_of(discovery)->references, 1);
    return discovery;
}

void graft_fused_modules_release(const struct graft_fused_modules *discovery) {
    if (discovery != NULL && atomic_fetch_sub(&shared_of(discovery)->references, 1) == 1) {
        for (size_t i = 0; i < discovery->n; i++) {
            graft_candidate_free(discovery->candidates[i]);
        }
        graft_free(discovery->candidates);
        graft_free(shared_of(discovery));
    }
}

const struct graft_candidate *graft_fused_modules_at(const struct graft_fused_modules *discovery, const char *path) {
    for (size_t i = 0; i < discovery->n; i++) {
        if (discovery->candidates[i]->fusable && strcmp(discovery->candidates[i]->path, path) == 0) {
            return discovery->candidates[i];
        }
    }
    return NULL;
}

struct graft_candidate *graft_fused_modules_add(struct graft_fused_modules *discovery, const char *path,
                                                const struct graft_class *original,
                                                const struct graft_fusion_verdict *verdict, struct graft_error *error) {
    struct graft_candidate *candidate = graft_candidate_create(discovery->known, path);
    if (candidate == NULL || (candidate->reason = graft_strdup(verdict->reason)) == NULL ||
        graft_grow(&discovery->candidates, &discovery->capacity, discovery->n, sizeof(struct graft_candidate *)) != 0) {
        graft_candidate_free(candidate);
        (void)graft_fail_memory(error, path);
        return NULL;
    }
    graft_error_clean(candidate->reason);
    candidate->original = original;
    candidate->fusable = verdict->fusable;
    discovery->candidates[discovery->n++] = candidate;
    return candidate;
}
