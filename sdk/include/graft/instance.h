/* SPDX-License-Identifier: Apache-2.0 */
/* Instances that are a single block of the host's memory: `create` allocates one with graft_instance_new, and
 * `graft_instance_destroy` is the class's `destroy`. Classes may allocate instances in any other way. */
#ifndef GRAFT_INSTANCE_H
#define GRAFT_INSTANCE_H

#include "class.h"
#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first member of the instance's own struct. */
struct graft_instance {
    const struct graft_host *host; /* the host that allocated the instance */
    const char *path;              /* "model.layers.0.self_attn" */
};

GRAFT_ASSERT_SIZE(struct graft_instance, 16);

/* [load] `bytes` of zeroed memory that start with an initialised struct graft_instance; NULL with an error recorded on
 * failure. */
GRAFT_INLINE void *graft_instance_new(const struct graft_build *build, size_t bytes, struct graft_error *error) {
    struct graft_instance *instance = (struct graft_instance *)build->host->alloc((int64_t)bytes);
    if (instance == NULL) {
        (void)graft_fail_memory(error, build->path);
        return NULL;
    }
    instance->host = build->host;
    instance->path = build->path;
    return instance;
}

/* [load] Frees the instance; accepts NULL. */
GRAFT_INLINE void graft_instance_destroy(void *instance) {
    if (instance != NULL) {
        const struct graft_host *host = ((const struct graft_instance *)instance)->host;
        host->free(instance);
    }
}

/* [load] Ends a `create`: without a recorded error the instance passes to the host, else it is freed. Returns the
 * error's code. */
GRAFT_INLINE int graft_instance_finish(void *self_take, void **instance, struct graft_error *error) {
    if (error->code == GRAFT_OK) {
        *instance = self_take;
    } else {
        graft_instance_destroy(self_take);
    }
    return error->code;
}

#ifdef __cplusplus
}
#endif

#endif
