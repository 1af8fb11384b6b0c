/* SPDX-License-Identifier: Apache-2.0 */
/* Weights bound by a plan: views point into the mapped file, and copies equal those gathered by simple code. */
#include "base/dtype.h"
#include "bind/bind.h"
#include "bind/copy.h"
#include "bind/copy_box.h"
#include "fake_plan.h"
#include "graft/host/process.h"
#include "kernels/threads.h"
#include "numbers.h"

#define ROOT "test.root/1"

static const struct graft_operation join_rows[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 0}};
static const struct graft_operation join_columns[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 1}};
static const char *const sources[] = {"a", "b"};
static const char *const block_sources[] = {"c", "d"};
static const char *const column_sources[] = {"e", "f"};
static const char *const row_targets[] = {"rows"};
static const char *const block_targets[] = {"block"};
static const char *const column_targets[] = {"columns"};

#define CONVERSION(from, to, steps)                                                                                  \
    {                                                                                                                \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 2, .sources = (from), .targets = (to),          \
        .operations = (steps), .n_targets = 1, .n_operations = 1, .operation_stride = sizeof(struct graft_operation) \
    }

static const struct graft_conversion conversions[] = {CONVERSION(sources, row_targets, join_rows),
                                                      CONVERSION(block_sources, block_targets, join_rows),
                                                      CONVERSION(column_sources, column_targets, join_columns)};

static const struct fake_parameter parameters[] = {
    {.name = "rows", .rank = 2, .shape = {4, 3}},
    {.name = "block", .rank = 2, .shape = {4, 3}, .flags = GRAFT_PARAMETER_CONTIGUOUS},
    {.name = "columns", .rank = 2, .shape = {2, 6}},
    {.name = "ones", .rank = 1, .shape = {5}, .init = GRAFT_INIT_ONES},
    {.name = "zeros", .rank = 3, .shape = {2, 2, 2}, .init = GRAFT_INIT_ZEROS},
    {.name = "absent", .rank = 1, .shape = {2}, .init = GRAFT_INIT_ABSENT},
    {.name = "tied", .rank = 2, .shape = {4, 3}},
    {.name = NULL}};
static const char *const ties[][2] = {{"tied", "rows"}, {NULL, NULL}};
static const struct fake_structure structure = {.parameters = parameters, .ties = ties};

static struct fake_plan fake;
static struct graft_bound *bound;

static int set_up(void **state) {
    static struct graft_class root;
    (void)state;
    root = (struct graft_class)FAKE_CLASS("Root", ROOT, &structure);
    root.conversions = conversions;
    root.n_conversions = 3;
    root.conversion_stride = sizeof conversions[0];
    fake_plan_init(&fake);
    fake_model_add(&fake.model, &root);
    bound = NULL;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_bound_free(bound);
    fake_plan_finish(&fake);
    return 0;
}

static const struct graft_weight *weight(const char *name) {
    return graft_node_parameter(fake.model.tree->root, name)->weight;
}

static void bind(void) {
    graft_bound_free(bound);
    bound = NULL;
    assert_int_equal(graft_plan_check(fake.plan, &fake.model.error), GRAFT_OK);
    assert_int_equal(graft_bind(fake.plan, &bound, &fake.model.error), GRAFT_OK);
}

/* Element `i` of a checkpoint's tensor, as f32. */
static float stored(const char *name, int64_t i) {
    const struct graft_tensor_view *tensor = graft_checkpoint_find(fake.checkpoint, name);
    int64_t size = graft_dtype_size(tensor->dtype);
    float aligned = 0.0F;
    memcpy(&aligned, (const char *)tensor->data + i * size, (size_t)size);
    return numbers_at(tensor->dtype, &aligned, 0);
}

/* The element at `row` and `column` of the parameter `name`, as f32. */
static float element(const char *name, int64_t row, int64_t column) {
    const struct graft_weight *whole = weight(name);
    for (int32_t i = 0; i < whole->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(whole, i);
        if (row < block->rows) {
            return numbers_at(block->dtype, block->data, row * whole->columns + column);
        }
        row -= block->rows;
    }
    fail_msg("%s has no row %d more", name, (int)row);
    return 0.0F;
}

