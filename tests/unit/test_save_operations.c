/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation in one model: saved in the original layout directly, and from the runtime layout by its journal.
 * Almost everything has to be gathered element by element. */
#include <stdlib.h>

#include "save_fixture.h"

#define ROOT "test.root/1"

#define STEP(...) \
    { .struct_size = sizeof(struct graft_operation), __VA_ARGS__ }
static const struct graft_operation concatenate[] = {STEP(.kind = GRAFT_OP_CONCATENATE, .dim = 1)};
static const struct graft_operation chunk[] = {STEP(.kind = GRAFT_OP_CHUNK, .dim = 1)};
static const struct graft_operation merge[] = {STEP(.kind = GRAFT_OP_MERGE_MODULELIST, .dim = 1)};
static const struct graft_operation split[] = {STEP(.kind = GRAFT_OP_SPLIT, .dim = 0)};
static const struct graft_operation interleave[] = {STEP(.kind = GRAFT_OP_INTERLEAVE, .dim = 1)};
static const struct graft_operation transpose[] = {STEP(.kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 2)};
static const struct graft_operation in_place[] = {STEP(.kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1)};
static const struct graft_operation flatten[] = {STEP(.kind = GRAFT_OP_CONV3D_TO_LINEAR)};
static const struct graft_operation unfold[] = {
    STEP(.kind = GRAFT_OP_LINEAR_TO_CONV3D, .in_channels = 3, .kernel_size = {2, 1, 2})};
static const struct graft_operation permute[] = {STEP(.kind = GRAFT_OP_PERMUTE_FOR_ROPE)};
static const struct graft_operation several[] = {
    STEP(.kind = GRAFT_OP_MERGE_MODULELIST, .dim = 0), STEP(.kind = GRAFT_OP_CONCATENATE, .dim = 1),
    STEP(.kind = GRAFT_OP_TRANSPOSE, .dim = 1, .dim1 = 2), STEP(.kind = GRAFT_OP_INTERLEAVE, .dim = 2, .inverse = 1)};

#define NAMES(name, ...) static const char *const name[] = {__VA_ARGS__}
NAMES(concatenate_from, "a", "b");
NAMES(concatenate_to, "ab");
NAMES(chunk_from, "c");
NAMES(chunk_to, "c0", "c1");
NAMES(merge_from, "m.*.w");
NAMES(merge_to, "m");
NAMES(split_from, "s");
NAMES(split_to, "s0", "s1");
NAMES(interleave_from, "i");
NAMES(interleave_to, "interleaved");
NAMES(transpose_from, "t");
NAMES(transpose_to, "transposed");
NAMES(in_place_from, "square.dotted");
NAMES(in_place_to, "square.dotted");
NAMES(flatten_from, "f");
NAMES(flatten_to, "flat");
NAMES(unfold_from, "u");
NAMES(unfold_to, "unfolded");
NAMES(permute_from, "p");
NAMES(permute_to, "permuted");
NAMES(several_from, "x.*.g", "x.*.h");
NAMES(several_to, "all");

#define CONVERSION(steps)                                                                                    \
    {                                                                                                        \
        .struct_size = sizeof(struct graft_conversion), .sources = steps##_from, .targets = steps##_to,      \
        .n_sources = sizeof steps##_from / sizeof steps##_from[0],                                           \
        .n_targets = sizeof steps##_to / sizeof steps##_to[0], .operations = steps,                          \
        .n_operations = sizeof(steps) / sizeof(steps)[0], .operation_stride = sizeof(struct graft_operation) \
    }
static const struct graft_conversion conversions[] = {
    CONVERSION(concatenate), CONVERSION(chunk),     CONVERSION(merge),   CONVERSION(split),
    CONVERSION(interleave),  CONVERSION(transpose), CONVERSION(flatten), CONVERSION(unfold),
    CONVERSION(permute),     CONVERSION(several),   CONVERSION(in_place)};
enum { N_CONVERSIONS = sizeof conversions / sizeof conversions[0] };

static const struct fake_parameter parameters[] = {{.name = "ab", .rank = 2, .shape = {3, 7}},
                                                   {.name = "c0", .rank = 2, .shape = {4, 3}},
                                                   {.name = "c1", .rank = 2, .shape = {4, 5}},
                                                   {.name = "m", .rank = 3, .shape = {2, 3, 5}},
                                                   {.name = "s0", .rank = 2, .shape = {1, 6}},
                                                   {.name = "s1", .rank = 2, .shape = {4, 6}},
                                                   {.name = "interleaved", .rank = 2, .shape = {3, 8}},
                                                   {.name = "transposed", .rank = 3, .shape = {4, 3, 2}},
                                                   {.name = "flat", .rank = 2, .shape = {2, 12}},
                                                   {.name = "unfolded", .rank = 5, .shape = {2, 3, 2, 1, 2}},
                                                   {.name = "permuted", .rank = 2, .shape = {8, 3}},
                                                   {.name = "all", .rank = 3, .shape = {2, 6, 4}},
                                                   {.name = "square.dotted", .rank = 2, .shape = {3, 3}},
                                                   {.name = NULL}};
static const struct fake_structure structure = {.parameters = parameters};

