/* SPDX-License-Identifier: Apache-2.0 */
/* What every instance of a built-in class starts with. */
#ifndef GRAFT_ARCH_INSTANCE_H
#define GRAFT_ARCH_INSTANCE_H

#include "graft/class.h"
#include "graft/host.h"

struct graft_instance {
    const struct graft_host *host; /* whose memory the instance is */
    const char *path;              /* "model.layers.0.self_attn" */
};

/* [load] `bytes` of zeroed memory that start with a filled-in struct graft_instance; NULL with an error recorded. */
void *graft_instance_new(const struct graft_build *build, size_t bytes, struct graft_error *error);

/* [load] The end of a `create`: gives the instance to the host where `status` is GRAFT_OK, else frees it. Returns it.
 */
int graft_instance_finish(void *self_take, int status, void **instance);

/* [load] The `destroy` of the built-in classes: all of an instance is one block. */
void graft_instance_destroy(void *instance);

#endif
