/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/instance.h"

void *graft_instance_new(const struct graft_build *build, size_t bytes, struct graft_error *error) {
    struct graft_instance *instance = build->host->alloc((int64_t)bytes);
    if (instance == NULL) {
        (void)graft_fail_memory(error, build->path);
        return NULL;
    }
    instance->host = build->host;
    instance->path = build->path;
    return instance;
}

int graft_instance_finish(void *self_take, int status, void **instance) {
    if (status == GRAFT_OK) {
        *instance = self_take;
    } else {
        graft_instance_destroy(self_take);
    }
    return status;
}

void graft_instance_destroy(void *instance) {
    if (instance != NULL) {
        const struct graft_host *host = ((const struct graft_instance *)instance)->host;
        host->free(instance);
    }
}
