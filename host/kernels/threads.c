/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/threads.h"

#include <stdatomic.h>

#include "base/context.h"
#include "base/crash_context.h"
#include "base/float_environment.h"
#include "kernels/pool.h"

/* A run of items has 1 / SHARE_PARTS of an equal share of the items left: long runs first, which memory is read fastest
 * in, and short ones at the end, so that all threads finish together and a delayed one does not hold up the others. */
enum { SHARE_PARTS = 2 };

void graft_threads_set_count(int32_t count) {
    atomic_store(&graft_context_of_process()->threads, count > 0 ? count : 0);
}

int32_t graft_threads_workers(void) {
    int32_t count = graft_context_threads();
    return graft_pool_is_inside() ? 1 : count > 0 ? count : graft_pool_processors();
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

struct loop {
    graft_worker_body body;
    void *data;
    int64_t items;
    int64_t grain;
    int32_t workers;
    struct graft_crash_context running; /* what the caller runs, which workers count as running too */
    struct graft_context *context;      /* the caller's context, which workers use too */
    atomic_llong next;                  /* the first item that nobody has taken */
    atomic_ullong environment; /* the floating-point environment that the body left in a worker; 0: as it was */
};

/* The length of the next run. The last run includes a rest that would be shorter than the grain. */
static int64_t run_length(const struct loop *loop, int64_t left) {
    int64_t length = left / ((int64_t)loop->workers * SHARE_PARTS);
    length = length > loop->grain ? length : loop->grain;
    return left - length < loop->grain ? left : length;
}

static void take_runs(void *data, int32_t worker) {
    struct loop *loop = (struct loop *)data;
    const struct graft_crash_context before = *graft_crash_context();
    const uint64_t environment = graft_float_environment();
    struct graft_context *const own = graft_context_enter(loop->context);
    *graft_crash_context() = loop->running;
    long long begin = atomic_load(&loop->next);
    while (begin < loop->items) {
        int64_t length = run_length(loop, loop->items - begin);
        if (atomic_compare_exchange_weak(&loop->next, &begin, begin + length)) {
            loop->body(loop->data, worker, begin, begin + length);
            begin = atomic_load(&loop->next);
        }
    }
    const uint64_t left = graft_float_environment();
    if (left != environment) {
        atomic_store(&loop->environment, left);
        graft_float_environment_set(environment);
    }
    *graft_crash_context() = before;
    (void)graft_context_enter(own);
}

void graft_threads_for_workers(int64_t items, int64_t grain, graft_worker_body body, void *data) {
    int64_t least = grain > 0 ? grain : 1;
    int32_t workers = (int32_t)smaller(graft_threads_workers(), items / least);
    if (items <= 0) {
        return;
    }
    if (workers <= 1) {
        body(data, 0, 0, items);
        return;
    }
    struct loop loop = {body, data, items, least, workers, *graft_crash_context(), graft_context(), 0, 0};
    graft_pool_run(workers, take_runs, &loop);
    if (atomic_load(&loop.environment) != 0) {
        graft_crash_context_blame(atomic_load(&loop.environment));
    }
}

struct plain_loop {
    graft_parallel_body body;
    void *data;
};

static void run_plain(void *data, int32_t worker, int64_t begin, int64_t end) {
    const struct plain_loop *loop = (const struct plain_loop *)data;
    (void)worker;
    loop->body(loop->data, begin, end);
}

static void parallel_for(int64_t items, int64_t grain, graft_parallel_body body, void *data) {
    struct plain_loop loop = {body, data};
    graft_threads_for_workers(items, grain, run_plain, &loop);
}

const struct graft_threads *graft_threads_get(void) {
    static const struct graft_threads threads = {
        .struct_size = sizeof(struct graft_threads),
        .parallel_for = parallel_for,
        .count = graft_threads_workers,
    };
    return &threads;
}

int32_t graft_threads_count(void) {
    return graft_threads_get()->count();
}
