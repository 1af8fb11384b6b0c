/* SPDX-License-Identifier: Apache-2.0 */
/* The base of the kernels: the processor's instruction set, threads, scratch memory, the KV cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "folder.h"
#include "graft/host/process.h"
#include "kernels/cpu.h"
#include "kernels/kernels.h"
#include "kernels/kv_cache.h"
#include "kernels/l3_cache.h"
#include "kernels/threads.h"

static void test_isa(void **state) {
    (void)state;
    int best = graft_cpu_best_isa();
    assert_int_equal(graft_cpu_isa(), best < GRAFT_ISA_AVX2 ? best : GRAFT_ISA_AVX2); /* main set the variable */
    for (int isa = GRAFT_ISA_SCALAR; isa <= GRAFT_ISA_AMX; isa++) {
        graft_cpu_set_isa(isa);
        assert_int_equal(graft_cpu_isa(), isa < best ? isa : best);
    }
    assert_string_equal(graft_cpu_isa_name(GRAFT_ISA_SCALAR), "scalar");
    assert_string_equal(graft_cpu_isa_name(GRAFT_ISA_AVX512), "avx512");
    assert_string_equal(graft_cpu_isa_name(GRAFT_ISA_AMX), "amx");
}

struct visits {
    atomic_int seen[1000];
    atomic_int workers[64]; /* bodies running with this number */
    atomic_int faults;
    int64_t grain;
};

static void count_inner(void *data, int64_t begin, int64_t end) {
    struct visits *visits = (struct visits *)data;
    atomic_fetch_add(&visits->faults, begin != 0 || end != 10 || graft_threads_get()->count() != 1);
}

static void visit(void *data, int32_t worker, int64_t begin, int64_t end) {
    struct visits *visits = (struct visits *)data;
    atomic_fetch_add(&visits->faults, atomic_fetch_add(&visits->workers[worker], 1) != 0);
    atomic_fetch_add(&visits->faults, end - begin < visits->grain);
    for (int64_t i = begin; i < end; i++) {
        atomic_fetch_add(&visits->seen[i], 1);
    }
    if (end - begin < 1000) { /* in a parallel region */
        graft_threads_get()->parallel_for(10, 1, count_inner, visits);
    }
    atomic_fetch_sub(&visits->workers[worker], 1);
}

static void test_parallel(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        graft_threads_set_count(threads);
        assert_int_equal(graft_threads_get()->count(), threads);
        for (int64_t grain = 1; grain < 600; grain = grain * 3 + 1) {
            struct visits *visits = calloc(1, sizeof *visits);
            visits->grain = grain;
            graft_threads_for_workers(1000, grain, visit, visits);
            for (int i = 0; i < 1000; i++) {
                assert_int_equal(atomic_load(&visits->seen[i]), 1);
            }
            assert_int_equal(atomic_load(&visits->faults), 0);
            free(visits);
        }
    }
    graft_threads_for_workers(0, 1, visit, NULL);
    graft_threads_set_count(0);
    assert_true(graft_threads_get()->count() >= 1);
}

/* Measures the machine: it has a name and a speed, whatever they are. */
static void test_limits(void **state) {
    const char *unit = NULL;
    char name[GRAFT_PROCESSOR_NAME] = "";
    (void)state;
    assert_true(graft_read_bandwidth(8 << 20) > 0.0);
    for (int isa = GRAFT_ISA_SCALAR; isa <= graft_cpu_best_isa(); isa++) {
        graft_cpu_set_isa(isa);
        assert_true(graft_matrix_peak(0, &unit) > 0.0);
        assert_non_null(strstr(unit, graft_cpu_isa_name(isa < GRAFT_ISA_AVX512 ? isa : GRAFT_ISA_AVX512)));
        assert_non_null(strstr(unit, "f32"));
        assert_true(graft_matrix_peak(1, &unit) > 0.0);
        assert_non_null(strstr(unit, isa >= GRAFT_ISA_AVX512_BF16 ? "bf16" : "f32"));
    }
    graft_processor_name(name);
    assert_true(strlen(name) > 0 && name[0] != ' ' && name[strlen(name) - 1] != ' ');
}

