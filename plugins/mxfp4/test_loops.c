/* SPDX-License-Identifier: Apache-2.0 */
/* test_mxfp4_loops CASE-DIRECTORY: each table of loops against the formula of the format, on odd sizes, and against the
 * digests of a checkpoint's weights. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "loops.h"
#include "tests/goldens/check.h"
#include "tests/goldens/golden.h"
#include "tests/unit/any_word.h"
#include "tests/unit/turned_at.h"
#include "weights/checkpoint.h"

enum { ROWS = 11, BLOCKS = 3, COLUMNS = BLOCKS * MXFP4_BLOCK, TOKENS = 9, TURNED_ROWS = 3 * GRAFT_TURNED_ROWS };

static const struct graft_packed_stack_loops *const tables[] = {
    &mxfp4_loops_scalar,
#if defined(__x86_64__)
    &mxfp4_loops_avx2,
    &mxfp4_loops_avx512,
#endif
};

static const char *case_directory;
/* Arrays end where memory of theirs ends, so that sanitizers see a loop that reads on. */
static uint8_t *bytes(size_t n, uint32_t first, uint32_t count) {
    uint8_t *result = need_memory(n, 1);
    for (size_t i = 0; i < n; i++) {
        result[i] = (uint8_t)(first + any_word() % count);
    }
    return result;
}

/* What the format says of element `at`. */
static float weight_at(const struct mxfp4_weight *w, size_t at) {
    static const float sizes[] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
    uint8_t code = w->blocks[at / 2] >> (at % 2 * 4) & 15;
    float size = ldexpf(sizes[code & 7], w->scales[at / MXFP4_BLOCK] - 127);
    return code >= 8 ? -size : size;
}

/* Scales from 2^-127 to 2^127; of rows that are multiplied from 2^-9 to 2^9. */
static struct mxfp4_weight any_weight(size_t rows, int32_t all_scales) {
    struct mxfp4_weight w = {bytes(rows * COLUMNS / 2, 0, 256),
                             bytes(rows * BLOCKS, all_scales ? 0 : 118, all_scales ? 255 : 19)};
    return w;
}

static void free_weight(struct mxfp4_weight *w) {
    free((void *)(uintptr_t)w->blocks);
    free((void *)(uintptr_t)w->scales);
}

static void check_widened(const struct graft_packed_stack_loops *loops, int64_t first, int64_t rows) {
    struct mxfp4_weight w = any_weight(ROWS, 1);
    size_t n = (size_t)rows * COLUMNS, at = (size_t)first * COLUMNS;
    float *exact = need_memory(n, sizeof *exact);
    uint16_t *halves = need_memory(n, sizeof *halves);
    const struct graft_packed_stack_job job = {.weight = &w, .columns = COLUMNS, .first = first, .rows = rows};
    ((uint8_t *)(uintptr_t)w.scales)[first * BLOCKS] = 0; /* below the smallest normal number */
    loops->widen(&job, GRAFT_DTYPE_F32, exact);
    loops->widen(&job, GRAFT_DTYPE_BF16, halves);
    for (size_t i = 0; i < n; i++) {
        float expected = weight_at(&w, at + i);
        uint32_t bits;
        memcpy(&bits, &expected, sizeof bits);
        assert_memory_equal(&exact[i], &expected, sizeof expected);
        assert_int_equal(bits & 0xffff, 0);
        assert_int_equal(halves[i], bits >> 16);
    }
    free(exact);
    free(halves);
    free_weight(&w);
}

/* Portions of an expert that others come before: whole, and one that begins and ends within blocks. */
static void check_turned(const struct graft_packed_stack_loops *loops, int32_t layout, int64_t width) {
    struct mxfp4_weight w = any_weight(TURNED_ROWS, 1);
    const struct graft_packed_stack_job job = {
        .weight = &w, .columns = COLUMNS, .first = GRAFT_TURNED_ROWS, .rows = 2 * (int64_t)GRAFT_TURNED_ROWS};
    struct graft_turned_portion portion = {sizeof portion, layout, 0, job.rows, 0, COLUMNS, width, NULL};
    portion.out = need_memory((size_t)(job.rows * COLUMNS), sizeof(float));
    for (int i = 0; i < 2; i++) {
        loops->turn(&job, &portion);
        for (int64_t r = 0; r < portion.rows; r++) {
            for (int64_t c = 0; c < portion.columns; c++) {
                const int64_t at = (job.first + portion.row + r) * COLUMNS + portion.column + c;
                assert_true(turned_at(&portion, r, c) == weight_at(&w, (size_t)at));
            }
        }
        portion.row = portion.rows = GRAFT_TURNED_ROWS;
        portion.column = GRAFT_TURNED_COLUMNS;
        portion.columns = COLUMNS - 3 * (int64_t)GRAFT_TURNED_COLUMNS;
    }
    free(portion.out);
    free_weight(&w);
}

