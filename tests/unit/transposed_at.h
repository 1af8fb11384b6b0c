/* SPDX-License-Identifier: Apache-2.0 */
/* Reads portions of weights (kernels/transposed.h) by simple code. */
#ifndef GRAFT_TESTS_TRANSPOSED_AT_H
#define GRAFT_TESTS_TRANSPOSED_AT_H

#include <string.h>

#include "kernels/transposed.h"

/* The number of a portion's row and column, both counted from where it begins. */
static float transposed_at(const struct graft_transposed_portion *portion, int64_t row, int64_t column) {
    const int is_pairs = portion->layout == GRAFT_TRANSPOSED_PAIRS;
    const int64_t lines = is_pairs ? portion->columns / 2 : portion->columns, line = is_pairs ? column / 2 : column;
    const uint32_t *words = (const uint32_t *)portion->out;
    uint32_t word = words[(row / portion->width * lines + line) * portion->width + row % portion->width];
    float number;
    if (is_pairs) {
        word = column % 2 == 0 ? word << 16 : word & 0xffff0000;
    }
    memcpy(&number, &word, sizeof number);
    return number;
}

#endif
