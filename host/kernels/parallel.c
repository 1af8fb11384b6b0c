/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/parallel.h"

#include <stdatomic.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/running.h"

/* Runs for each worker, so that one that was held up does not hold up the others. */
enum { RUNS_PER_WORKER = 8 };

static atomic_int wanted = 0;

void graft_threads_set_count(int32_t count) {
    atomic_store(&wanted, count > 0 ? count : 0);
}

int32_t graft_parallel_workers(void) {
#ifdef _OPENMP
    if (omp_in_parallel()) {
        return 1;
    }
    int count = atomic_load(&wanted);
    return count > 0 ? count : omp_get_num_procs();
#else
    return 1;
#endif
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void graft_parallel_for_workers(int64_t items, int64_t grain, graft_worker_body body, void *data) {
    int32_t workers = graft_parallel_workers();
    int64_t most = items / (grain > 0 ? grain : 1);
    int64_t runs = smaller(most, (int64_t)workers * RUNS_PER_WORKER);
    if (items <= 0) {
        return;
    }
    if (workers == 1 || runs <= 1) {
        body(data, 0, 0, items);
        return;
    }
#ifdef _OPENMP
    /* Run i starts at items * i / runs, written so that it cannot overflow; none is shorter than the grain. */
    int64_t length = items / runs;
    int64_t longer = items % runs;
    const struct graft_running ours = *graft_running(); /* a worker does what its caller does */
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)smaller(workers, runs))
    for (int64_t i = 0; i < runs; i++) {
        int64_t begin = i * length + smaller(i, longer);
        const struct graft_running before = *graft_running();
        *graft_running() = ours;
        body(data, omp_get_thread_num(), begin, begin + length + (i < longer));
        *graft_running() = before;
    }
#endif
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
    graft_parallel_for_workers(items, grain, run_plain, &loop);
}

const struct graft_threads *graft_threads_get(void) {
    static const struct graft_threads threads = {
        .struct_size = sizeof(struct graft_threads),
        .parallel_for = parallel_for,
        .count = graft_parallel_workers,
    };
    return &threads;
}

int32_t graft_threads_count(void) {
    return graft_threads_get()->count();
}
