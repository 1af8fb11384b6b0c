/* SPDX-License-Identifier: Apache-2.0 */
#include "add_loops.h"

#include <string.h>

#include "graft/isa.h"

/* The compiler divides one into as many registers as it takes. */
typedef float numbers __attribute__((vector_size(64)));

enum { SUMS = LORA_BLOCK / 16 };

typedef uint16_t halves __attribute__((vector_size(32)));
typedef uint32_t words __attribute__((vector_size(64)));

static void add_sums(const numbers sums[SUMS], float *y) {
    numbers row[SUMS];
    memcpy(row, y, sizeof row);
    for (int i = 0; i < SUMS; i++) {
        row[i] += sums[i];
    }
    memcpy(y, row, sizeof row);
}

static void add(const float *columns, const float *narrow, int64_t rank, float *y) {
    numbers sums[SUMS] = {{0}}, row[SUMS];
    for (int64_t r = 0; r < rank; r++) {
        memcpy(row, columns + r * LORA_BLOCK, sizeof row);
        for (int i = 0; i < SUMS; i++) {
            sums[i] += narrow[r] * row[i];
        }
    }
    add_sums(sums, y);
}

static void add_bf16(const uint16_t *columns, const float *narrow, int64_t rank, float factor, float *y) {
    numbers sums[SUMS] = {{0}};
    halves row[SUMS];
    for (int64_t r = 0; r < rank; r++) {
        memcpy(row, columns + r * LORA_BLOCK, sizeof row);
        for (int i = 0; i < SUMS; i++) {
            sums[i] += factor * narrow[r] * (numbers)(__builtin_convertvector(row[i], words) << 16);
        }
    }
    add_sums(sums, y);
}

extern const struct lora_add_loops GRAFT_ISA_NAME(lora_add_loops);
const struct lora_add_loops GRAFT_ISA_NAME(lora_add_loops) = {add, add_bf16};
