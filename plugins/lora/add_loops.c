/* SPDX-License-Identifier: Apache-2.0 */
#include "add_loops.h"

#include "graft/isa.h"
#include "graft/vectors.h"

/* A tile: as many sums as every instruction set has registers for, besides the operands. */
enum { SUMS = 4, LANES = GRAFT_VECTOR_LANES, TILE = SUMS * LANES };

typedef graft_vector_floats numbers;

static numbers load(const float *from) {
    return (numbers)graft_vector_words_from(from);
}

static void add_to(float *y, numbers sums) {
    sums += load(y);
    memcpy(y, &sums, sizeof sums);
}

static void add(const float *columns, const float *narrow, int64_t rank, float *y) {
    for (int first = 0; first < LORA_BLOCK; first += TILE) {
        numbers sums[SUMS] = {{0}};
        for (int64_t r = 0; r < rank; r++) {
            for (int i = 0; i < SUMS; i++) {
                sums[i] = graft_vector_add_product(sums[i], graft_vector_all(narrow[r]),
                                                   load(columns + r * LORA_BLOCK + first + (ptrdiff_t)i * LANES));
            }
        }
        for (int i = 0; i < SUMS; i++) {
            add_to(y + first + (ptrdiff_t)i * LANES, sums[i]);
        }
    }
}

/* Adds words from `first` on, a vector of words at a time; each word has numbers of two outputs. */
static void add_pairs(const uint16_t *columns, const float *narrow, int64_t rank, float factor, int first, float *y) {
    numbers sums[SUMS] = {{0}};
    for (int64_t r = 0; r < rank; r++) {
        const numbers x = graft_vector_all(factor * narrow[r]);
        for (int i = 0; i < SUMS; i += 2) {
            const uint16_t *from = columns + r * LORA_BLOCK + 2 * first + (ptrdiff_t)i * LANES;
            const graft_vector_words pairs = graft_vector_words_from(from);
            sums[i] = graft_vector_add_product(sums[i], x, (numbers)(pairs << 16));
            sums[i + 1] = graft_vector_add_product(sums[i + 1], x, (numbers)(pairs & 0xffff0000));
        }
    }
    for (int i = 0; i < SUMS; i += 2) {
        const int word = first + i / 2 * LANES;
        float *to = y + word / LORA_APART * 2 * LORA_APART + word % LORA_APART;
        add_to(to, sums[i]);
        add_to(to + LORA_APART, sums[i + 1]);
    }
}

static void add_bf16(const uint16_t *columns, const float *narrow, int64_t rank, float factor, float *y) {
    for (int first = 0; first < LORA_BLOCK / 2; first += TILE / 2) {
        add_pairs(columns, narrow, rank, factor, first, y);
    }
}

extern const struct lora_add_loops GRAFT_ISA_NAME(lora_add_loops);
const struct lora_add_loops GRAFT_ISA_NAME(lora_add_loops) = {add, add_bf16};