/* Parts of two types, joined in one f32 parameter; saving restores the type of each. */
static const struct fake_tensor tensors[] = {{.name = "a", .rank = 2, .shape = {3, 2}},
                                             {.name = "b", .rank = 2, .shape = {3, 5}, .dtype = GRAFT_DTYPE_BF16},
                                             {.name = "c", .rank = 2, .shape = {4, 8}},
                                             {.name = "m.0.w", .rank = 2, .shape = {2, 5}},
                                             {.name = "m.1.w", .rank = 2, .shape = {2, 5}, .dtype = GRAFT_DTYPE_F16},
                                             {.name = "m.2.w", .rank = 2, .shape = {2, 5}},
                                             {.name = "s", .rank = 2, .shape = {5, 6}},
                                             {.name = "i", .rank = 2, .shape = {3, 8}, .dtype = GRAFT_DTYPE_F16},
                                             {.name = "t", .rank = 3, .shape = {2, 3, 4}},
                                             {.name = "f", .rank = 5, .shape = {2, 3, 2, 1, 2}},
                                             {.name = "u", .rank = 2, .shape = {2, 12}},
                                             {.name = "p", .rank = 2, .shape = {8, 3}, .dtype = GRAFT_DTYPE_BF16},
                                             {.name = "x.0.g", .rank = 2, .shape = {2, 6}},
                                             {.name = "x.1.g", .rank = 2, .shape = {2, 6}},
                                             {.name = "x.0.h", .rank = 2, .shape = {2, 6}},
                                             {.name = "x.1.h", .rank = 2, .shape = {2, 6}},
                                             {.name = "square.dotted", .rank = 2, .shape = {3, 3}},
                                             {.name = NULL}};

static struct saver saver;

static int set_up(void **state) {
    static const char config[] = "{\"num_attention_heads\": 2}"; /* of PermuteForRope */
    static struct graft_class root;
    (void)state;
    root = (struct graft_class)FAKE_CLASS("Root", ROOT, &structure);
    root.conversions = conversions;
    root.n_conversions = N_CONVERSIONS;
    root.conversion_stride = sizeof conversions[0];
    saver_init(&saver);
    struct graft_model_config *read = &saver.fake.model.config;
    assert_int_equal(graft_json_parse(config, strlen(config), "config.json", &read->document, NULL), GRAFT_OK);
    read->view = graft_config_view(read->document, "config.json");
    fake_model_add(&saver.fake.model, &root);
    fake_checkpoint_write(saver.fake.folder, tensors);
    saver_bind(&saver, "Root");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_json_free(saver.fake.model.config.document);
    saver_finish(&saver);
    return 0;
}

/* Checks that every operation occurs: no parameter was found under its own name. */
static void test_original(void **state) {
    (void)state;
    for (size_t i = 0; i < saver.fake.plan->n_bindings; i++) {
        assert_non_null(saver.fake.plan->bindings[i].conversion);
    }
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "original", 0, 0));
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "shards", 0, 100));
}

static void test_through_journals(void **state) {
    (void)state;
    (void)saver_save(&saver, "original", 0, 0);
    (void)saver_save(&saver, "runtime", 1, 0);
    for (int round = 0; round < 2; round++) {
        saver_adopt(&saver, "runtime");
        saver_bind(&saver, "Root");
        assert_int_equal(graft_checkpoint_count(saver.fake.checkpoint), saver.fake.plan->n_bindings);
        assert_same_tensors(folder_path(saver.outputs, "original"), saver_save(&saver, round ? "b" : "a", 0, 0));
        (void)saver_save(&saver, "runtime", 1, 0);
    }
    assert_non_null(strstr(saver_journal(&saver), "{\"name\": \"transposed\", \"parts\": ["));
}

/* A transposed tensor that is gathered in more than one window: [2100, 2000] f32. */
static void test_windows(void **state) {
    enum { ROWS = 2100, COLUMNS = 2000 };
    static const struct fake_parameter large[] = {{.name = "transposed", .rank = 3, .shape = {COLUMNS, 1, ROWS}},
                                                  {.name = NULL}};
    static const struct fake_structure large_structure = {.parameters = large};
    static struct graft_class one;
    struct graft_tensor_view view = {.name = "t",
                                     .dtype = GRAFT_DTYPE_F32,
                                     .rank = 3,
                                     .shape = {ROWS, 1, COLUMNS, 1, 1, 1, 1, 1},
                                     .bytes = (int64_t)ROWS * COLUMNS * 4};
    uint32_t *numbers = malloc((size_t)view.bytes);
    (void)state;
    assert_non_null(numbers);
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++) {
        numbers[i] = i * 2654435761U;
    }
    view.data = numbers;
    assert_int_equal(graft_safetensors_write(folder_path(saver.fake.folder, "model.safetensors"), &view, 1, NULL,
                                             &saver.fake.model.error),
                     GRAFT_OK);
    free(numbers);
    one = (struct graft_class)FAKE_CLASS("Large", ROOT, &large_structure);
    one.conversions = &conversions[5];
    one.n_conversions = 1;
    one.conversion_stride = sizeof conversions[0];
    fake_model_add(&saver.fake.model, &one);
    saver_bind(&saver, "Large");
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "original", 0, 0));
}

#define WITH_SAVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {WITH_SAVER(test_original), WITH_SAVER(test_through_journals),
                                       WITH_SAVER(test_windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
