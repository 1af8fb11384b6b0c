/* SPDX-License-Identifier: Apache-2.0 */
/* Custom operations, some reversible and some not, saved in both layouts and with journals. */
#include <stdlib.h>

#include "save_fixture.h"

#define ROOT "test.root/1"

/* f32 [r, c] with inverted bits; its own reverse. */
static int infer_flip(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                      struct graft_error *error) {
    const struct graft_value_info *inputs = shapes->inputs;
    struct graft_value_info *outputs = shapes->outputs;
    (void)self;
    if (shapes->n_inputs != 1 || shapes->n_outputs != 1 || inputs[0].dtype != GRAFT_DTYPE_F32) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, "", "one of f32, one result");
    }
    outputs[0] = inputs[0];
    return GRAFT_OK;
}

static int flip(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                struct graft_error *error) {
    const uint32_t *from = work->from[0];
    uint32_t *to = work->to[0];
    (void)self;
    (void)error;
    for (int64_t i = 0; i < (work->end - work->begin) * work->inputs[0].shape[1]; i++) {
        to[i] = ~from[i];
    }
    return GRAFT_OK;
}

/* bf16 [r, c] becomes its bytes: the high ones [r, c] U8 and the low ones [r, c] U8. */
static int infer_bytes(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                       struct graft_error *error) {
    const struct graft_value_info *inputs = shapes->inputs;
    struct graft_value_info *outputs = shapes->outputs;
    (void)self;
    if (shapes->n_inputs != 1 || shapes->n_outputs != 2 || inputs[0].dtype != GRAFT_DTYPE_BF16) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, "", "one of bf16, two results");
    }
    outputs[0] = inputs[0];
    outputs[1] = inputs[0];
    outputs[0].dtype = outputs[1].dtype = GRAFT_DTYPE_U8;
    return GRAFT_OK;
}

static int take_apart(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                      struct graft_error *error) {
    const uint8_t *from = work->from[0];
    uint8_t *low = work->to[1], *high = work->to[0];
    (void)self;
    (void)error;
    for (int64_t i = 0; i < (work->end - work->begin) * work->inputs[0].shape[1]; i++) {
        low[i] = from[2 * i];
        high[i] = from[2 * i + 1];
    }
    return GRAFT_OK;
}

static int reverse_status;

static int put_together(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                        struct graft_error *error) {
    const uint8_t *low = work->from[1], *high = work->from[0];
    uint8_t *to = work->to[0];
    (void)self;
    if (reverse_status != GRAFT_OK) {
        return graft_error_set(error, reverse_status, "", "not today");
    }
    for (int64_t i = 0; i < (work->end - work->begin) * work->inputs[0].shape[1]; i++) {
        to[2 * i] = low[i];
        to[2 * i + 1] = high[i];
    }
    return GRAFT_OK;
}

static const struct graft_custom_operation flipping = {
    .struct_size = sizeof flipping, .name = "flip", .infer = infer_flip, .apply = flip, .reverse = flip};
static const struct graft_custom_operation halving = {.struct_size = sizeof halving,
                                                      .flags = GRAFT_CUSTOM_ROWS,
                                                      .name = "halves",
                                                      .infer = infer_bytes,
                                                      .apply = take_apart,
                                                      .reverse = put_together};
static struct graft_custom_operation lossy; /* halving without a way back */

#define STEP(...) \
    { .struct_size = sizeof(struct graft_operation), __VA_ARGS__ }
/* v [4, 6], k [2, 6] -> joined [6, 6], inverted, transposed, inverted: equals the joined one transposed. */
static const struct graft_operation chain[] = {
    STEP(.kind = GRAFT_OP_CONCATENATE, .dim = 0), STEP(.kind = GRAFT_OP_CUSTOM, .custom = &flipping),
    STEP(.kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1), STEP(.kind = GRAFT_OP_CUSTOM, .custom = &flipping)};
/* w [3, 4] -> [4, 3], its bytes. */
static const struct graft_operation bytes[] = {STEP(.kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1),
                                               STEP(.kind = GRAFT_OP_CUSTOM, .custom = &halving)};
static const struct graft_operation lossy_bytes[] = {STEP(.kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1),
                                                     STEP(.kind = GRAFT_OP_CUSTOM, .custom = &lossy)};
static const char *const chain_sources[] = {"v", "k"}, *const chain_targets[] = {"joined"};
static const char *const bytes_sources[] = {"w"}, *const bytes_targets[] = {"high", "low"};

#define CONVERSION(from, n_from, to, n_to, steps, n)                                                               \
    {                                                                                                              \
        .struct_size = sizeof(struct graft_conversion), .n_sources = (n_from), .sources = (from), .targets = (to), \
        .operations = (steps), .n_targets = (n_to), .n_operations = (n),                                           \
        .operation_stride = sizeof(struct graft_operation)                                                         \
    }
static const struct graft_conversion conversions[] = {CONVERSION(chain_sources, 2, chain_targets, 1, chain, 4),
                                                      CONVERSION(bytes_sources, 1, bytes_targets, 2, bytes, 2)};
