/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/fusion.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "registry/fusion_cache.h"
#include "registry/snapshot.h"

struct graft_known_fusion {
    atomic_long references;
    const struct graft_fusion_family *family;
    struct graft_origin origin;
    struct graft_regex **patterns; /* the compiled target_modules_patterns */
    size_t n_patterns;
    struct fusion_cache *cache; /* lists of fused modules from earlier loads */
};

static const char *source_of(const struct graft_known_fusion *known) {
    const char *file = known->origin.file != NULL ? known->origin.file : known->origin.plugin;
    return file != NULL ? file : known->family->name;
}

static size_t count_patterns(const struct graft_fusion_family *family) {
    size_t n = 0;
    while (family->target_modules_patterns != NULL && family->target_modules_patterns[n] != NULL) {
        n++;
    }
    return n;
}

/* Creates a fusion family, compiling its patterns, with one reference. */
static int create(const struct graft_fusion_family *family, const struct graft_origin *origin,
                  struct graft_known_fusion **known, struct graft_error *error) {
    size_t n = count_patterns(family);
    int status = GRAFT_OK;
    struct graft_known_fusion *result = graft_alloc(1, sizeof *result);
    if (result == NULL) {
        return graft_fail_memory(error, family->name);
    }
    result->references = 1;
    result->family = family;
    result->origin = *origin;
    result->cache = graft_fusion_cache_create();
    result->patterns = graft_alloc(n + 1, sizeof(struct graft_regex *));
    if (result->cache == NULL || result->patterns == NULL) {
        graft_fusion_release(result);
        return graft_fail_memory(error, family->name);
    }
    for (; result->n_patterns < n && status == GRAFT_OK; result->n_patterns++) {
        const char *pattern = family->target_modules_patterns[result->n_patterns];
        status = graft_regex_compile(pattern, strlen(pattern), source_of(result), GRAFT_ERROR_PLUGIN,
                                     &result->patterns[result->n_patterns], error);
    }
    if (status != GRAFT_OK) {
        graft_fusion_release(result);
        return status;
    }
    *known = result;
    return GRAFT_OK;
}

struct graft_known_fusion *graft_fusion_retain(struct graft_known_fusion *known) {
    atomic_fetch_add(&known->references, 1);
    return known;
}

void graft_fusion_release(struct graft_known_fusion *known) {
    if (known != NULL && atomic_fetch_sub(&known->references, 1) == 1) {
        graft_fusion_cache_free(known->cache);
        for (size_t i = 0; i < known->n_patterns; i++) {
            graft_regex_free(known->patterns[i]);
        }
        graft_free(known->patterns);
        graft_free(known);
    }
}

int graft_fusion_append(struct graft_snapshot *snapshot, const struct graft_fusion_family *family,
                        const struct graft_origin *origin, struct graft_error *error) {
    const struct graft_known_fusion *other = graft_snapshot_fusion(snapshot, family->name);
    if (other != NULL && other->family == family) {
        return GRAFT_OK;
    }
    if (other != NULL) {
        int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, origin->file != NULL ? origin->file : family->name,
                                     "fusion family %s: there is already one with that name in %s", family->name,
                                     source_of(other));
        graft_error_hint(error, "load only one of them");
        return status;
    }
    int status = create(family, origin, &snapshot->fusions[snapshot->n_fusions], error);
    snapshot->n_fusions += status == GRAFT_OK;
    return status;
}

const struct graft_known_fusion *graft_snapshot_fusion_at(const struct graft_snapshot *snapshot, size_t i) {
    return i < snapshot->n_fusions ? snapshot->fusions[i] : NULL;
}

const struct graft_known_fusion *graft_snapshot_fusion(const struct graft_snapshot *snapshot, const char *name) {
    for (size_t i = 0; i < snapshot->n_fusions; i++) {
        if (strcmp(snapshot->fusions[i]->family->name, name) == 0) {
            return snapshot->fusions[i];
        }
    }
    return NULL;
}

const struct graft_fusion_family *graft_fusion_family_of(const struct graft_known_fusion *known) {
    return known->family;
}

const struct graft_origin *graft_fusion_origin(const struct graft_known_fusion *known) {
    return &known->origin;
}

int graft_fusion_targets(const struct graft_known_fusion *known, const char *path, struct graft_error *error) {
    struct graft_regex_match match;
    int hit = known->n_patterns == 0;
    for (size_t i = 0; i < known->n_patterns && hit == 0; i++) {
        hit = graft_regex_search(known->patterns[i], path, strlen(path), 0, &match);
    }
    if (hit < 0) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, source_of(known),
                              "fusion family %s: searching \"%s\" for its patterns costs too much", known->family->name,
                              path);
        graft_error_hint(error, "write patterns without nested repetition");
        return -1;
    }
    return hit;
}

void graft_fusion_add_patterns(const struct graft_known_fusion *known, struct graft_text *text) {
    for (size_t i = 0; i < known->n_patterns; i++) {
        graft_text_printf(text, "%s\"%s\"", i > 0 ? " or " : "", known->family->target_modules_patterns[i]);
    }
}

const struct graft_fused_modules *graft_fusion_recall(const struct graft_known_fusion *known,
                                                      const struct graft_fused_modules_key *key) {
    return graft_fusion_cache_find(known->cache, key);
}

void graft_fusion_remember(const struct graft_known_fusion *known, const struct graft_fused_modules_key *key,
                           const struct graft_fused_modules *fused) {
    graft_fusion_cache_add(known->cache, key, fused);
}
