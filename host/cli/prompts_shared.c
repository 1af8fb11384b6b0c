/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts go from rank 0, which reads them, to the other processes. */
#include "base/alloc.h"
#include "cli/prompts.h"
#include "graft/host/parallel.h"

static int share_one(const struct graft_parallel *parallel, struct graft_ids *ids, struct graft_error *error) {
    int64_t n = (int64_t)ids->n;
    int status = parallel->broadcast(&n, sizeof n, 0, error);
    for (int64_t i = 0; i < n && status == GRAFT_OK && parallel->rank > 0; i++) {
        graft_ids_add(ids, 0);
    }
    if (status == GRAFT_OK && ids->failed) {
        return graft_fail_memory(error, "prompt");
    }
    return status == GRAFT_OK ? parallel->broadcast(ids->ids, n * (int64_t)sizeof *ids->ids, 0, error) : status;
}

int graft_prompts_share(const struct graft_options *options, struct graft_prompts *prompts, struct graft_error *error) {
    const struct graft_parallel *parallel = graft_parallel_get();
    int64_t count = (int64_t)prompts->count;
    if (parallel->size == 1) {
        return GRAFT_OK;
    }
    int status = parallel->broadcast(&count, sizeof count, 0, error);
    if (status == GRAFT_OK && parallel->rank > 0) {
        *prompts = (struct graft_prompts){
            .ids = graft_alloc((size_t)count + 1, sizeof *prompts->ids),
            .prompts = graft_alloc((size_t)count + 1, sizeof *prompts->prompts),
        };
        if (prompts->ids == NULL || prompts->prompts == NULL) {
            return graft_fail_memory(error, "prompt");
        }
        prompts->count = (size_t)count;
    }
    for (int64_t i = 0; i < count && status == GRAFT_OK; i++) {
        struct graft_ids *ids = &prompts->ids[i];
        status = share_one(parallel, ids, error);
        prompts->prompts[i] = (struct graft_prompt){
            .ids = ids->ids,
            .count = ids->n,
            .adapter = i < (int64_t)options->prompt_adapters.count ? options->prompt_adapters.items[i] : NULL,
        };
    }
    return status;
}