static void check_multiplied(const struct graft_packed_stack_loops *loops, int64_t first, int64_t rows,
                             int64_t tokens) {
    struct mxfp4_weight w = any_weight(ROWS, 0);
    float *x = need_memory((size_t)tokens * COLUMNS, sizeof *x);
    float *y = need_memory((size_t)tokens * ROWS, sizeof *y);
    const struct graft_packed_stack_job job = {.weight = &w,
                                               .columns = COLUMNS,
                                               .first = first,
                                               .rows = rows,
                                               .x = x,
                                               .tokens = tokens,
                                               .y = y,
                                               .y_stride = ROWS};
    for (int64_t i = 0; i < tokens * COLUMNS; i++) {
        x[i] = (float)(int32_t)any_word() / 2147483648.0F;
    }
    loops->multiply(&job);
    for (int64_t t = 0; t < tokens; t++) {
        for (int64_t r = 0; r < rows; r++) {
            double sum = 0.0, size = 0.0;
            float alone;
            const struct graft_packed_stack_job one = {.weight = &w,
                                                       .columns = COLUMNS,
                                                       .first = first + r,
                                                       .rows = 1,
                                                       .x = x + t * COLUMNS,
                                                       .tokens = 1,
                                                       .y = &alone,
                                                       .y_stride = 1};
            for (int64_t i = 0; i < COLUMNS; i++) {
                double term = (double)weight_at(&w, (size_t)((first + r) * COLUMNS + i)) * (double)x[t * COLUMNS + i];
                sum += term;
                size += fabs(term);
            }
            loops->multiply(&one);
            assert_true(fabs((double)y[t * ROWS + r] - sum) <= 1e-6 * size);
            assert_memory_equal(&alone, &y[t * ROWS + r], sizeof alone);
        }
    }
    free(x);
    free(y);
    free_weight(&w);
}

static void test_formula(void **state) {
    (void)state;
    for (int32_t i = 0; i < (int32_t)(sizeof tables / sizeof tables[0]) && i < graft_isa_runnable(); i++) {
        for (int64_t width = 16; width <= GRAFT_TURNED_ROWS; width *= 2) {
            check_turned(tables[i], GRAFT_TURNED_F32, width);
            check_turned(tables[i], GRAFT_TURNED_BF16, width);
            check_turned(tables[i], GRAFT_TURNED_PAIRS, width);
        }
        for (int64_t rows = 1; rows <= ROWS; rows++) {
            check_widened(tables[i], ROWS - rows, rows);
            for (int64_t tokens = 1; tokens <= TOKENS; tokens++) {
                check_multiplied(tables[i], ROWS - rows, rows, tokens);
            }
        }
    }
}

/* The digest of NAME as the architecture has it, [experts, in, out], where NAME_blocks has [experts, out, ..]. */
static void digest_of(const struct graft_packed_stack_loops *loops, const struct graft_checkpoint *checkpoint,
                      const char *name, char hex[65]) {
    char tensor[256];
    (void)snprintf(tensor, sizeof tensor, "%s_blocks", name);
    const struct graft_tensor_view *blocks = graft_checkpoint_find(checkpoint, tensor);
    (void)snprintf(tensor, sizeof tensor, "%s_scales", name);
    const struct graft_tensor_view *scales = graft_checkpoint_find(checkpoint, tensor);
    assert_non_null(blocks);
    assert_non_null(scales);
    const struct mxfp4_weight w = {blocks->data, scales->data};
    int64_t experts = blocks->shape[0], out = blocks->shape[1], in = blocks->shape[2] * MXFP4_BLOCK;
    const struct graft_packed_stack_job job = {.weight = &w, .columns = in, .rows = experts * out};
    float *rows = need_memory((size_t)(experts * out * in), sizeof *rows);
    float *turned = need_memory((size_t)(experts * out * in), sizeof *turned);
    loops->widen(&job, GRAFT_DTYPE_F32, rows);
    for (int64_t i = 0; i < experts * out * in; i++) {
        turned[(i / in / out * in + i % in) * out + i / in % out] = rows[i];
    }
    graft_sha256_of(turned, (size_t)(experts * out * in) * sizeof *turned, hex);
    free(rows);
    free(turned);
}

static void test_digests(void **state) {
    struct graft_error error = graft_error_none();
    struct graft_checkpoint *checkpoint = NULL;
    struct golden golden;
    (void)state;
    golden_open(&golden, case_directory);
    need(graft_checkpoint_open(case_directory, &checkpoint, &error), &error);
    const graft_json *weights = graft_json_get(golden.document, "quantized_weights");
    assert_int_equal(graft_json_size(weights), 4);
    for (size_t i = 0; i < graft_json_size(weights); i++) {
        const graft_json *weight = graft_json_at(weights, i);
        for (int32_t k = 0; k < (int32_t)(sizeof tables / sizeof tables[0]) && k < graft_isa_runnable(); k++) {
            char hex[65];
            digest_of(tables[k], checkpoint, graft_json_string(graft_json_get(weight, "name"), NULL), hex);
            assert_string_equal(hex, graft_json_string(graft_json_get(weight, "sha256"), NULL));
        }
    }
    graft_checkpoint_close(checkpoint);
    golden_close(&golden);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formula), cmocka_unit_test(test_digests)};
    if (argc != 2) {
        (void)fputs("usage: test_mxfp4_loops CASE-DIRECTORY\n", stderr);
        return 2;
    }
    case_directory = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
