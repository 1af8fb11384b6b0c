/* SPDX-License-Identifier: Apache-2.0 */
#include "parallel/ranks.h"

#include <stdlib.h>
#include <string.h>

/* --- One process alone --- */

static int allreduce(float *values, int64_t count, struct graft_error *error) {
    (void)values;
    (void)count;
    (void)error;
    return GRAFT_OK;
}

static int allgather(const void *own, int64_t bytes, void *all, struct graft_error *error) {
    (void)error;
    memcpy(all, own, (size_t)bytes);
    return GRAFT_OK;
}

static int broadcast(void *data, int64_t bytes, int32_t root, struct graft_error *error) {
    (void)data;
    (void)bytes;
    (void)root;
    (void)error;
    return GRAFT_OK;
}

static int nobody(int32_t rank, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, "parallel", "there is no rank %ld beside this process",
                           (long)rank);
}

static int send_bytes(const void *data, int64_t bytes, int32_t to, int32_t tag, struct graft_error *error) {
    (void)data;
    (void)bytes;
    (void)tag;
    return nobody(to, error);
}

static int receive_bytes(void *data, int64_t bytes, int32_t from, int32_t tag, struct graft_error *error) {
    (void)data;
    (void)bytes;
    (void)tag;
    return nobody(from, error);
}

static void end(int32_t status) {
    exit(status);
}

static void no_statistics(struct graft_parallel_statistics *statistics) {
    const struct graft_parallel_statistics none = {.struct_size = sizeof none};
    graft_struct_copy(statistics, statistics->struct_size, &none);
}

static const struct graft_parallel alone = {
    .struct_size = sizeof alone,
    .rank = 0,
    .size = 1,
    .local_rank = 0,
    .local_size = 1,
    .allreduce = allreduce,
    .allgather = allgather,
    .broadcast = broadcast,
    .send = send_bytes,
    .receive = receive_bytes,
    .abort = end,
    .statistics = no_statistics,
};

/* --- The current ranks --- */

static const struct graft_parallel *ranks = &alone;

const struct graft_parallel *graft_ranks_get(void) {
    return ranks;
}

int graft_ranks_leads(void) {
    return ranks->rank == 0;
}

void graft_ranks_set(const struct graft_parallel *parallel) {
    ranks = parallel != NULL ? parallel : &alone;
}
