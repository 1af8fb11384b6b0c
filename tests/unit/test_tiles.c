/* SPDX-License-Identifier: Apache-2.0 */
/* Products with tiles, emulated and, if available, in the processor: the same bits as sums in the manual's order;
 * memory beyond the operands is neither read nor written. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "graft/convert.h"
#include "graft/isa.h"
#include "kernels/tile_model.h"
#include "kernels/tiles.h"

#if defined(__x86_64__)

static const struct graft_tiles *tiles;

struct shape {
    int64_t rows;
    int64_t columns;
    int64_t tokens;
    int64_t shift; /* even number of bytes from the beginning of a cache line to the weight */
};

/* A number between -2 and 2 with all digits of bf16 and f32, so that sums are rounded. */
static float number(uint32_t i) {
    i = (i ^ i >> 15) * 0x2c1b3c6du;
    i = (i ^ i >> 12) * 0x297a2d39u;
    return (float)(int32_t)(i ^ i >> 15) / 0x1p30f;
}

static float flushed(float value) {
    return fabsf(value) < FLT_MIN ? copysignf(0.0f, value) : value;
}

/* Beyond the end there are zeros. */
static float widened(const uint16_t *numbers, int64_t i, int64_t count) {
    return i < count ? flushed(graft_f32_from_bf16(numbers[i])) : 0.0f;
}

static float expected(const uint16_t *w, const uint16_t *x, int64_t columns) {
    float sum = 0.0f;
    for (int64_t k = 0; k < columns; k += 32) {
        float halves[2] = {0.0f, 0.0f};
        for (int64_t i = k; i < k + 32; i++) {
            halves[i % 2] = flushed(fmaf(widened(w, i, columns), widened(x, i, columns), halves[i % 2]));
        }
        sum = flushed(sum + flushed(halves[0] + halves[1]));
    }
    return sum;
}

static void *room(size_t bytes) {
    void *memory = NULL;
    assert_int_equal(posix_memalign(&memory, 64, bytes > 0 ? bytes : 1), 0);
    memset(memory, 0xff, bytes); /* NaN, whatever it is read as */
    return memory;
}

/* Pages that end with the weight, before one that cannot be read. */
struct pages {
    void *first;
    size_t bytes;
};

static uint16_t *weights_of(const struct shape *shape, struct pages *pages) {
    enum { PAGE = 4096 };
    size_t count = (size_t)(shape->rows * shape->columns);
    size_t used = (size_t)graft_round_up(shape->shift + (int64_t)(count * sizeof(uint16_t)), 64);
    pages->bytes = (size_t)graft_round_up((int64_t)used, PAGE) + PAGE;
    pages->first = mmap(NULL, pages->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages->first != MAP_FAILED);
    char *end = (char *)pages->first + pages->bytes - PAGE;
    assert_int_equal(mprotect(end, PAGE, PROT_NONE), 0);
    memset(pages->first, 0xff, pages->bytes - PAGE);
    uint16_t *w = (uint16_t *)(void *)(end - used + shape->shift);
    for (size_t i = 0; i < count; i++) {
        w[i] = graft_bf16_from_f32(number((uint32_t)i + 1));
    }
    return w;
}

static uint16_t *pack_all(const struct shape *shape, const float *x, int64_t x_stride) {
    int64_t tokens = graft_round_up(shape->tokens, GRAFT_TILE_TOKENS);
    int64_t columns = graft_round_up(shape->columns, GRAFT_TILE_COLUMNS);
    uint16_t *packed = room((size_t)(tokens * columns) * sizeof *packed);
    for (int64_t k = 0; k < shape->columns; k += GRAFT_TILE_BLOCK) {
        int64_t depth = shape->columns - k < GRAFT_TILE_BLOCK ? shape->columns - k : GRAFT_TILE_BLOCK;
        for (int64_t t = 0; t < shape->tokens; t += GRAFT_TILE_TOKENS) {
            int64_t offset = graft_tiles_offset(shape->tokens, shape->columns, k / GRAFT_TILE_BLOCK, t);
            assert_true(offset >= 0 && offset + 16 * graft_round_up(depth, 32) <= tokens * columns);
            tiles->pack(x + t * x_stride + k, x_stride, shape->tokens - t, depth, packed + offset);
        }
    }
    return packed;
}

static void check_y(const struct shape *shape, const float *y, int64_t y_stride, const uint16_t *w, const uint16_t *x) {
    const uint32_t untouched = 0xffffffffu;
    for (int64_t t = 0; t < shape->tokens; t++) {
        for (int64_t r = 0; r < y_stride; r++) {
            float wanted;
            memcpy(&wanted, &untouched, sizeof wanted);
            if (r < shape->rows) {
                wanted = expected(w + r * shape->columns, x + t * shape->columns, shape->columns);
            }
            if (memcmp(&y[t * y_stride + r], &wanted, sizeof wanted) != 0) {
                fail_msg("%lld x %lld, %lld tokens, at %lld: [%lld, %lld] is %a, not %a", (long long)shape->rows,
                         (long long)shape->columns, (long long)shape->tokens, (long long)shape->shift, (long long)t,
                         (long long)r, (double)y[t * y_stride + r], (double)wanted);
            }
        }
    }
}