static void assert_bits(float got, float expected) {
    assert_memory_equal(&got, &expected, sizeof got);
}

/* Compares every parameter with the two tensors [2, 3] that it is made of. */
static void assert_gathered(void) {
    for (int64_t i = 0; i < 2; i++) {
        for (int64_t j = 0; j < 3; j++) {
            assert_bits(element("rows", i, j), stored("a", i * 3 + j));
            assert_bits(element("rows", i + 2, j), stored("b", i * 3 + j));
            assert_bits(element("block", i, j), stored("c", i * 3 + j));
            assert_bits(element("block", i + 2, j), stored("d", i * 3 + j));
            assert_bits(element("columns", i, j), stored("e", i * 3 + j));
            assert_bits(element("columns", i, j + 3), stored("f", i * 3 + j));
        }
    }
}

static struct fake_tensor tensor(const char *name, graft_dtype dtype) {
    return (struct fake_tensor){.name = name, .rank = 2, .shape = {2, 3}, .dtype = dtype};
}

static void test_every_pair_of_types(void **state) {
    static const graft_dtype dtypes[] = {GRAFT_DTYPE_F32, GRAFT_DTYPE_BF16, GRAFT_DTYPE_F16};
    (void)state;
    for (size_t i = 0; i < 9; i++) {
        graft_dtype a = dtypes[i / 3], b = dtypes[i % 3];
        const struct fake_tensor tensors[] = {
            tensor("a", a), tensor("b", b), tensor("c", a), tensor("d", b), tensor("e", a), tensor("f", b), {0}};
        assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
        bind();
        assert_gathered();
        assert_int_equal(weight("rows")->n_blocks, 2);
        assert_int_equal(weight("block")->n_blocks, 1);
        assert_int_equal(graft_weight_block(weight("block"), 0)->dtype, a == b ? a : GRAFT_DTYPE_F32);
        assert_int_equal((uintptr_t)graft_weight_block(weight("block"), 0)->data % 64, 0);
    }
}

static void test_views_point_into_the_file(void **state) {
    const struct fake_tensor tensors[] = {tensor("a", GRAFT_DTYPE_F32),
                                          tensor("b", GRAFT_DTYPE_BF16),
                                          tensor("c", GRAFT_DTYPE_F32),
                                          tensor("d", GRAFT_DTYPE_BF16),
                                          tensor("e", GRAFT_DTYPE_F32),
                                          tensor("f", GRAFT_DTYPE_BF16),
                                          {0}};
    (void)state;
    assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
    bind();
    const struct graft_weight *rows = weight("rows");
    for (int32_t i = 0; i < 2; i++) {
        const struct graft_tensor_view *view = graft_checkpoint_find(fake.checkpoint, sources[i]);
        assert_ptr_equal(graft_weight_block(rows, i)->data, view->data);
        assert_int_equal(graft_weight_block(rows, i)->dtype, view->dtype);
        assert_int_equal(graft_weight_block(rows, i)->rows, 2);
    }
    assert_ptr_equal(weight("tied"), rows);
}

/* Parts of one tensor are views into its middle. */
static void test_views_of_parts(void **state) {
    static const struct graft_operation cut[] = {
        {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CHUNK, .dim = 0}};
    static const char *const whole[] = {"a"};
    static const char *const targets[] = {"one", "two", "three"};
    static const struct fake_parameter parts[] = {{.name = "one", .rank = 2, .shape = {1, 3}},
                                                  {.name = "two", .rank = 2, .shape = {2, 3}},
                                                  {.name = "three", .rank = 2, .shape = {1, 3}},
                                                  {.name = NULL}};
    static const struct fake_structure parts_structure = {.parameters = parts};
    static const struct graft_conversion conversion = {.struct_size = sizeof conversion,
                                                       .n_sources = 1,
                                                       .sources = whole,
                                                       .targets = targets,
                                                       .operations = cut,
                                                       .n_targets = 3,
                                                       .n_operations = 1,
                                                       .operation_stride = sizeof cut[0]};
    static const graft_dtype dtypes[] = {GRAFT_DTYPE_F32, GRAFT_DTYPE_BF16};
    struct graft_class cls = FAKE_CLASS("Parts", ROOT, &parts_structure);
    (void)state;
    cls.conversions = &conversion;
    cls.n_conversions = 1;
    cls.conversion_stride = sizeof conversion;
    fake_model_add(&fake.model, &cls);
    for (size_t i = 0; i < 2; i++) {
        const struct fake_tensor tensors[] = {{.name = "a", .rank = 2, .shape = {4, 3}, .dtype = dtypes[i]}, {0}};
        assert_int_equal(fake_plan_make(&fake, "Parts", tensors), GRAFT_OK);
        assert_int_equal(fake.plan->copied_bytes, 0);
        bind();
        for (int64_t j = 0; j < 3; j++) {
            assert_bits(element("one", 0, j), stored("a", j));
            assert_bits(element("two", 0, j), stored("a", 3 + j));
            assert_bits(element("two", 1, j), stored("a", 6 + j));
            assert_bits(element("three", 0, j), stored("a", 9 + j));
        }
    }
}