static void describe_cache(const char *folder, int processor, const char *shared, const char *size) {
    static const char *const parts[] = {"", "/cache", "/cache/index3"};
    char name[64];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        (void)snprintf(name, sizeof name, "cpu%d%s", processor, parts[i]);
        folder_make(folder, name);
    }
    (void)snprintf(name, sizeof name, "cpu%d/cache/index3/shared_cpu_list", processor);
    folder_put(folder, name, shared, strlen(shared));
    (void)snprintf(name, sizeof name, "cpu%d/cache/index3/size", processor);
    folder_put(folder, name, size, strlen(size));
}

/* Four processors with two caches; one is offline, and one lacks its size. */
static void test_l3_cache(void **state) {
    char folder[64];
    (void)state;
    folder_create(folder);
    describe_cache(folder, 0, "0,2\n", "32768K\n");
    describe_cache(folder, 1, "1,4\n", "16384K\n");
    describe_cache(folder, 2, "0,2\n", "32768K\n");
    describe_cache(folder, 4, "1,4\n", "16384K\n");
    describe_cache(folder, 5, "5\n", "\n");
    assert_int_equal(graft_l3_cache_bytes(folder, 6), (32 + 16) << 20);
    assert_int_equal(graft_l3_cache_bytes(folder, 1), 32 << 20);
    assert_int_equal(graft_l3_cache_bytes(folder_path(folder, "cpu0"), 6), 0);
    folder_remove(folder);
}

static void test_scratch(void **state) {
    (void)state;
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    assert_int_equal(call.struct_size, sizeof call);
    for (int round = 0; round < 3; round++) {
        int64_t start = call.scratch_mark(scratch);
        for (int64_t bytes = 0; bytes < 8000000; bytes = bytes * 2 + 1) {
            int64_t mark = call.scratch_mark(scratch);
            unsigned char *block = call.scratch_alloc(scratch, bytes);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % 64, 0);
            memset(block, round, (size_t)bytes);
            void *twin = call.scratch_alloc(scratch, bytes);
            assert_non_null(twin);
            assert_ptr_not_equal(block, twin);
            call.scratch_release(scratch, mark);
            assert_ptr_equal(call.scratch_alloc(scratch, bytes), block); /* the same memory again */
        }
        call.scratch_release(scratch, start);
        assert_int_equal(call.scratch_mark(scratch), start);
    }
    assert_null(call.scratch_alloc(scratch, -1));
    assert_null(call.scratch_alloc(scratch, INT64_MAX));
    graft_scratch_destroy(scratch);
    graft_scratch_destroy(NULL);
}

static void test_scratch_without_memory(void **state) {
    (void)state;
    for (long n = 1; n <= 2; n++) {
        graft_alloc_fail_at(n + 1);
        struct graft_scratch *scratch = graft_scratch_create();
        graft_alloc_fail_at(0);
        graft_scratch_destroy(scratch);
    }
    struct graft_scratch *scratch = graft_scratch_create();
    void *small = graft_scratch_alloc(scratch, 100);
    graft_alloc_fail_at(1);
    assert_null(graft_scratch_alloc(scratch, 10000000));
    graft_alloc_fail_at(2);
    assert_null(graft_scratch_alloc(scratch, 10000000));
    graft_alloc_fail_at(0);
    memset(small, 0, 100);
    assert_non_null(graft_scratch_alloc(scratch, 10000000));
    graft_scratch_destroy(scratch);
}

enum { HEADS = 3, DIM = 5, ROW = HEADS * DIM };

/* Values as wide as keys, narrower values, and values that are the beginnings of their keys. */
static const int64_t value_dims[] = {DIM, DIM - 2, DIM - 1};
enum { WITHIN_KEYS = 2 }; /* the layer of the last */

