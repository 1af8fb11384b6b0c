/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tile_model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 8, ROWS = 16, ROW_BYTES = 64, PAIRS = ROW_BYTES / 4 };

struct tile {
    uint8_t bytes[ROWS][ROW_BYTES];
};

static _Thread_local struct graft_tile_config shape; /* palette 0: not configured */
static _Thread_local struct tile tiles[TILES];

static void fault_unless(int fine) {
    if (!fine) {
        abort();
    }
}

static int is_fine(const struct graft_tile_config *config) {
    int fine = config->palette == 1 && config->start_row < ROWS;
    for (size_t i = 0; i < sizeof config->reserved; i++) {
        fine = fine && config->reserved[i] == 0;
    }
    for (int i = 0; i < 16; i++) {
        fine = fine && config->row_bytes[i] <= (i < TILES ? ROW_BYTES : 0) && config->rows[i] <= (i < TILES ? ROWS : 0);
        fine = fine && (config->row_bytes[i] == 0) == (config->rows[i] == 0);
    }
    return fine;
}

void graft_tile_model_configure(const struct graft_tile_config *config) {
    fault_unless(is_fine(config));
    shape = *config;
    memset(tiles, 0, sizeof tiles);
}

void graft_tile_model_release(void) {
    memset(&shape, 0, sizeof shape);
    memset(tiles, 0, sizeof tiles);
}

static struct tile *get(int tile) {
    fault_unless(shape.palette == 1 && shape.rows[tile] > 0);
    return &tiles[tile];
}

void graft_tile_model_zero(int tile) {
    memset(get(tile), 0, sizeof(struct tile));
}

void graft_tile_model_load(int tile, const void *from, int64_t stride) {
    struct tile *to = get(tile);
    memset(to, 0, sizeof *to);
    for (int i = 0; i < shape.rows[tile]; i++) {
        memcpy(to->bytes[i], (const char *)from + i * stride, shape.row_bytes[tile]);
    }
}

void graft_tile_model_store(int tile, void *to, int64_t stride) {
    const struct tile *from = get(tile);
    for (int i = 0; i < shape.rows[tile]; i++) {
        memcpy((char *)to + i * stride, from->bytes[i], shape.row_bytes[tile]);
    }
}

/* For functions that only access registers, with indices that are always valid: sanitizers would take most of their
 * time. */
#define IN_REGISTERS __attribute__((no_sanitize("address", "undefined")))

IN_REGISTERS static float flushed(float value) {
    return fabsf(value) < FLT_MIN ? copysignf(0.0f, value) : value;
}

IN_REGISTERS static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return flushed(value);
}

struct halves {
    float first[PAIRS];
    float second[PAIRS];
};

IN_REGISTERS static void widen(const uint8_t *row, struct halves *out) {
    uint32_t pairs[PAIRS];
    memcpy(pairs, row, sizeof pairs);
    for (int i = 0; i < PAIRS; i++) {
        out->first[i] = from_bits(pairs[i] << 16);
        out->second[i] = from_bits(pairs[i] & 0xffff0000u);
    }
}

/* Whole rows are multiplied: elements outside of a tile's shape are zeros and add nothing. */
IN_REGISTERS static void multiply_row(const struct halves *a, const struct halves *b, int pairs, float *sum) {
    struct halves total = {{0.0f}, {0.0f}};
    for (int k = 0; k < pairs; k++) {
        for (int n = 0; n < PAIRS; n++) {
            total.first[n] = flushed(fmaf(a->first[k], b[k].first[n], total.first[n]));
            total.second[n] = flushed(fmaf(a->second[k], b[k].second[n], total.second[n]));
        }
    }
    for (int n = 0; n < PAIRS; n++) {
        sum[n] = flushed(flushed(sum[n]) + flushed(total.first[n] + total.second[n]));
    }
}

void graft_tile_model_multiply(int sum, int a, int b) {
    struct tile *to = get(sum);
    const struct tile *left = get(a);
    const struct tile *right = get(b);
    struct halves rows[ROWS];
    fault_unless(sum != a && sum != b && a != b);
    fault_unless(shape.row_bytes[sum] % 4 == 0 && shape.row_bytes[a] % 4 == 0 && shape.row_bytes[b] % 4 == 0);
    fault_unless(shape.rows[sum] == shape.rows[a] && shape.row_bytes[sum] == shape.row_bytes[b]);
    fault_unless(shape.row_bytes[a] / 4 == shape.rows[b]);
    for (int k = 0; k < shape.rows[b]; k++) {
        widen(right->bytes[k], &rows[k]);
    }
    for (int m = 0; m < shape.rows[sum]; m++) {
        struct halves row;
        float total[PAIRS];
        widen(left->bytes[m], &row);
        memcpy(total, to->bytes[m], sizeof total);
        multiply_row(&row, rows, shape.rows[b], total);
        memcpy(to->bytes[m], total, shape.row_bytes[sum]);
    }
}
