/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how fast the machine multiplies, with loops that touch no memory. */
#include "graft/host/process.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "kernels/cpu.h"
#include "kernels/loops.h"
#include "kernels/peak_bf16.h"
#include "kernels/threads.h"
#include "kernels/tiles.h"

/* A pass takes about a hundredth of a second; the best of several passes counts. With the address sanitizer it would
 * take ten times as long and mean nothing. */
#ifdef __SANITIZE_ADDRESS__
enum { PASSES = 2, ROUNDS = 1 << 14, TILE_ROUNDS = 1 << 10 };
#else
enum { PASSES = 8, ROUNDS = 1 << 20, TILE_ROUNDS = 1 << 16 };
#endif

/* Returns the number of multiply-adds done in `rounds` rounds. */
typedef int64_t (*peak_loop)(int64_t rounds, float *sink);

struct pass {
    peak_loop loop;
    int64_t rounds;
    atomic_llong done;
    atomic_int sink; /* keeps the compiler from dropping the sums */
};

static void run_loop(void *data, int64_t begin, int64_t end) {
    struct pass *pass = data;
    float sink = (float)begin;
    for (int64_t i = begin; i < end; i++) {
        atomic_fetch_add(&pass->done, pass->loop(pass->rounds, &sink));
    }
    atomic_fetch_add(&pass->sink, sink > 1.0f);
}

static double best_of(peak_loop loop, int64_t rounds) {
    const struct graft_threads *threads = graft_threads_get();
    double best = 0.0;
    for (int i = 0; i < PASSES; i++) {
        struct pass pass = {loop, rounds, 0, 0};
        double start = graft_seconds();
        threads->parallel_for(threads->count(), 1, run_loop, &pass);
        double speed = 2.0 * (double)atomic_load(&pass.done) / (graft_seconds() - start);
        best = speed > best ? speed : best;
    }
    return best;
}

double graft_matrix_peak(int32_t bf16, const char **unit) {
#if defined(__aarch64__)
    static const char *const names[] = {"scalar f32", "neon f32"};
#else
    static const char *const names[] = {"scalar f32", "avx2 f32", "avx512 f32"};
#endif
    int isa = graft_cpu_isa();
    if (bf16 && isa == GRAFT_ISA_AMX && !graft_cpu_models_tiles()) {
        *unit = "amx bf16";
        return best_of(graft_peak_tiles, TILE_ROUNDS);
    }
    if (bf16 && isa >= GRAFT_ISA_AVX512_BF16) {
        *unit = "avx512 bf16";
        return best_of(graft_peak_bf16, ROUNDS);
    }
    *unit = names[isa < GRAFT_ISA_AVX512 ? isa : GRAFT_ISA_AVX512];
    return best_of(graft_loops_get()->multiply_add, ROUNDS);
}