/* Token t's keys are t * 100, t * 100 + 1, ..; its values the negatives, unless they are the keys'. */
static int append(struct graft_kv_cache *cache, int32_t layer, int32_t slot, int64_t position, int64_t tokens,
                  struct graft_kv_view *view, struct graft_error *error) {
    float *keys = calloc((size_t)tokens * (ROW + 2), sizeof *keys);
    float *values = calloc((size_t)tokens * (ROW + 1), sizeof *values);
    for (int64_t t = 0; t < tokens; t++) {
        for (int64_t i = 0; i < ROW; i++) {
            keys[t * (ROW + 2) + i] = (float)((position + t) * 100 + i);
            values[t * (ROW + 1) + i] = -(float)((position + t) * 100 + i);
        }
    }
    const struct graft_kv_new added = {
        {keys, DIM, DIM, ROW + 2},
        {layer == WITHIN_KEYS ? NULL : values, value_dims[layer > 0 ? layer : 0], DIM, ROW + 1},
        tokens,
        HEADS,
        position,
    };
    int status = graft_kv_cache_append(cache, layer, slot, &added, view, error);
    free(keys);
    free(values);
    return status;
}

static void check_view(const struct graft_kv_view *view, int32_t layer, int64_t length) {
    float sign = layer == WITHIN_KEYS ? 1.0f : -1.0f;
    assert_int_equal(view->length, length);
    assert_int_equal(view->values.dim, value_dims[layer]);
    for (int64_t t = 0; t < length; t++) {
        for (int64_t i = 0; i < ROW; i++) {
            float expected = (float)(t * 100 + i);
            const struct graft_kv_rows *keys = &view->keys;
            const struct graft_kv_rows *values = &view->values;
            assert_true(keys->data[i / DIM * keys->head_stride + t * keys->row_stride + i % DIM] == expected);
            assert_true(i % DIM >= values->dim ||
                        values->data[i / DIM * values->head_stride + t * values->row_stride + i % DIM] ==
                            sign * expected);
        }
    }
}

static void test_kv_cache(void **state) {
    (void)state;
    struct graft_kv_cache *cache = graft_kv_cache_create(2, GRAFT_DTYPE_F32);
    struct graft_kv_view view;
    int64_t length = -1;
    assert_int_equal(graft_kv_cache_length(cache, 1, &length, NULL), GRAFT_OK);
    assert_int_equal(length, 0);
    int64_t held = 0;
    for (int64_t tokens = 1; tokens < 300; tokens = tokens * 3 + 1) {
        for (int32_t layer = 0; layer < 3; layer++) {
            assert_int_equal(append(cache, layer, 1, held, tokens, &view, NULL), GRAFT_OK);
            check_view(&view, layer, held + tokens);
        }
        held += tokens;
        assert_int_equal(graft_kv_cache_length(cache, 1, &length, NULL), GRAFT_OK);
        assert_int_equal(length, held);
    }
    assert_int_equal(graft_kv_cache_token_bytes(cache, 1), (3 * DIM + DIM + DIM - 2) * HEADS * (int)sizeof(float));
    assert_int_equal(graft_kv_cache_length(cache, 0, &length, NULL), GRAFT_OK);
    assert_int_equal(length, 0);
    assert_int_equal(graft_kv_cache_token_bytes(cache, 0), 0);
    assert_int_equal(graft_kv_cache_token_bytes(cache, 2), 0);
    assert_int_equal(graft_kv_cache_truncate(cache, 1, 7, NULL), GRAFT_OK);
    assert_int_equal(append(cache, 2, 1, 7, 1, &view, NULL), GRAFT_OK);
    check_view(&view, 2, 8);
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_kv_cache_length(cache, 1, &length, &error), GRAFT_ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "layer 2 holds 8 tokens and layer 0 7"));
    graft_kv_cache_destroy(cache);
    graft_kv_cache_destroy(NULL);
}

