/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* sched_yield */
#include "local.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* A waiting process checks a neighbour's count LOOKS times before it yields the processor, which the neighbour may
 * need. */
enum { LINE = 64, PIECE = 1 << 16, LOOKS = 64 };

/* What a process writes. Pieces alternate between two halves: a process that waits for a piece has read the one before
 * it, so the half that is written next is free. */
struct part {
    _Atomic uint64_t pieces; /* number of pieces written since the start */
    _Atomic uint64_t claims; /* in rank 0's part: how many processes have failed */
    char apart[LINE - 2 * sizeof(uint64_t)];
    char halves[2][PIECE];
};

static MPI_Win window = MPI_WIN_NULL;
static struct part *parts; /* [size] */
static int rank, size;
static void (*progress)(void);

int local_start(MPI_Comm comm, void (*on_wait)(void)) {
    MPI_Aint bytes = 0;
    void *own = NULL;
    int unit = 0;
    progress = on_wait;
    (void)MPI_Comm_rank(comm, &rank);
    (void)MPI_Comm_size(comm, &size);
    /* Rank 0 allocates the memory of all ranks, so that it is one array. */
    bytes = rank == 0 ? (MPI_Aint)sizeof(struct part) * size : 0;
    int code = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm, (void *)&own, &window);
    if (code == MPI_SUCCESS) {
        code = MPI_Win_shared_query(window, 0, &bytes, &unit, (void *)&parts);
    }
    if (code == MPI_SUCCESS) {
        atomic_init(&parts[rank].pieces, 0);
        atomic_init(&parts[rank].claims, 0);
        code = MPI_Barrier(comm);
    }
    return code;
}

void local_stop(void) {
    if (window != MPI_WIN_NULL) {
        (void)MPI_Win_free(&window);
    }
    parts = NULL;
}

int local_is_there(void) {
    return parts != NULL;
}

static void wait_for(struct part *part, uint64_t pieces) {
    for (int looks = 0; atomic_load_explicit(&part->pieces, memory_order_acquire) < pieces; looks++) {
        if (looks >= LOOKS) {
            progress();
            (void)sched_yield();
        }
    }
}

/* Publishes a piece of this rank's numbers, and waits until every rank has published its piece of the same number,
 * which is returned in `*piece`. */
static void exchange(const void *own, size_t bytes, uint64_t *piece) {
    uint64_t before = atomic_load_explicit(&parts[rank].pieces, memory_order_relaxed);
    memcpy(parts[rank].halves[before % 2], own, bytes);
    atomic_store_explicit(&parts[rank].pieces, before + 1, memory_order_release);
    for (int other = 0; other < size; other++) {
        wait_for(&parts[other], before + 1);
    }
    *piece = before;
}

static void add(const float *from, int64_t count, float *to) {
    for (int64_t i = 0; i < count; i++) {
        to[i] += from[i];
    }
}

void local_sum(float *values, int64_t count) {
    enum { MOST = PIECE / sizeof(float) };
    for (int64_t at = 0; at < count; at += MOST) {
        int64_t n = count - at < MOST ? count - at : MOST;
        uint64_t piece;
        exchange(values + at, (size_t)n * sizeof *values, &piece);
        memcpy(values + at, parts[0].halves[piece % 2], (size_t)n * sizeof *values);
        for (int other = 1; other < size; other++) {
            add((const float *)(const void *)parts[other].halves[piece % 2], n, values + at);
        }
    }
}

void local_gather(const void *own, int64_t bytes, void *all) {
    for (int64_t at = 0; at < bytes; at += PIECE) {
        size_t n = (size_t)(bytes - at < PIECE ? bytes - at : PIECE);
        uint64_t piece;
        exchange((const char *)own + at, n, &piece);
        for (int other = 0; other < size; other++) {
            memcpy((char *)all + other * bytes + at, parts[other].halves[piece % 2], n);
        }
    }
}

int local_is_first(void) {
    return atomic_fetch_add(&parts[0].claims, 1) == 0;
}