static const struct graft_conversion lossy_conversions[] = {
    CONVERSION(chain_sources, 2, chain_targets, 1, chain, 4),
    CONVERSION(bytes_sources, 1, bytes_targets, 2, lossy_bytes, 2)};

static int64_t half[2]; /* the shape of "high" and "low" */

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    static const int64_t joined[] = {6, 6};
    (void)cls;
    (void)config;
    (void)args;
    int status = graft_describe_typed(sink, "high", 2, half, GRAFT_DTYPE_U8, error);
    status = status == GRAFT_OK ? graft_describe_typed(sink, "low", 2, half, GRAFT_DTYPE_U8, error) : status;
    return status == GRAFT_OK ? graft_describe_parameter(sink, "joined", 2, joined, 0, GRAFT_INIT_NONE, error) : status;
}

static const struct fake_tensor tensors[] = {{.name = "w", .rank = 2, .shape = {3, 4}, .dtype = GRAFT_DTYPE_BF16},
                                             {.name = "v", .rank = 2, .shape = {4, 6}},
                                             {.name = "k", .rank = 2, .shape = {2, 6}},
                                             {.name = "unused", .rank = 1, .shape = {5}},
                                             {.name = NULL}};

static struct saver saver;
static struct graft_class root;

static void use(const struct graft_conversion *two) {
    root = (struct graft_class)FAKE_CLASS("Root", ROOT, NULL);
    root.describe = describe;
    root.conversions = two;
    root.n_conversions = 2;
    root.conversion_stride = sizeof *two;
}

static int set_up(void **state) {
    (void)state;
    reverse_status = GRAFT_OK;
    half[0] = 4;
    half[1] = 3;
    lossy = halving;
    lossy.name = "rounded";
    lossy.reverse = NULL;
    use(conversions);
    saver_init(&saver);
    fake_model_add(&saver.fake.model, &root);
    fake_checkpoint_write(saver.fake.folder, tensors);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    saver_finish(&saver);
    return 0;
}

static void test_original(void **state) {
    (void)state;
    saver_bind(&saver, "Root");
    assert_int_equal(saver.fake.plan->n_computed, 3);
    assert_ptr_equal(graft_save_irreversible(saver.fake.plan), NULL);
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "original", 0, 0));
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "shards", 0, 100));
}

/* Saves in the runtime layout, loads, saves in it again, loads, and saves in the original layout. */
static void test_through_journals(void **state) {
    (void)state;
    saver_bind(&saver, "Root");
    (void)saver_save(&saver, "original", 0, 0);
    assert_same_tensors(saver.fake.folder, folder_path(saver.outputs, "original"));
    (void)saver_save(&saver, "runtime", 1, 0);
    for (int round = 0; round < 2; round++) {
        saver_adopt(&saver, "runtime");
        saver_bind(&saver, "Root");
        assert_int_equal(saver.fake.plan->n_computed, 0);
        assert_int_equal(graft_checkpoint_count(saver.fake.checkpoint), 4); /* three parameters, one unused */
        assert_same_tensors(folder_path(saver.outputs, "original"), saver_save(&saver, round ? "b" : "a", 0, 0));
        (void)saver_save(&saver, "runtime", 1, 0);
    }
}

/* So many rows that the reverse operation runs in several pieces. */
static void test_pieces(void **state) {
    enum { ROWS = 900, COLUMNS = 1300 };
    struct graft_tensor_view views[3] = {
        {.name = "w", .dtype = GRAFT_DTYPE_BF16, .rank = 2, .shape = {COLUMNS, ROWS, 1, 1, 1, 1, 1, 1}},
        {.name = "v", .dtype = GRAFT_DTYPE_F32, .rank = 2, .shape = {4, 6, 1, 1, 1, 1, 1, 1}},
        {.name = "k", .dtype = GRAFT_DTYPE_F32, .rank = 2, .shape = {2, 6, 1, 1, 1, 1, 1, 1}}};
    uint32_t *numbers = malloc((size_t)ROWS * COLUMNS * 2);
    (void)state;
    assert_non_null(numbers);
    for (uint32_t i = 0; i < ROWS * COLUMNS / 2; i++) {
        numbers[i] = i * 2654435761U;
    }
    for (int i = 0; i < 3; i++) {
        views[i].data = numbers;
        views[i].bytes = graft_tensor_view_size(views[i].dtype, 2, views[i].shape);
    }
    assert_int_equal(graft_safetensors_write(folder_path(saver.fake.folder, "model.safetensors"), views, 3, NULL,
                                             &saver.fake.model.error),
                     GRAFT_OK);
    free(numbers);
    half[0] = ROWS;
    half[1] = COLUMNS;
    saver_bind(&saver, "Root");
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "original", 0, 0));
}

