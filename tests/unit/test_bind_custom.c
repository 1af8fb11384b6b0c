/* SPDX-License-Identifier: Apache-2.0 */
/* Custom operations: planned by their `infer`, applied while binding, in as much memory as the plan forecasts. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bind/bind.h"
#include "fake_plan.h"
#include "kernels/threads.h"
#include "save/save.h"

#define ROOT "test.root/1"

enum { ROWS = 24000, COLUMNS = 1024 };

static graft_dtype output_dtype = GRAFT_DTYPE_I8;
static int apply_status;
static atomic_int calls;

/* [rows, columns] f32 becomes the sign bytes [rows, columns] I8 and the first column [rows] F32. */
static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    const struct graft_value_info *input = shapes->inputs;
    (void)self;
    if (shapes->n_inputs != 1 || shapes->n_outputs != 2 || input->rank != 2) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, "", "one matrix, two results");
    }
    struct graft_value_info *matrix = graft_custom_output(shapes, 0);
    struct graft_value_info *vector = graft_custom_output(shapes, 1);
    matrix->dtype = output_dtype;
    matrix->rank = 2;
    matrix->shape[0] = input->shape[0];
    matrix->shape[1] = input->shape[1];
    vector->dtype = GRAFT_DTYPE_F32;
    vector->rank = 1;
    vector->shape[0] = input->shape[0];
    return GRAFT_OK;
}

static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    const float *from = work->from[0];
    int8_t *signs = work->to[0];
    float *first = work->to[1];
    int64_t columns = work->inputs[0].shape[1];
    (void)self;
    atomic_fetch_add(&calls, 1);
    if (apply_status != GRAFT_OK) {
        return graft_error_set(error, apply_status, "", "cannot");
    }
    for (int64_t r = 0; r < work->end - work->begin; r++) {
        for (int64_t c = 0; c < columns; c++) {
            signs[r * columns + c] = from[r * columns + c] < 0 ? -1 : 1;
        }
        first[r] = from[r * columns];
    }
    return GRAFT_OK;
}

static const struct graft_custom_operation custom = {.struct_size = sizeof custom,
                                                     .flags = GRAFT_CUSTOM_ROWS | GRAFT_CUSTOM_SEES_F32,
                                                     .name = "signs",
                                                     .infer = infer,
                                                     .apply = apply};
static const struct graft_operation steps[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CUSTOM, .custom = &custom}};
static const char *const sources[] = {"w"};
static const char *const targets[] = {"signs", "first"};
static const struct graft_conversion conversion = {.struct_size = sizeof conversion,
                                                   .n_sources = 1,
                                                   .sources = sources,
                                                   .targets = targets,
                                                   .operations = steps,
                                                   .n_targets = 2,
                                                   .n_operations = 2,
                                                   .operation_stride = sizeof steps[0]};

struct sizes {
    int64_t rows;
    int64_t columns;
};

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct sizes *sizes = cls->data;
    const int64_t shape[] = {sizes->rows, sizes->columns};
    (void)config;
    (void)args;
    int status = graft_describe_typed(sink, "signs", 2, shape, GRAFT_DTYPE_I8, error);
    return status == GRAFT_OK ? graft_describe_typed(sink, "first", 1, shape, GRAFT_DTYPE_F32, error) : status;
}

static struct fake_plan fake;
static struct graft_bound *bound;
static struct sizes sizes;

static int set_up(void **state) {
    static struct graft_class root;
    (void)state;
    root = (struct graft_class)FAKE_CLASS("Root", ROOT, &sizes);
    root.describe = describe;
    root.conversions = &conversion;
    root.n_conversions = 1;
    root.conversion_stride = sizeof conversion;
    fake_plan_init(&fake);
    fake_model_add(&fake.model, &root);
    bound = NULL;
    output_dtype = GRAFT_DTYPE_I8;
    apply_status = GRAFT_OK;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_bound_free(bound);
    fake_plan_finish(&fake);
    return 0;
}

static void plan_small(void) {
    const struct fake_tensor tensors[] = {{.name = "w", .rank = 2, .shape = {3, 4}, .dtype = GRAFT_DTYPE_BF16}, {0}};
    sizes = (struct sizes){4, 3};
    assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
}

