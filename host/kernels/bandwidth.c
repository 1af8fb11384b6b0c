/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/host/process.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "kernels/l3_cache.h"
#include "kernels/loops.h"
#include "kernels/threads.h"

enum { PASSES = 4, PART_BYTES = 1 << 20, PART_FLOATS = PART_BYTES / sizeof(float) };

/* The least bytes to read; with large caches, this many times their size, so that caches hardly matter. With the
 * address sanitizer the result means nothing, so that less is read. */
#ifdef __SANITIZE_ADDRESS__
enum { LEAST_BYTES = 16 << 20, CACHES = 0 };
#else
enum { LEAST_BYTES = 256 << 20, CACHES = 4 };
#endif

struct memory {
    float *floats;
    atomic_int sink; /* keeps the compiler from dropping the reads */
};

/* Writes the pages on the threads that will read them. */
static void fill(void *data, int64_t begin, int64_t end) {
    struct memory *memory = data;
    memset(memory->floats + begin * PART_FLOATS, 1, (size_t)(end - begin) * PART_BYTES);
}

static void read_parts(void *data, int64_t begin, int64_t end) {
    struct memory *memory = data;
    float sum = graft_loops_get()->sum(memory->floats + begin * PART_FLOATS, (end - begin) * PART_FLOATS);
    atomic_fetch_add(&memory->sink, sum > 0.0f);
}

/* The C library is asked only if /sys has no answer: on a virtual machine it may report the cache of the whole
 * processor. */
static int64_t cached_bytes(void) {
    int64_t bytes = graft_l3_cache_bytes("/sys/devices/system/cpu", sysconf(_SC_NPROCESSORS_CONF));
#ifdef _SC_LEVEL3_CACHE_SIZE
    bytes = bytes > 0 ? bytes : sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return bytes;
}

static int64_t usual_bytes(void) {
    const int64_t bytes = CACHES * cached_bytes();
    return bytes > LEAST_BYTES ? bytes : LEAST_BYTES;
}

double graft_read_bandwidth(int64_t bytes) {
    const struct graft_threads *threads = graft_threads_get();
    int64_t parts = (bytes > 0 ? bytes : usual_bytes()) / PART_BYTES;
    int64_t share = parts / threads->count();
    struct memory memory = {graft_alloc_aligned(64, (size_t)parts * PART_BYTES), 0};
    double best = 0.0;
    if (memory.floats == NULL) {
        return 0.0;
    }
    threads->parallel_for(parts, share, fill, &memory);
    for (int pass = 0; pass < PASSES; pass++) {
        double start = graft_seconds();
        threads->parallel_for(parts, share, read_parts, &memory);
        double speed = (double)(parts * PART_BYTES) / (graft_seconds() - start);
        best = speed > best ? speed : best;
    }
    graft_free(memory.floats);
    return best;
}
