/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* for madvise */
#include "merge.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "graft/convert.h"

static size_t size_of(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 ? 4 : 2;
}

struct work {
    const struct graft_product *original;
    const struct lora_delta *delta;
    struct lora_columns a;
    const struct graft_row_block *sums;
    void *data; /* of these */
    atomic_int failed;
};

static void write_row(const struct work *work, int64_t row, const float *numbers) {
    int64_t columns = work->original->weight->columns;
    if (work->sums->dtype == GRAFT_DTYPE_F32) {
        memcpy((float *)work->data + row * columns, numbers, (size_t)columns * sizeof *numbers);
        return;
    }
    uint16_t *out = (uint16_t *)work->data + row * columns;
    for (int64_t k = 0; k < columns; k++) {
        out[k] = graft_bf16_from_f32(numbers[k]);
    }
}

static void merge_rows(void *data, int64_t begin, int64_t end) {
    struct work *work = data;
    const struct lora_delta *delta = work->delta;
    float *row = lora_sum_room(&work->a);
    if (row == NULL) {
        atomic_store(&work->failed, 1);
        return;
    }
    for (int64_t r = begin; r < end; r++) {
        lora_read_row(work->original->weight, work->original->first_row + delta->first + r, row);
        lora_add_delta(delta, &work->a, r, row);
        for (int64_t c = 0; delta->scale != NULL && c < work->a.out_features; c++) {
            row[c] *= delta->scale[r];
        }
        write_row(work, r, row);
    }
    free(row);
}

/* The rows from `row` on, at most `most`, that are in one block of the weight. */
static struct graft_row_block find_rows(const struct graft_weight *weight, int64_t row, int64_t most) {
    int32_t i = 0;
    const struct graft_row_block *block = graft_weight_block(weight, i);
    for (; row >= block->rows; block = graft_weight_block(weight, ++i)) {
        row -= block->rows;
    }
    return (struct graft_row_block){
        .struct_size = sizeof *block,
        .dtype = block->dtype,
        .data = (const char *)block->data + (size_t)(row * weight->columns) * size_of(block->dtype),
        .rows = block->rows - row < most ? block->rows - row : most,
    };
}

/* Appends rows of the original unchanged. */
static void keep_rows(const struct graft_product *original, int64_t begin, int64_t end, struct lora_merged *merged) {
    while (begin < end) {
        struct graft_row_block *block = &merged->blocks[merged->weight.n_blocks++];
        *block = find_rows(original->weight, original->first_row + begin, end - begin);
        begin += block->rows;
    }
}

static graft_dtype type_of_sums(const struct graft_product *original, int64_t begin, int64_t end) {
    graft_dtype dtype = GRAFT_DTYPE_BF16;
    while (begin < end && dtype == GRAFT_DTYPE_BF16) {
        const struct graft_row_block block = find_rows(original->weight, original->first_row + begin, end - begin);
        dtype = block.dtype == GRAFT_DTYPE_BF16 ? dtype : GRAFT_DTYPE_F32;
        begin += block.rows;
    }
    return dtype;
}

/* Allocates memory for sums, freed with `free`. Each token reads all of them, and address translation of small pages
 * takes several per cent of that time; mapped files have larger pages. */
static void *allocate(size_t bytes) {
    enum { CACHE_LINE = 64, LARGE_PAGE = 1 << 21 };
    const size_t unit = bytes < LARGE_PAGE ? CACHE_LINE : LARGE_PAGE, whole = (bytes + unit - 1) / unit * unit;
    void *data = aligned_alloc(unit, whole);
#ifdef MADV_HUGEPAGE
    if (data != NULL && unit == LARGE_PAGE) {
        (void)madvise(data, whole, MADV_HUGEPAGE); /* if this fails, pages are small */
    }
#endif
    return data;
}

/* Appends the rows that the adapter changes, as weight plus delta. Returns 0, or -1 if memory ran out. */
static int add_sums(const struct graft_product *original, const struct lora_delta *delta,
                    const struct graft_threads *threads, struct lora_merged *merged) {
    const int64_t columns = original->weight->columns, rows = delta->b.rows;
    struct graft_row_block *sums = &merged->blocks[merged->weight.n_blocks++];
    *sums = (struct graft_row_block){
        .struct_size = sizeof *sums, .dtype = type_of_sums(original, delta->first, delta->first + rows), .rows = rows};
    const size_t bytes = (size_t)(rows * columns) * size_of(sums->dtype);
    struct work work = {.original = original, .delta = delta, .sums = sums};
    int failed = lora_delta_open(delta, &work.a) != 0;
    sums->data = merged->data[merged->n++] = work.data = allocate(bytes);
    if (!failed && work.data != NULL) {
        threads->parallel_for(rows, 16, merge_rows, &work);
    }
    lora_columns_finish(&work.a);
    return failed || work.data == NULL || atomic_load(&work.failed) ? -1 : 0;
}

static int are_all_floats(const struct graft_product *original, const struct lora_delta *deltas, int32_t n) {
    int are = lora_are_floats(original->weight);
    for (int32_t i = 0; i < n; i++) {
        are = are && lora_are_floats(deltas[i].a.weight) && lora_are_floats(deltas[i].b.weight);
    }
    return are;
}

static void set_weight(const struct graft_product *original, struct lora_merged *merged) {
    merged->weight.struct_size = sizeof merged->weight;
    merged->weight.rank = 2;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        merged->weight.shape[i] = 1;
    }
    merged->weight.shape[0] = merged->weight.rows = original->rows;
    merged->weight.shape[1] = merged->weight.columns = original->weight->columns;
    merged->weight.blocks = merged->blocks;
    merged->weight.block_stride = sizeof merged->blocks[0];
    merged->bias = original->bias;
}

int lora_merge(const struct graft_product *original, const struct lora_delta *deltas, int32_t n,
               const struct graft_threads *threads, const char *path, struct lora_merged *merged,
               struct graft_error *error) {
    *merged = (struct lora_merged){.n = 0};
    if (n < 1 || !are_all_floats(original, deltas, n)) {
        return GRAFT_OK;
    }
    const size_t sums = (size_t)n, kept = (size_t)original->weight->n_blocks + sums;
    merged->blocks = calloc(kept + sums, sizeof *merged->blocks);
    merged->data = calloc(sums, sizeof *merged->data);
    int failed = merged->blocks == NULL || merged->data == NULL;
    int64_t row = 0;
    for (int32_t i = 0; i < n && !failed; i++) {
        keep_rows(original, row, deltas[i].first, merged);
        failed = add_sums(original, &deltas[i], threads, merged) != 0;
        row = deltas[i].first + deltas[i].b.rows;
    }
    if (failed) {
        return graft_fail_memory(error, path);
    }
    keep_rows(original, row, original->rows, merged);
    set_weight(original, merged);
    return GRAFT_OK;
}

void lora_merged_finish(struct lora_merged *merged) {
    for (int32_t i = 0; i < merged->n; i++) {
        free(merged->data[i]);
    }
    free(merged->data);
    free(merged->blocks);
    *merged = (struct lora_merged){.n = 0};
}
