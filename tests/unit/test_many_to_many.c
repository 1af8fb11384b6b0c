/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions from several sources to several targets: those that transformers allows, with its values, in both
 * directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "bind/copy.h"
#include "value/operations.h"

enum { EXPERTS = 5, ELEMENTS = 6, FUSED = 36 };

#define OPERATION(...) \
    { .struct_size = sizeof(struct graft_operation), __VA_ARGS__ }

static const struct graft_operation fuse =
    OPERATION(.kind = GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS, .dim1 = 1);
static const struct graft_operation decouple =
    OPERATION(.kind = GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS, .dim1 = 1);
static const char *const apart[] = {"experts.*.gate", "experts.*.up"}, *const joined[] = {"text", "vision"};

static struct graft_operations operations_of(const struct graft_operation *operation, const char *const *sources,
                                             const char *const *targets) {
    return (struct graft_operations){.items = operation,
                                     .count = 1,
                                     .stride = sizeof *operation,
                                     .place = "m",
                                     .sources = sources,
                                     .targets = targets,
                                     .n_targets = 2};
}

/* Gate and up of expert i: [2, 3], from 100 * i on and from 100 * i + 50 on. */
static float numbers[2][EXPERTS][ELEMENTS];
static struct graft_tensor_view views[2][EXPERTS];

static struct graft_value_list *make_lists(size_t n_values) {
    struct graft_value_list *lists = graft_alloc(2, sizeof *lists);
    for (size_t i = 0; i < 2; i++) {
        lists[i].items = graft_alloc(EXPERTS, sizeof(struct graft_value));
        lists[i].count = n_values;
        for (size_t k = 0; k < n_values; k++) {
            for (size_t e = 0; e < ELEMENTS; e++) {
                numbers[i][k][e] = (float)(100 * k + 50 * i + e);
            }
            views[i][k] = (struct graft_tensor_view){.name = "t",
                                                     .dtype = GRAFT_DTYPE_F32,
                                                     .rank = 2,
                                                     .shape = {2, 3, 1, 1, 1, 1, 1, 1},
                                                     .data = numbers[i][k],
                                                     .bytes = sizeof numbers[i][k]};
            assert_int_equal(graft_value_of(&views[i][k], &lists[i].items[k], NULL), GRAFT_OK);
        }
    }
    return lists;
}

static void free_lists(struct graft_value_list *lists, size_t n) {
    for (size_t i = 0; i < n; i++) {
        graft_value_list_free(&lists[i]);
    }
    graft_free(lists);
}

/* As transformers divides five experts: three and two. */
static void test_values(void **state) {
    static const int64_t shapes[2][3] = {{3, 4, 3}, {2, 4, 3}};
    const struct graft_operations there = operations_of(&fuse, apart, joined);
    const struct graft_operations back = operations_of(&decouple, joined, apart);
    struct graft_value_list *lists = make_lists(EXPERTS);
    struct graft_error error = graft_error_none();
    size_t n = 2;
    (void)state;
    assert_int_equal(graft_operations_check(&there, 2, NULL, &error), GRAFT_OK);
    assert_int_equal(graft_operations_run(&there, &lists, &n, NULL, &error), GRAFT_OK);
    assert_int_equal(n, 2);
    for (size_t t = 0; t < 2; t++) {
        float found[FUSED];
        assert_int_equal(lists[t].count, 1);
        assert_memory_equal(lists[t].items[0].shape, shapes[t], sizeof shapes[t]);
        graft_copy_value(&lists[t].items[0], GRAFT_DTYPE_F32, found);
        for (size_t i = 0; i < (size_t)shapes[t][0] * 12; i++) {
            const size_t expert = i / 12 + 3 * t, row = i % 12;
            assert_true(found[i] == (float)(100 * expert + (row < ELEMENTS ? row : 50 + row - ELEMENTS)));
        }
    }
    assert_int_equal(graft_operations_run(&back, &lists, &n, NULL, &error), GRAFT_OK);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(lists[i].count, EXPERTS);
        for (size_t k = 0; k < EXPERTS; k++) {
            float found[ELEMENTS];
            graft_copy_value(&lists[i].items[k], GRAFT_DTYPE_F32, found);
            assert_memory_equal(found, numbers[i][k], sizeof found);
        }
    }
    free_lists(lists, n);
}

static void refused(const struct graft_operations *operations, size_t n_values, const char *words) {
    struct graft_value_list *lists = make_lists(n_values);
    struct graft_error error = graft_error_none();
    size_t n = 2;
    assert_int_equal(graft_operations_run(operations, &lists, &n, NULL, &error), GRAFT_ERROR_MODEL);
    if (strstr(error.message, words) == NULL) {
        fail_msg("no \"%s\" in \"%s\"", words, error.message);
    }
    free_lists(lists, n);
}

static void test_refused(void **state) {
    static const struct graft_operation join = OPERATION(.kind = GRAFT_OP_CONCATENATE);
    static const struct graft_operation far =
        OPERATION(.kind = GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS, .dim1 = 2);
    const struct graft_operations concatenate = operations_of(&join, apart, joined);
    const struct graft_operations there = operations_of(&fuse, apart, joined);
    const struct graft_operations back = operations_of(&decouple, joined, apart);
    const struct graft_operations outside = operations_of(&far, joined, apart);
    struct graft_error error = graft_error_none();
    (void)state;
    assert_int_equal(graft_operations_check(&concatenate, 2, NULL, &error), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "from 2 sources to 2 targets"));
    refused(&there, 0, "0 tensors of experts.*.gate are too few for 2 targets");
    refused(&there, 1, "1 tensors of experts.*.gate are too few for 2 targets");
    refused(&back, 2, "takes one tensor of text, got 2");
    refused(&back, 1, "dimension 1 of [2, 3] does not divide by 2");
    refused(&outside, 1, "dimension 2 is outside the shape [2, 3]");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