static void check_shape(const struct shape *shape) {
    int64_t x_stride = shape->columns + 5;
    int64_t y_stride = shape->rows + 3;
    struct pages pages;
    uint16_t *w = weights_of(shape, &pages);
    float *x = room((size_t)(shape->tokens * x_stride) * sizeof *x);
    uint16_t *rounded = room((size_t)(shape->tokens * shape->columns) * sizeof *rounded);
    float *y = room((size_t)(shape->tokens * y_stride) * sizeof *y);
    char *scratch = room((size_t)tiles->scratch_bytes(1, shape->rows, shape->tokens));
    for (int64_t i = 0; i < shape->tokens * shape->columns; i++) {
        float value = number(0x80000000u + (uint32_t)i);
        x[i / shape->columns * x_stride + i % shape->columns] = value;
        rounded[i] = graft_bf16_from_f32(value);
    }
    uint16_t *packed = pack_all(shape, x, x_stride);
    const struct graft_tiles_product product = {
        w, shape->rows, shape->columns, packed, shape->tokens, y, y_stride, NULL, scratch,
    };
    tiles->multiply(&product);
    check_y(shape, y, y_stride, w, rounded);
    assert_int_equal(munmap(pages.first, pages.bytes), 0);
    free(x);
    free(rounded);
    free(y);
    free(scratch);
    free(packed);
}

static void test_shapes(void **state) {
    (void)state;
    static const struct shape shapes[] = {
        {32, 32, 32, 0},     {1, 1, 1, 0},      {1, 2, 17, 6},      {33, 31, 16, 2},   {64, 33, 13, 62},
        {16, 95, 48, 30},    {67, 130, 34, 10}, {256, 64, 64, 40},  {32, 1024, 64, 8}, {40, 1025, 65, 8},
        {20, 1056, 40, 2},   {96, 2048, 33, 4}, {64, 2050, 70, 34}, {32, 40, 512, 0},  {70, 48, 513, 12},
        {35, 1100, 530, 22}, {257, 32, 20, 58},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        check_shape(&shapes[i]);
    }
}

/* A weight that begins anywhere in a cache line, loaded in place and copied. */
static void test_offsets(void **state) {
    (void)state;
    for (int64_t shift = 0; shift < 64; shift += 2) {
        check_shape(&(struct shape){34, 70, 18, shift});
        check_shape(&(struct shape){32, 64, 66, shift});
        check_shape(&(struct shape){64, 64, 32, shift});
    }
}

static void test_all_small(void **state) {
    (void)state;
    for (int64_t columns = 1; columns <= 66; columns += columns < 34 ? 1 : 5) {
        check_shape(&(struct shape){columns % 37 + 1, columns, (columns * 7) % 40 + 1, 0});
    }
}

/* NaN and infinity stay in their token and their row. */
static void test_not_finite(void **state) {
    (void)state;
    enum { ROWS = 40, COLUMNS = 70, TOKENS = 20 };
    const struct shape shape = {ROWS, COLUMNS, TOKENS, 0};
    struct pages pages;
    uint16_t *w = weights_of(&shape, &pages);
    float *x = room(sizeof(float) * TOKENS * COLUMNS);
    float *y = room(sizeof(float) * TOKENS * ROWS);
    char *scratch = room((size_t)tiles->scratch_bytes(1, ROWS, TOKENS));
    for (uint32_t i = 0; i < TOKENS * COLUMNS; i++) {
        x[i] = number(i + 1);
    }
    x[3 * COLUMNS + 69] = NAN;
    x[17 * COLUMNS] = INFINITY;
    w[35 * COLUMNS + 2] = graft_bf16_from_f32(-INFINITY);
    uint16_t *packed = pack_all(&shape, x, COLUMNS);
    const struct graft_tiles_product product = {w, ROWS, COLUMNS, packed, TOKENS, y, ROWS, NULL, scratch};
    tiles->multiply(&product);
    for (int t = 0; t < TOKENS; t++) {
        for (int r = 0; r < ROWS; r++) {
            assert_true(isfinite(y[t * ROWS + r]) == (t != 3 && t != 17 && r != 35));
            if (t != 17 || r != 35) { /* infinity less infinity, or not */
                assert_true(isnan(y[t * ROWS + r]) == (t == 3));
            }
        }
    }
    assert_int_equal(munmap(pages.first, pages.bytes), 0);
    free(x);
    free(y);
    free(scratch);
    free(packed);
}

static void gate_by_half(int32_t activation, float *gate, const float *up, int64_t count) {
    assert_int_equal(activation, 7);
    for (int64_t i = 0; i < count; i++) {
        gate[i] *= 0.5f * up[i];
    }
}

