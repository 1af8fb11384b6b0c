/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled once for each instruction set (meson.build). */
#include "arch/mixers/mamba_scan.h"

#include <string.h>

/* exp(x) to 2 units in the last place, for x clamped to [-86, 88]. Has no branches or calls, so that loops over it are
 * vectorised. */
static inline float exponential(float x) {
    const float magic = 12582912.0F; /* 1.5 * 2^23: adding it rounds to an integer, in the lowest bits */
    float above = x < -86.0F ? -86.0F : x;
    float clamped = above > 88.0F ? 88.0F : above;
    float shifted = clamped * 1.44269504F + magic;
    float whole = shifted - magic;
    float rest = (clamped - whole * 0.693359375F) +
                 whole * 2.12194440e-4F; /* subtracts whole * ln 2, with ln 2 split into two numbers for accuracy */
    float sum = 1.0F / 720.0F;
    uint32_t bits;
    float power;
    sum = sum * rest + 1.0F / 120.0F;
    sum = sum * rest + 1.0F / 24.0F;
    sum = sum * rest + 1.0F / 6.0F;
    sum = sum * rest + 0.5F;
    sum = sum * rest + 1.0F;
    sum = sum * rest + 1.0F;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127U) << 23;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/* log(1 + exp(x)), by the series of atanh for log1p. */
static inline float softplus(float x) {
    float magnitude = x < 0.0F ? -x : x;
    float e = exponential(-magnitude); /* at most 1 */
    float s = e / (2.0F + e);          /* at most 1/3 */
    float square = s * s;
    float sum = 1.0F / 15.0F;
    sum = sum * square + 1.0F / 13.0F;
    sum = sum * square + 1.0F / 11.0F;
    sum = sum * square + 1.0F / 9.0F;
    sum = sum * square + 1.0F / 7.0F;
    sum = sum * square + 1.0F / 5.0F;
    sum = sum * square + 1.0F / 3.0F;
    sum = sum * square + 1.0F;
    return (x > 0.0F ? x : 0.0F) + 2.0F * s * sum;
}

static void find_A(const struct graft_mamba_scan *scan, const float *A_log, float *A, int64_t begin, int64_t end) {
    for (int64_t n = 0; n < scan->state_size; n++) {
        for (int64_t c = begin; c < end; c++) {
            A[n * scan->channels + c] = -exponential(A_log[c * scan->state_size + n]);
        }
    }
}

/* Processes one token for `count` channels; `first` is the first of them. */
static void run_token(const struct graft_mamba_scan *scan, int64_t first, int64_t count, int64_t t) {
    const float *dt = scan->dt + t * scan->channels + first;
    const float *x = scan->x + t * scan->channels + first;
    float *y = scan->y + t * scan->channels + first;
    float step[GRAFT_MAMBA_SCAN_BLOCK];
    float input[GRAFT_MAMBA_SCAN_BLOCK];
    for (int64_t c = 0; c < count; c++) {
        step[c] = softplus(dt[c]);
        input[c] = step[c] * x[c];
        y[c] = scan->D[first + c] * x[c];
    }
    for (int64_t n = 0; n < scan->state_size; n++) {
        const float *A = scan->A + n * scan->channels + first;
        float *state = scan->state + n * scan->channels + first;
        float B = scan->B[t * scan->state_size + n];
        float C = scan->C[t * scan->state_size + n];
        for (int64_t c = 0; c < count; c++) {
            state[c] = exponential(step[c] * A[c]) * state[c] + B * input[c];
            y[c] += C * state[c];
        }
    }
}

static void run_block(const struct graft_mamba_scan *scan, int64_t first) {
    int64_t rest = scan->channels - first;
    for (int64_t t = 0; t < scan->tokens; t++) {
        run_token(scan, first, rest < GRAFT_MAMBA_SCAN_BLOCK ? rest : GRAFT_MAMBA_SCAN_BLOCK, t);
    }
}

const struct graft_mamba_scan_loops GRAFT_ISA_NAME(graft_mamba_scan) = {run_block, find_A};