/* A copy is independent of its source, and replaces the content of its slot. */
static void test_kv_cache_copy(void **state) {
    (void)state;
    struct graft_kv_cache *cache = graft_kv_cache_create(3, GRAFT_DTYPE_F32);
    struct graft_kv_view view;
    for (int32_t layer = 0; layer < 3; layer++) {
        assert_int_equal(append(cache, layer, 0, 0, 5, &view, NULL), GRAFT_OK);
        assert_int_equal(append(cache, layer, 1, 0, 100, &view, NULL), GRAFT_OK);
    }
    assert_int_equal(graft_kv_cache_copy(cache, 0, cache, 1, INT64_MAX, NULL), GRAFT_OK);
    assert_int_equal(graft_kv_cache_copy(cache, 0, cache, 2, INT64_MAX, NULL), GRAFT_OK);
    for (int32_t slot = 0; slot < 3; slot++) {
        for (int32_t layer = 0; layer < 3; layer++) {
            assert_int_equal(append(cache, layer, slot, 5, 70 + slot, &view, NULL), GRAFT_OK);
            check_view(&view, layer, 75 + slot);
        }
    }
    assert_int_equal(graft_kv_cache_copy(cache, 0, cache, 3, INT64_MAX, NULL), GRAFT_ERROR_INTERNAL);
    assert_int_equal(graft_kv_cache_copy(cache, -1, cache, 0, INT64_MAX, NULL), GRAFT_ERROR_INTERNAL);
    graft_kv_cache_destroy(cache);
}

static void test_kv_cache_faults(void **state) {
    (void)state;
    assert_null(graft_kv_cache_create(0, GRAFT_DTYPE_F32));
    struct graft_kv_cache *cache = graft_kv_cache_create(2, GRAFT_DTYPE_F32);
    struct graft_kv_view view;
    int64_t length;
    assert_int_equal(append(cache, 0, 0, 0, 3, &view, NULL), GRAFT_OK);
    assert_int_equal(append(cache, 0, 2, 0, 3, &view, NULL), GRAFT_ERROR_INTERNAL);
    assert_int_equal(append(cache, -1, 0, 3, 3, &view, NULL), GRAFT_ERROR_INTERNAL);
    assert_int_equal(graft_kv_cache_length(cache, -1, &length, NULL), GRAFT_ERROR_INTERNAL);
    assert_int_equal(graft_kv_cache_truncate(cache, 0, -1, NULL), GRAFT_ERROR_INTERNAL);
    struct graft_error error = graft_error_none();
    assert_int_equal(append(cache, 0, 0, 4, 1, &view, &error), GRAFT_ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "holds 3 tokens, but the batch continues at position 4"));
    float numbers[8] = {0};
    const struct graft_kv_rows rows = {numbers, 2, 2, 4};
    const struct graft_kv_new other = {rows, rows, 1, 2, 3};
    assert_int_equal(graft_kv_cache_append(cache, 0, 0, &other, &view, NULL), GRAFT_ERROR_INTERNAL);
    assert_int_equal(append(cache, 0, 0, 3, 2, &view, NULL), GRAFT_OK); /* and nothing was lost */
    check_view(&view, 0, 5);
    graft_kv_cache_destroy(cache);
}

static void test_kv_cache_without_memory(void **state) {
    (void)state;
    int status = GRAFT_ERROR_INTERNAL;
    for (long n = 1; status != GRAFT_OK; n++) {
        struct graft_kv_cache *cache = graft_kv_cache_create(1, GRAFT_DTYPE_F32);
        struct graft_kv_view view;
        assert_int_equal(append(cache, 0, 0, 0, 60, &view, NULL), GRAFT_OK);
        graft_alloc_fail_at(n);
        status = append(cache, 0, 0, 60, 10, &view, NULL);
        if (status == GRAFT_OK) {
            status = append(cache, 1, 0, 0, 70, &view, NULL);
        }
        graft_alloc_fail_at(0);
        assert_true(n < 10);
        graft_kv_cache_destroy(cache);
    }
}

int main(void) {
    (void)setenv("GRAFT_ISA", "avx2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_isa),
        cmocka_unit_test(test_parallel),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_l3_cache),
        cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_scratch_without_memory),
        cmocka_unit_test(test_kv_cache),
        cmocka_unit_test(test_kv_cache_copy),
        cmocka_unit_test(test_kv_cache_faults),
        cmocka_unit_test(test_kv_cache_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