static void expect(int status, int runtime, const char *words) {
    assert_int_equal(saver_try(&saver, "refused", runtime, 0), status);
    if (strstr(saver.fake.model.error.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", saver.fake.model.error.message, words);
    }
    saver.fake.model.error = graft_error_none();
}

static void test_reverse_fails(void **state) {
    (void)state;
    saver_bind(&saver, "Root");
    reverse_status = GRAFT_ERROR_MODEL;
    expect(GRAFT_ERROR_MODEL, 0, "plugin (none)): not today");
    assert_int_equal(folder_count(saver.outputs), 0);
}

/* The loss is known before anything is bound; the journal records it, and the original cannot be restored. */
static void test_lossy(void **state) {
    const struct graft_save_options original = {.struct_size = sizeof original};
    struct graft_error error = graft_error_none();
    (void)state;
    use(lossy_conversions);
    assert_int_equal(fake_plan_again(&saver.fake, "Root"), GRAFT_OK);
    assert_string_equal(graft_save_irreversible(saver.fake.plan)->operation->name, "rounded");
    assert_int_equal(
        graft_save_check_target(saver.fake.folder, saver.fake.plan, folder_path(saver.outputs, "x"), &original, &error),
        GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "rounded of plugin (none), at \"\""));
    saver_bind(&saver, "Root");
    expect(GRAFT_ERROR_PLUGIN, 0, "rounded of plugin (none)");
    (void)saver_save(&saver, "runtime", 1, 0);
    saver_adopt(&saver, "runtime");
    const char *journal = saver_journal(&saver);
    assert_non_null(strstr(journal, "{\"name\": \"w\", \"dtype\": \"BF16\", \"shape\": [3, 4], "
                                    "\"lost\": \"rounded of plugin (none)\"}"));
    assert_null(strstr(strstr(journal, "\"lost\"") + 1, "\"lost\"")); /* v and k can come back */
    saver_bind(&saver, "Root");
    expect(GRAFT_ERROR_PLUGIN, 0, "rounded of plugin (none)");
    (void)saver_save(&saver, "again", 1, 0);
}

/* A directory that contains results of operations can only be saved back with their plugin. */
static void test_without_the_operation(void **state) {
    (void)state;
    saver_bind(&saver, "Root");
    (void)saver_save(&saver, "runtime", 1, 0);
    saver_adopt(&saver, "runtime");
    root.n_conversions = 0;
    saver_bind(&saver, "Root");
    expect(GRAFT_ERROR_PLUGIN, 0, "flip of plugin (none) is needed");
}

/* A journal that describes an operation wrongly. */
static void test_bad_journals(void **state) {
    static const char *const changes[][3] = {
        {"\"outputs\": [4, 1]", "\"outputs\": [5, 1]", "made in this order"},
        {"\"outputs\": [4, 1]", "\"outputs\": [4, 3]", "made in this order"},
        {"\"outputs\": [4, 1]", "\"outputs\": [0, 1]", "made in this order"},
        {"\"outputs\": [4, 1]", "\"outputs\": [4, 9]", "made in this order"},
        {"\"outputs\": [4, 1]", "\"outputs\": 4, \"x\": 1", "made in this order"},
        {"[{\"dtype\": \"F32\", \"shape\": [6, 6]", "[{\"dtype\": \"BF16\", \"shape\": [6, 6]",
         "does not match what that operation makes"},
        {"[{\"dtype\": \"F32\", \"shape\": [6, 6]", "[{\"dtype\": \"F32\", \"shape\": [7, 6]",
         "does not match what that operation makes"},
        {"[{\"dtype\": \"F32\", \"shape\": [6, 6]", "[{\"dtype\": \"F32\", \"shape\": [2, 6]", "room for"},
        {"[{\"dtype\": \"F32\", \"shape\": [6, 6]", "[{\"dtype\": \"F32\", \"shape\": [0, 6]", "an input needs"},
        {"\"parts\": [[4, 0, 0", "\"parts\": [[5, 0, 0", "comes later"},
        {"{\"name\": \"flip\"", "{\"name\": \"flap\"", "flap of plugin (none) is needed"},
    };
    (void)state;
    saver_bind(&saver, "Root");
    (void)saver_save(&saver, "runtime", 1, 0);
    saver_adopt(&saver, "runtime");
    saver_bind(&saver, "Root");
    const char *journal = saver_journal(&saver);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char changed[8192];
        const char *at = strstr(journal, changes[i][0]);
        if (at == NULL) {
            fail_msg("%s is not in %s", changes[i][0], journal);
        }
        (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - journal), journal, changes[i][1],
                       at + strlen(changes[i][0]));
        folder_put(saver.fake.folder, "graft_journal.json", changed, strlen(changed));
        expect(i < 10 ? GRAFT_ERROR_MODEL : GRAFT_ERROR_PLUGIN, 0, changes[i][2]);
    }
}

#define WITH_SAVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_SAVER(test_original),     WITH_SAVER(test_through_journals),
        WITH_SAVER(test_pieces),       WITH_SAVER(test_reverse_fails),
        WITH_SAVER(test_lossy),        WITH_SAVER(test_without_the_operation),
        WITH_SAVER(test_bad_journals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
