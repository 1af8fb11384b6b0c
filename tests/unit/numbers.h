/* SPDX-License-Identifier: Apache-2.0 */
/* Repeatable random numbers in every type that kernels read, at addresses that are only aligned to their element. */
#ifndef GRAFT_TEST_NUMBERS_H
#define GRAFT_TEST_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graft/convert.h"
#include "graft/dtype.h"

static inline uint32_t numbers_next(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

/* A random number between -1 and 1. */
static inline float numbers_float(void) {
    return (float)numbers_next() / 2147483648.0f - 1.0f;
}

/* Allocates `count` elements of `size` bytes at an address that is aligned to `size` and nothing more; numbers_free
 * frees them. */
static inline void *numbers_alloc(int64_t count, int64_t size) {
    char *block =
        count >= 0 && count <= INT32_MAX ? aligned_alloc(64, (size_t)(64 + count * size + 63) / 64 * 64) : NULL;
    if (block == NULL) {
        abort();
    }
    return block + size;
}

static inline void numbers_free(const void *numbers, int64_t size) {
    free((char *)(uintptr_t)numbers - size);
}

static inline float *numbers_floats(int64_t count) {
    float *floats = numbers_alloc(count, 4);
    for (int64_t i = 0; i < count; i++) {
        floats[i] = numbers_float();
    }
    return floats;
}

/* Random numbers of a floating-point type of 2 or 4 bytes. */
static inline void *numbers_stored(graft_dtype dtype, int64_t count) {
    if (dtype == GRAFT_DTYPE_F32) {
        return numbers_floats(count);
    }
    uint16_t *bits = numbers_alloc(count, 2);
    for (int64_t i = 0; i < count; i++) {
        uint32_t f16 = (numbers_next() & 0x83ffu) | ((8u + numbers_next() % 7u) << 10);
        bits[i] = dtype == GRAFT_DTYPE_BF16 ? graft_bf16_from_f32(numbers_float()) : (uint16_t)f16;
    }
    return bits;
}

/* Element number i as f32. */
static inline float numbers_at(graft_dtype dtype, const void *data, int64_t i) {
    switch (dtype) {
    case GRAFT_DTYPE_F32:
        return ((const float *)data)[i];
    case GRAFT_DTYPE_F16:
        return graft_f32_from_f16(((const uint16_t *)data)[i]);
    default:
        return graft_f32_from_bf16(((const uint16_t *)data)[i]);
    }
}

/* Whether a and b are equal, both NaN, or within `absolute` + `relative` * |b|. */
static inline int numbers_close(float a, float b, float absolute, float relative) {
    if (a == b || (isnan(a) && isnan(b))) {
        return 1;
    }
    return fabsf(a - b) <= absolute + relative * fabsf(b);
}

/* The index of the first pair that is not close; -1 if all are. */
static inline int64_t numbers_differ(const float *a, const float *b, int64_t count, float absolute, float relative) {
    for (int64_t i = 0; i < count; i++) {
        if (!numbers_close(a[i], b[i], absolute, relative)) {
            return i;
        }
    }
    return -1;
}

#endif
