/* SPDX-License-Identifier: Apache-2.0 */
/* Coded weights of random content, made as a class makes them. Include it after cmocka.h. */
#ifndef GRAFT_TESTS_CODED_FIXTURE_H
#define GRAFT_TESTS_CODED_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "any_words.h"
#include "base/dtype.h"
#include "kernels/coded/weight.h"

/* A tensor of a checkpoint, in one block or two. */
struct coded_tensor {
    struct graft_weight weight;
    struct graft_row_block blocks[2];
};

/* Owns `data`, [rows, columns]. */
static inline void tensor_set(struct coded_tensor *tensor, graft_dtype dtype, int64_t rows, int64_t columns,
                              const void *data) {
    tensor->blocks[0] = (struct graft_row_block){sizeof tensor->blocks[0], dtype, data, rows};
    tensor->weight = (struct graft_weight){.struct_size = sizeof tensor->weight,
                                           .rank = 2,
                                           .shape = {rows, columns, 1, 1, 1, 1, 1, 1},
                                           .rows = rows,
                                           .columns = columns,
                                           .blocks = tensor->blocks,
                                           .n_blocks = 1,
                                           .block_stride = sizeof tensor->blocks[0]};
}

/* Splits one block into two, the second from row `at` on. */
static inline void tensor_cut(struct coded_tensor *tensor, int64_t at) {
    const struct graft_row_block all = tensor->blocks[0];
    tensor->blocks[1] = all;
    tensor->blocks[1].data = (const char *)all.data + at * tensor->weight.columns * graft_dtype_size(all.dtype);
    tensor->blocks[1].rows = all.rows - at;
    tensor->blocks[0].rows = at;
    tensor->weight.n_blocks = 2;
}

static inline void tensor_free(struct coded_tensor *tensor) {
    free((void *)(uintptr_t)tensor->blocks[0].data);
    tensor->blocks[0].data = NULL;
}

static inline void *any_numbers(int64_t bytes) {
    unsigned char *numbers = need((size_t)bytes);
    for (int64_t i = 0; i < bytes; i++) {
        numbers[i] = (unsigned char)any_word();
    }
    return numbers;
}

/* Scales between 2^-6 and 2^-5 with a mantissa that all types have; U8 are powers of two, F8_E4M3 a few numbers. */
static inline void *any_scales(graft_dtype dtype, int64_t n) {
    const int64_t size = graft_dtype_size(dtype);
    char *scales = need((size_t)(n * size));
    for (int64_t i = 0; i < n; i++) {
        const uint32_t fraction = any_word() & 0x7f, bits = 121U << 23 | fraction << 16;
        const uint16_t half = (uint16_t)(dtype == GRAFT_DTYPE_F16 ? 9U << 10 | fraction << 3 : bits >> 16);
        const unsigned char byte = (unsigned char)(dtype == GRAFT_DTYPE_U8 ? 118 + fraction % 4 : 8 + fraction % 32);
        memcpy(scales + i * size,
               size == 4   ? (const void *)&bits
               : size == 2 ? (const void *)&half
                           : &byte,
               (size_t)size);
    }
    return scales;
}

/* A codec and everything that it points to. */
struct coded_parts {
    struct graft_codec codec;
    struct coded_tensor codes, scales, zeros, groups;
    float table[16];
};

static inline void parts_free(struct coded_parts *parts) {
    tensor_free(&parts->codes);
    tensor_free(&parts->scales);
    tensor_free(&parts->zeros);
    tensor_free(&parts->groups);
}

/* A weight with a valid codec. */
static inline struct graft_coded_weight *coded_create(const struct graft_codec *codec) {
    struct graft_error error = graft_error_none();
    struct graft_coded_weight *weight = NULL;
    if (graft_coded_weight_create(codec, "m", "g_idx", &weight, &error) != GRAFT_OK) {
        fail_msg("%s", error.message);
    }
    return weight;
}

/* Points the codec to its parts again, which may have moved. */
static inline const struct graft_codec *parts_codec(struct coded_parts *parts) {
    parts->codec.codes = &parts->codes.weight;
    parts->codec.scales = &parts->scales.weight;
    parts->codes.weight.blocks = parts->codes.blocks;
    parts->scales.weight.blocks = parts->scales.blocks;
    parts->codec.zeros = NULL;
    parts->codec.group_index = NULL;
    if (parts->zeros.blocks[0].data != NULL) {
        parts->zeros.weight.blocks = parts->zeros.blocks;
        parts->codec.zeros = &parts->zeros.weight;
    }
    if (parts->groups.blocks[0].data != NULL) {
        parts->groups.weight.blocks = parts->groups.blocks;
        parts->codec.group_index = &parts->groups.weight;
    }
    if (parts->codec.kind == GRAFT_CODE_TABLE) {
        parts->codec.table = parts->table;
    }
    return &parts->codec;
}

#endif
