/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/fusion_cache.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"

/* more pairs of architecture and config than one program uses */
enum { SIZE = 16 };

struct entry {
    const struct graft_class *architecture;
    char *config;
    char *options;
    const struct graft_fused_modules *fused;
};

struct fusion_cache {
    pthread_mutex_t lock;
    struct entry entries[SIZE]; /* the first `n` are in use */
    size_t n;
    size_t next; /* the entry to replace once all are in use */
};

struct fusion_cache *graft_fusion_cache_create(void) {
    struct fusion_cache *cache = graft_alloc(1, sizeof *cache);
    if (cache != NULL) {
        (void)pthread_mutex_init(&cache->lock, NULL);
    }
    return cache;
}

static void entry_finish(struct entry *entry) {
    graft_fused_modules_release(entry->fused);
    graft_free(entry->config);
    graft_free(entry->options);
}

void graft_fusion_cache_free(struct fusion_cache *cache) {
    if (cache != NULL) {
        for (size_t i = 0; i < cache->n; i++) {
            entry_finish(&cache->entries[i]);
        }
        (void)pthread_mutex_destroy(&cache->lock);
        graft_free(cache);
    }
}

/* Compares the whole texts, as two configs might have the same hash. */
static const struct graft_fused_modules *find(const struct fusion_cache *cache,
                                              const struct graft_fused_modules_key *key) {
    for (size_t i = 0; i < cache->n; i++) {
        const struct entry *entry = &cache->entries[i];
        if (entry->architecture == key->architecture && strcmp(entry->config, key->config) == 0 &&
            strcmp(entry->options, key->options) == 0) {
            return entry->fused;
        }
    }
    return NULL;
}

const struct graft_fused_modules *graft_fusion_cache_find(struct fusion_cache *cache,
                                                          const struct graft_fused_modules_key *key) {
    (void)pthread_mutex_lock(&cache->lock);
    const struct graft_fused_modules *found = find(cache, key);
    if (found != NULL) {
        (void)graft_fused_modules_retain(found);
    }
    (void)pthread_mutex_unlock(&cache->lock);
    return found;
}

void graft_fusion_cache_add(struct fusion_cache *cache, const struct graft_fused_modules_key *key,
                            const struct graft_fused_modules *fused) {
    struct entry entry = {key->architecture, graft_strdup(key->config), graft_strdup(key->options),
                          graft_fused_modules_retain(fused)};
    if (entry.config == NULL || entry.options == NULL) {
        entry_finish(&entry);
        return;
    }
    (void)pthread_mutex_lock(&cache->lock);
    if (find(cache, key) != NULL) {
        entry_finish(&entry); /* another thread has added it meanwhile */
    } else if (cache->n < SIZE) {
        cache->entries[cache->n++] = entry;
    } else {
        entry_finish(&cache->entries[cache->next]);
        cache->entries[cache->next] = entry;
        cache->next = (cache->next + 1) % SIZE;
    }
    (void)pthread_mutex_unlock(&cache->lock);
}