static void test_results(void **state) {
    (void)state;
    plan_small();
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_int_equal(fake.plan->computed_bytes, 4 * 3 + 4 * 4);
    assert_int_equal(fake.plan->copied_bytes, 0);
    assert_int_equal(fake.plan->mapped_bytes, 0);
    assert_int_equal(fake.plan->n_unexpected, 0);
    assert_int_equal(graft_bind(fake.plan, &bound, &fake.model.error), GRAFT_OK);
    const struct graft_weight *signs = graft_node_parameter(fake.model.tree->root, "signs")->weight;
    const struct graft_weight *first = graft_node_parameter(fake.model.tree->root, "first")->weight;
    const uint16_t *stored = graft_checkpoint_find(fake.checkpoint, "w")->data;
    assert_int_equal(graft_weight_block(signs, 0)->dtype, GRAFT_DTYPE_I8);
    for (int64_t r = 0; r < 4; r++) {
        uint32_t wide = (uint32_t)stored[r] << 16, got;
        memcpy(&got, (const float *)graft_weight_block(first, 0)->data + r, sizeof got);
        assert_int_equal(got, wide);
        for (int64_t c = 0; c < 3; c++) {
            assert_int_equal(((const int8_t *)graft_weight_block(signs, 0)->data)[r * 3 + c],
                             stored[c * 4 + r] & 0x8000 ? -1 : 1);
        }
    }
}

static void test_failures(void **state) {
    (void)state;
    apply_status = GRAFT_ERROR_MODEL;
    plan_small();
    assert_int_equal(graft_bind(fake.plan, &bound, &fake.model.error), GRAFT_ERROR_MODEL);
    assert_non_null(strstr(fake.model.error.message, "signs of plugin"));
    fake.model.error = graft_error_none();
    output_dtype = GRAFT_DTYPE_U8;
    plan_small();
    fake_plan_refused(&fake, "signs", "type U8, expected I8");
}

static void test_original_layout_refused(void **state) {
    const struct graft_save_options options = {.struct_size = sizeof options};
    (void)state;
    plan_small();
    assert_int_equal(graft_bind(fake.plan, &bound, &fake.model.error), GRAFT_OK);
    assert_int_equal(graft_save(fake.folder, fake.model.tree, fake.plan, NULL, folder_path(fake.folder, "out"),
                                &options, &fake.model.error),
                     GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(fake.model.error.message, "signs"));
    fake.model.error = graft_error_none();
}

/* Bytes of this process that are not mapped from files. */
static int64_t anonymous_bytes(void) {
    char line[256];
    long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    assert_non_null(status);
    while (fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "RssAnon: %ld", &kilobytes) == 1) {
            break;
        }
    }
    (void)fclose(status);
    return (int64_t)kilobytes * 1024;
}

static atomic_int watching;
static int64_t peak;

static void *watch(void *data) {
    (void)data;
    while (atomic_load(&watching)) {
        int64_t now = anonymous_bytes();
        peak = now > peak ? now : peak;
        const struct timespec pause = {0, 500000};
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

/* A matrix of 96 MB that is read in pieces, with a result of little more than 24 MB. */
static void test_memory_is_as_forecast(void **state) {
    static const struct graft_tensor_view large = {.name = "w",
                                                   .dtype = GRAFT_DTYPE_F32,
                                                   .rank = 2,
                                                   .shape = {COLUMNS, ROWS, 1, 1, 1, 1, 1, 1},
                                                   .bytes = (int64_t)ROWS * COLUMNS * 4};
    struct graft_tensor_view view = large;
    pthread_t watcher;
    (void)state;
    view.data = calloc(ROWS * (size_t)COLUMNS, 4);
    assert_non_null(view.data);
    assert_int_equal(
        graft_safetensors_write(folder_path(fake.folder, "model.safetensors"), &view, 1, NULL, &fake.model.error),
        GRAFT_OK);
    free((void *)(uintptr_t)view.data);
    sizes = (struct sizes){ROWS, COLUMNS};
    assert_int_equal(fake_plan_again(&fake, "Root"), GRAFT_OK);
    graft_threads_set_count(2);
    int64_t before = anonymous_bytes();
    peak = before;
    atomic_store(&calls, 0);
    atomic_store(&watching, 1);
    assert_int_equal(pthread_create(&watcher, NULL, watch, NULL), 0);
    assert_int_equal(graft_bind(fake.plan, &bound, &fake.model.error), GRAFT_OK);
    int64_t after = anonymous_bytes();
    atomic_store(&watching, 0);
    (void)pthread_join(watcher, NULL);
    graft_threads_set_count(0);
    peak = after > peak ? after : peak;
    int64_t forecast = fake.plan->peak_anonymous_bytes, slack = forecast / 10 + (32 << 20);
    print_message("forecast %ld, measured %ld, in %d pieces\n", (long)forecast, (long)(peak - before), calls);
    assert_in_range(peak - before + slack, forecast, forecast + 2 * slack);
    assert_true(calls > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_results, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_original_layout_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_is_as_forecast, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
