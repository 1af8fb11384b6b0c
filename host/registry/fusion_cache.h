/* SPDX-License-Identifier: Apache-2.0 */
/* The discoveries that a family keeps. Shared by the units of this folder only. */
#ifndef GRAFT_REGISTRY_FUSION_CACHE_H
#define GRAFT_REGISTRY_FUSION_CACHE_H

#include "registry/discovery.h"

struct fusion_cache;

/* Empty; NULL when memory ran out. Freeing takes NULL. */
struct fusion_cache *fusion_cache_create(void);
void fusion_cache_free(struct fusion_cache *cache);

/* [any] As graft_fusion_recall and graft_fusion_remember. */
const struct graft_discovery *fusion_cache_find(struct fusion_cache *cache, const struct graft_discovery_key *key);
void fusion_cache_add(struct fusion_cache *cache, const struct graft_discovery_key *key,
                      const struct graft_discovery *discovery);

#endif
