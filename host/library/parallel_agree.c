/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the processes were started alike: what differs would otherwise show as a hang, or as other text. */
#include "base/alloc.h"
#include "graft/host/parallel.h"
#include "parallel/ranks.h"

/* FNV-1a: it guards against mistakes. */
static uint64_t hash(const unsigned char *data, size_t bytes) {
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++) {
        value = (value ^ data[i]) * UINT64_C(0x100000001b3);
    }
    return value;
}

int graft_parallel_agree(const char *what, const void *data, size_t bytes, struct graft_error *error) {
    const struct graft_parallel *ranks = graft_ranks_get();
    uint64_t own = hash(data, bytes);
    uint64_t *all = graft_alloc((size_t)ranks->size, sizeof *all);
    if (all == NULL) {
        return graft_fail_memory(error, "parallel");
    }
    int status = ranks->allgather(&own, sizeof own, all, error);
    for (int32_t rank = 1; rank < ranks->size && status == GRAFT_OK; rank++) {
        if (all[rank] != all[0]) {
            status = graft_error_set(error, GRAFT_ERROR_USAGE, "parallel", "%s of rank %ld are not those of rank 0",
                                     what, (long)rank);
        }
    }
    graft_free(all);
    return status;
}