/* y of both weights one by one, gated, and packed for a product with more columns than these rows. */
static uint16_t *folded_apart(const struct graft_tiles_product *product, const struct graft_tiles_fold *fold) {
    const int64_t rows = product->rows, tokens = product->tokens;
    float *gate = room((size_t)(tokens * fold->columns) * sizeof *gate);
    float *up = room((size_t)(tokens * rows) * sizeof *up);
    struct graft_tiles_product apart = *product;
    memset(gate, 0, (size_t)(tokens * fold->columns) * sizeof *gate);
    apart.fold = NULL;
    apart.y = gate + fold->column;
    apart.y_stride = fold->columns;
    tiles->multiply(&apart);
    apart.w = fold->up;
    apart.y = up;
    apart.y_stride = rows;
    tiles->multiply(&apart);
    for (int64_t t = 0; t < tokens; t++) {
        gate_by_half(7, gate + t * fold->columns + fold->column, up + t * rows, rows);
    }
    uint16_t *packed = pack_all(&(struct shape){0, fold->columns, tokens, 0}, gate, fold->columns);
    free(gate);
    free(up);
    return packed;
}

/* The packed result has the columns of these rows, and zeros up to a tile's; the rest is unchanged. */
static void check_fold(const struct shape *shape, int64_t column, int64_t columns) {
    const int64_t tokens = graft_round_up(shape->tokens, GRAFT_TILE_TOKENS);
    const size_t numbers = (size_t)(tokens * graft_round_up(columns, GRAFT_TILE_COLUMNS));
    struct pages pages[2];
    uint16_t *gate = weights_of(shape, &pages[0]), *up = weights_of(shape, &pages[1]);
    float *x = room((size_t)(shape->tokens * shape->columns) * sizeof *x);
    uint16_t *out = room(numbers * sizeof *out);
    char *scratch = room((size_t)tiles->scratch_bytes(2, shape->rows, shape->tokens));
    memset(out, 0, numbers * sizeof *out);
    for (int64_t i = 0; i < shape->tokens * shape->columns; i++) {
        x[i] = number(0x90000000u + (uint32_t)i);
    }
    for (int64_t i = 0; i < shape->rows * shape->columns; i += 3) {
        up[i] ^= 0x8000u;
    }
    uint16_t *packed = pack_all(shape, x, shape->columns);
    const struct graft_tiles_fold fold = {up, gate_by_half, 7, out, columns, column};
    const struct graft_tiles_product product = {
        gate, shape->rows, shape->columns, packed, shape->tokens, NULL, 0, &fold, scratch,
    };
    tiles->multiply(&product);
    uint16_t *wanted = folded_apart(&product, &fold);
    for (size_t i = 0; i < numbers; i++) { /* a missing token is +0 in one and may be -0 in the other */
        if (out[i] != wanted[i] && ((out[i] | wanted[i]) & 0x7fffu) != 0) {
            fail_msg("%lld x %lld, %lld tokens, at %zu: 0x%x, not 0x%x", (long long)shape->rows,
                     (long long)shape->columns, (long long)shape->tokens, i, out[i], wanted[i]);
        }
    }
    assert_int_equal(munmap(pages[0].first, pages[0].bytes), 0);
    assert_int_equal(munmap(pages[1].first, pages[1].bytes), 0);
    free(x);
    free(out);
    free(scratch);
    free(packed);
    free(wanted);
}

static void test_folds(void **state) {
    (void)state;
    check_fold(&(struct shape){32, 32, 16, 0}, 0, 32);
    check_fold(&(struct shape){64, 70, 33, 6}, 32, 128);
    check_fold(&(struct shape){37, 1056, 20, 2}, 64, 101);
    check_fold(&(struct shape){64, 64, 70, 30}, 992, 2080);
    check_fold(&(struct shape){96, 40, 530, 8}, 1024, 1120);
}

/* A product releases the tiles: their next use is a fault. */
static void test_released(void **state) {
    (void)state;
    int status = 0;
    check_shape(&(struct shape){32, 32, 32, 0});
    pid_t child = fork();
    if (child == 0) {
        graft_tile_model_zero(0);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void multiply_wrongly(const struct graft_tiles_product *operands) {
    graft_tiles_model.multiply(operands);
    operands->y[operands->rows + 1] += 0.001f;
}

static void test_agreement(void **state) {
    struct graft_tiles wrong = graft_tiles_model;
    (void)state;
    wrong.multiply = multiply_wrongly;
    assert_true(graft_tiles_agree(tiles));
    assert_false(graft_tiles_agree(&wrong));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement), cmocka_unit_test(test_shapes),     cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_all_small), cmocka_unit_test(test_not_finite), cmocka_unit_test(test_released),
        cmocka_unit_test(test_folds),
    };
    if (graft_isa_runnable() < 4) {
        print_message("skipped: this processor has no AVX512-BF16\n");
        return 77;
    }
    tiles = &graft_tiles_model;
    int failures = cmocka_run_group_tests_name("model", tests, NULL, NULL);
    if (graft_tiles_are_here()) {
        tiles = &graft_tiles_amx;
        failures += cmocka_run_group_tests_name("processor", tests, NULL, NULL);
    } else {
        print_message("skipped with the processor's tiles: it has none\n");
    }
    return failures;
}

#else

int main(void) {
    return 77;
}

#endif
