/* SPDX-License-Identifier: Apache-2.0 */
/* Custom operations whose inputs and outputs have different numbers of rows: applied, reversed, saved with journals. */
#include "save_fixture.h"

#define ROOT "test.root/1"

enum { SOURCES = 3, BYTES = 6 * 5 * 4 + 40 * 4 + 2 * 3 * 2 * 2 };

static int64_t bytes_of(const struct graft_value_info *info) {
    return graft_tensor_view_size(info->dtype, info->rank, info->shape);
}

static int64_t outputs[2];       /* their rows, of a byte and of two */
static uint32_t reserved_member; /* of an output */

static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    struct graft_value_info *made = shapes->outputs;
    int64_t bytes = 0;
    (void)self;
    for (int32_t i = 0; i < shapes->n_inputs; i++) {
        bytes += bytes_of(&shapes->inputs[i]);
    }
    if (shapes->n_outputs != 2 || bytes != outputs[0] + 2 * outputs[1]) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, "", "%lld bytes, %d results", (long long)bytes,
                               (int)shapes->n_outputs);
    }
    made[0].dtype = made[1].dtype = GRAFT_DTYPE_U8;
    made[0].rank = 1;
    made[0].shape[0] = outputs[0];
    made[1].rank = 2;
    made[1].shape[0] = outputs[1];
    made[1].shape[1] = 2;
    made[1].reserved = reserved_member;
    return GRAFT_OK;
}

/* Whether the operation is called for everything at once, as is required without GRAFT_CUSTOM_ROWS. */
static int is_whole(const struct graft_custom_work *work) {
    return work->begin == 0 && work->end == work->inputs[0].shape[0];
}

/* The inverted bytes of all inputs, one after the other: output 0 gets the first of them, output 1 the rest. */
static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    unsigned char *const to[] = {work->to[0], work->to[1]};
    int64_t at = 0;
    (void)self;
    for (int32_t i = 0; i < work->n_inputs; i++) {
        const unsigned char *from = work->from[i];
        for (int64_t k = 0; k < bytes_of(&work->inputs[i]); k++, at++) {
            *(at < outputs[0] ? to[0] + at : to[1] + at - outputs[0]) = (unsigned char)~from[k];
        }
    }
    return is_whole(work) ? GRAFT_OK : graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "a part");
}

static int reverse(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                   struct graft_error *error) {
    const unsigned char *const from[] = {work->from[0], work->from[1]};
    int64_t at = 0;
    (void)self;
    for (int32_t i = 0; i < work->n_inputs; i++) {
        unsigned char *to = work->to[i];
        for (int64_t k = 0; k < bytes_of(&work->inputs[i]); k++, at++) {
            to[k] = (unsigned char)~*(at < outputs[0] ? from[0] + at : from[1] + at - outputs[0]);
        }
    }
    return is_whole(work) ? GRAFT_OK : graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "a part");
}

static const struct graft_custom_operation custom = {
    .struct_size = sizeof custom, .name = "concatenate_inverted", .infer = infer, .apply = apply, .reverse = reverse};
static const struct graft_operation step = {.struct_size = sizeof step, .kind = GRAFT_OP_CUSTOM, .custom = &custom};
static const char *sources[SOURCES];
static const char *const targets[] = {"narrow", "wide"};
static const struct graft_conversion conversion = {.struct_size = sizeof conversion,
                                                   .n_sources = SOURCES,
                                                   .sources = sources,
                                                   .targets = targets,
                                                   .operations = &step,
                                                   .n_targets = 2,
                                                   .n_operations = 1,
                                                   .operation_stride = sizeof step};

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const int64_t wide[] = {outputs[1], 2};
    (void)cls;
    (void)config;
    (void)args;
    int status = graft_describe_typed(sink, "narrow", 1, outputs, GRAFT_DTYPE_U8, error);
    return status == GRAFT_OK ? graft_describe_typed(sink, "wide", 2, wide, GRAFT_DTYPE_U8, error) : status;
}

