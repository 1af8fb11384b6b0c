/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of modules that a family keeps. Used in this folder only. */
#ifndef GRAFT_REGISTRY_FUSION_CACHE_H
#define GRAFT_REGISTRY_FUSION_CACHE_H

#include "registry/fused_modules.h"

struct fusion_cache;

/* Creates an empty cache; NULL if memory ran out. Freeing accepts NULL. */
struct fusion_cache *graft_fusion_cache_create(void);
void graft_fusion_cache_free(struct fusion_cache *cache);

/* [any] Like graft_fusion_recall and graft_fusion_remember. */
const struct graft_fused_modules *graft_fusion_cache_find(struct fusion_cache *cache,
                                                          const struct graft_fused_modules_key *key);
void graft_fusion_cache_add(struct fusion_cache *cache, const struct graft_fused_modules_key *key,
                            const struct graft_fused_modules *fused);

#endif