static void test_shapes_and_initial_values(void **state) {
    const struct fake_tensor tensors[] = {tensor("a", GRAFT_DTYPE_F32),
                                          tensor("b", GRAFT_DTYPE_F32),
                                          tensor("c", GRAFT_DTYPE_F32),
                                          tensor("d", GRAFT_DTYPE_F32),
                                          tensor("e", GRAFT_DTYPE_F32),
                                          tensor("f", GRAFT_DTYPE_F32),
                                          {0}};
    (void)state;
    assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
    bind();
    assert_int_equal(weight("columns")->rows, 2);
    assert_int_equal(weight("columns")->columns, 6);
    assert_int_equal(weight("ones")->rows, 5);
    assert_int_equal(weight("ones")->columns, 1);
    assert_int_equal(weight("zeros")->rows, 4);
    assert_null(weight("absent"));
    assert_int_equal(weight("zeros")->columns, 2);
    assert_int_equal(weight("zeros")->shape[2], 2);
    assert_int_equal(weight("zeros")->shape[3], 1);
    for (int64_t i = 0; i < 4; i++) {
        assert_bits(element("ones", i, 0), 1.0F);
        assert_bits(element("zeros", i, 1), 0.0F);
    }
}

struct told {
    int64_t calls;
    int64_t done;
    int64_t total;
};

static void hear(void *data, int32_t what, int64_t done, int64_t total) {
    struct told *told = data;
    assert_int_equal(what, GRAFT_PROGRESS_LOAD);
    assert_true(done > told->done && done <= total);
    *told = (struct told){told->calls + 1, done, total};
}

/* Each copy is reported; together they equal the plan's forecast. */
static void test_progress(void **state) {
    const struct fake_tensor tensors[] = {tensor("a", GRAFT_DTYPE_F32),
                                          tensor("b", GRAFT_DTYPE_F32),
                                          tensor("c", GRAFT_DTYPE_F32),
                                          tensor("d", GRAFT_DTYPE_F32),
                                          tensor("e", GRAFT_DTYPE_F32),
                                          tensor("f", GRAFT_DTYPE_F32),
                                          {0}};
    struct told told = {0};
    int64_t copies = 0, bytes = 0;
    (void)state;
    assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
    graft_progress_set_sink(hear, &told);
    bind();
    graft_progress_set_sink(NULL, NULL);
    for (size_t i = 0; i < fake.plan->n_bindings; i++) {
        copies += fake.plan->bindings[i].copied != 0;
        bytes += fake.plan->bindings[i].copied ? fake.plan->bindings[i].bytes : 0;
    }
    assert_true(copies > 0);
    assert_int_equal(told.calls, copies);
    assert_int_equal(told.done, bytes);
    assert_int_equal(told.total, bytes);
}