static const struct fake_tensor tensors[] = {
    {.name = "qweight", .rank = 2, .shape = {6, 5}, .dtype = GRAFT_DTYPE_I32},
    {.name = "g_idx", .rank = 1, .shape = {40}, .dtype = GRAFT_DTYPE_I32},
    {.name = "scales", .rank = 3, .shape = {2, 3, 2}, .dtype = GRAFT_DTYPE_F16},
    {.name = NULL}};

static struct saver saver;
static struct graft_class root;

static int set_up(void **state) {
    (void)state;
    root = (struct graft_class)FAKE_CLASS("Root", ROOT, NULL);
    root.describe = describe;
    root.conversions = &conversion;
    root.n_conversions = 1;
    root.conversion_stride = sizeof conversion;
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

/* An order of the inputs, `order` below 6; the first is that of the checkpoint. */
static void use_order(int order) {
    int first = order / 2, second = (first + 1 + order % 2) % SOURCES;
    sources[0] = tensors[first].name;
    sources[1] = tensors[second].name;
    sources[2] = tensors[SOURCES - first - second].name;
}

static unsigned char bound_byte(int64_t at) {
    const struct graft_node *node = saver.fake.model.tree->root;
    int wide = at >= outputs[0];
    const struct graft_weight *weight = graft_node_parameter(node, wide ? "wide" : "narrow")->weight;
    return ((const unsigned char *)graft_weight_block(weight, 0)->data)[wide ? at - outputs[0] : at];
}

static void assert_applied(void) {
    int64_t at = 0;
    for (int i = 0; i < SOURCES; i++) {
        const struct graft_tensor_view *tensor = graft_checkpoint_find(saver.fake.checkpoint, sources[i]);
        for (int64_t k = 0; k < tensor->bytes; k++, at++) {
            if (bound_byte(at) != (unsigned char)~((const unsigned char *)tensor->data)[k]) {
                fail_msg("%s, %s, %s: byte %d of %s", sources[0], sources[1], sources[2], (int)k, sources[i]);
            }
        }
    }
    assert_int_equal(at, BYTES);
}

/* Every order of the inputs, with more rows in either output; saved in the original layout, directly and from a
 * directory in the runtime layout. */
static void test_orders(void **state) {
    (void)state;
    for (int round = 0; round < 12; round++) {
        char name[4][16];
        for (int i = 0; i < 4; i++) {
            (void)snprintf(name[i], sizeof name[i], "%c%d", 'a' + i, round);
        }
        use_order(round / 2);
        outputs[0] = round % 2 == 0 ? 4 : BYTES - 2;
        outputs[1] = (BYTES - outputs[0]) / 2;
        saver_bind(&saver, "Root");
        assert_applied();
        (void)saver_save(&saver, name[0], 0, 0);
        assert_same_tensors(saver.fake.folder, folder_path(saver.outputs, name[0]));
        (void)saver_save(&saver, name[1], 1, 0);
        saver_adopt(&saver, name[1]);
        saver_bind(&saver, "Root");
        assert_int_equal(saver.fake.plan->n_computed, 0);
        (void)saver_save(&saver, name[2], 0, 0);
        assert_same_tensors(folder_path(saver.outputs, name[0]), folder_path(saver.outputs, name[2]));
        saver_adopt(&saver, name[2]);
    }
}

/* The forecast counts each input as a whole. */
static void test_forecast(void **state) {
    (void)state;
    for (int order = 0; order < 6; order++) {
        use_order(order);
        outputs[0] = 4;
        outputs[1] = (BYTES - 4) / 2;
        assert_int_equal(fake_plan_again(&saver.fake, "Root"), GRAFT_OK);
        assert_int_equal(saver.fake.plan->n_computed, 1);
        assert_int_equal(saver.fake.plan->computed[0]->scratch_bytes, BYTES);
    }
}

/* Reserved fields stay 0. */
static void test_reserved(void **state) {
    (void)state;
    use_order(0);
    outputs[0] = 4;
    outputs[1] = (BYTES - 4) / 2;
    reserved_member = 1;
    int status = fake_plan_again(&saver.fake, "Root");
    reserved_member = 0;
    assert_int_equal(status, GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(saver.fake.model.error.message, "infer set `reserved` of an output"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_orders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forecast, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reserved, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
