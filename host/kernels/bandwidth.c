/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/host/process.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "kernels/parallel.h"

enum { PASSES = 8, LANES = 8, PART_BYTES = 1 << 20 };

struct memory {
    uint64_t *words;
    atomic_ulong sum; /* makes reading them of use */
};

enum { PART_WORDS = PART_BYTES / sizeof(uint64_t) };

/* Touches the pages by the threads that will read them. */
static void fill(void *data, int64_t begin, int64_t end) {
    struct memory *memory = data;
    memset(memory->words + begin * PART_WORDS, 1, (size_t)(end - begin) * PART_BYTES);
}

static void read_parts(void *data, int64_t begin, int64_t end) {
    struct memory *memory = data;
    uint64_t sums[LANES] = {0};
    for (int64_t i = begin * PART_WORDS; i < end * PART_WORDS; i += LANES) {
        for (int64_t lane = 0; lane < LANES; lane++) {
            sums[lane] += memory->words[i + lane];
        }
    }
    for (int64_t lane = 0; lane < LANES; lane++) {
        atomic_fetch_add(&memory->sum, sums[lane]);
    }
}

double graft_read_bandwidth(int64_t bytes) {
    const struct graft_threads *threads = graft_threads_get();
    int64_t parts = bytes / PART_BYTES;
    int64_t grain = parts / threads->count() > 1 ? parts / threads->count() : 1;
    struct memory memory = {graft_alloc_aligned(64, (size_t)parts * PART_BYTES), 0};
    double best = 0.0;
    if (memory.words == NULL) {
        return 0.0;
    }
    threads->parallel_for(parts, grain, fill, &memory);
    for (int pass = 0; pass < PASSES; pass++) {
        double start = graft_seconds();
        threads->parallel_for(parts, grain, read_parts, &memory);
        double speed = (double)(parts * PART_BYTES) / (graft_seconds() - start);
        best = speed > best ? speed : best;
    }
    graft_free(memory.words);
    return best;
}