/* Data at odd addresses is copied, with the same bits. */
static void test_misaligned(void **state) {
#define PAIR(a, b, at, middle, end)                                                          \
    "\"" a "\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[" #at "," #middle "]}," \
    "\"" b "\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[" #middle "," #end "]}"
    static const char header[] =
        "{" PAIR("a", "b", 0, 12, 36) "," PAIR("c", "d", 36, 48, 72) "," PAIR("e", "f", 72, 84, 108) "}";
    (void)state;
    for (size_t padding = 0; padding < 4; padding++) {
        char padded[sizeof header + 8];
        (void)snprintf(padded, sizeof padded, "%s%*s", header, (int)padding, "");
        tensor_file_put(fake.folder, "model.safetensors", padded, 108);
        assert_int_equal(fake_plan_again(&fake, "Root"), GRAFT_OK);
        bind();
        assert_gathered();
        for (int32_t i = 0; i < weight("rows")->n_blocks; i++) {
            const struct graft_row_block *block = graft_weight_block(weight("rows"), i);
            assert_int_equal((uintptr_t)block->data % (uintptr_t)graft_dtype_size(block->dtype), 0);
        }
    }
}

/* Large enough for several threads, whose parts end within runs. */
static void test_large_copy(void **state) {
    enum { ROWS = 100003 };
    struct graft_tensor_view views[2] = {
        {.name = "a", .dtype = GRAFT_DTYPE_F32, .rank = 2, .shape = {ROWS, 3, 1, 1, 1, 1, 1, 1}},
        {.name = "b", .dtype = GRAFT_DTYPE_BF16, .rank = 2, .shape = {ROWS, 2, 1, 1, 1, 1, 1, 1}}};
    struct graft_value values[2], joined;
    const struct graft_value *const pointers[] = {&values[0], &values[1]};
    float *copy = malloc(sizeof(float) * ROWS * 5);
    (void)state;
    assert_non_null(copy);
    for (int i = 0; i < 2; i++) {
        views[i].data = numbers_stored(views[i].dtype, ROWS * views[i].shape[1]);
        assert_int_equal(graft_value_of(&views[i], &values[i], NULL), GRAFT_OK);
    }
    assert_int_equal(graft_value_concatenate(pointers, 2, 1, "t", &joined, NULL), GRAFT_OK);
    graft_threads_set_count(3);
    graft_copy_value(&joined, GRAFT_DTYPE_F32, copy);
    graft_threads_set_count(0);
    for (int64_t i = 0; i < ROWS * 5; i++) {
        int64_t row = i / 5, column = i % 5;
        float expected = column < 3 ? numbers_at(GRAFT_DTYPE_F32, views[0].data, row * 3 + column)
                                    : numbers_at(GRAFT_DTYPE_BF16, views[1].data, row * 2 + column - 3);
        if (memcmp(&copy[i], &expected, sizeof expected) != 0) {
            fail_msg("row %d, column %d", (int)row, (int)column);
        }
    }
    for (int i = 0; i < 2; i++) {
        graft_value_free(&values[i]);
        numbers_free(views[i].data, graft_dtype_size(views[i].dtype));
    }
    graft_value_free(&joined);
    free(copy);
}

/* Tiles of every size of element, with incomplete tiles at the edges, unaligned on both sides. */
static void test_transposed(void **state) {
    enum { ROWS = 611, COLUMNS = 130 };
    (void)state;
    for (int64_t size = 1; size <= 8; size *= 2) {
        unsigned char *from = malloc((size_t)(ROWS * COLUMNS + 1) * (size_t)size);
        unsigned char *to = malloc((size_t)(ROWS * COLUMNS + 1) * (size_t)size);
        assert_true(from != NULL && to != NULL);
        for (int64_t i = 0; i < (ROWS * COLUMNS + 1) * size; i++) {
            from[i] = (unsigned char)((uint32_t)i * 2654435761U >> 24);
        }
        const struct graft_box box = {
            .at = 1, .begin = 1, .loops = 2, .size = {ROWS, COLUMNS}, .to = {COLUMNS, 1}, .from = {1, ROWS}};
        graft_copy_box(&box, size, from, to);
        for (int64_t r = 0; r < ROWS; r++) {
            for (int64_t c = 0; c < COLUMNS; c++) {
                assert_memory_equal(to + (1 + r * COLUMNS + c) * size, from + (1 + c * ROWS + r) * size, (size_t)size);
            }
        }
        free(from);
        free(to);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_pair_of_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_views_point_into_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_views_of_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shapes_and_initial_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_progress, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_misaligned, set_up, tear_down),
        cmocka_unit_test(test_large_copy),
        cmocka_unit_test(test_transposed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
