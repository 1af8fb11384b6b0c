/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that `describe` keeps for `create`: each class gets its own, whoever describes the module. */
#include "fake_model.h"
#include "plugin/host_services.h"

#define LEAF "test.leaf/1"

static const struct fake_parameter parameters[] = {{.name = "weight", .rank = 1, .shape = {2}}, {.name = NULL}};
static const struct fake_structure structure = {.parameters = parameters};

static const int64_t *seen; /* argument of the last `create` */

/* Keeps the number that `data` points to. */
static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t *kept = sink->keep(sink->data, sizeof *kept, error);
    (void)config;
    (void)args;
    if (kept == NULL) {
        return GRAFT_ERROR_PLUGIN;
    }
    assert_string_equal(sink->path, "");
    assert_int_equal(*kept, 0);
    *kept = *(const int64_t *)cls->data;
    return GRAFT_OK;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    (void)cls;
    (void)instance;
    (void)error;
    seen = build->kept;
    return GRAFT_OK;
}

static const int64_t seven = 7;
static const struct graft_class leaf = {.struct_size = sizeof leaf,
                                        .name = "Leaf",
                                        .interface_id = LEAF,
                                        .describe = describe,
                                        .create = create,
                                        .forward = "leaf",
                                        .data = &seven};

/* Builds a Leaf, replaced by `by` if that is not NULL, and creates it. */
static void make(struct fake_model *model, const struct graft_class *by) {
    const struct graft_replacement patch = {
        .struct_size = sizeof patch, .key = GRAFT_KEY_NAME, .target = "Leaf", .replacement = by};
    seen = NULL;
    fake_model_init(model);
    fake_model_add(model, &leaf);
    if (by != NULL) {
        fake_model_replace(model, &patch);
    }
    assert_int_equal(fake_model_build(model, "Leaf"), GRAFT_OK);
    assert_int_equal(graft_tree_instantiate(model->tree, graft_host_get(), &model->error), GRAFT_OK);
}

static void test_kept(void **state) {
    struct fake_model model;
    (void)state;
    make(&model, NULL);
    assert_int_equal(*seen, 7);
    fake_model_finish(&model);
}

/* A class without a `describe` cannot interpret another one's memory. */
static void test_inherited_description(void **state) {
    static const struct graft_class quick = {
        .struct_size = sizeof quick, .name = "Quick", .interface_id = LEAF, .create = create, .forward = "quick"};
    struct fake_model model;
    (void)state;
    make(&model, &quick);
    assert_null(seen);
    fake_model_finish(&model);
}

static int describe_other(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    assert_non_null(sink->keep(sink->data, 1, error));
    return fake_describe(cls, config, args, sink, error);
}

/* The original creates a module that a replacement describes: it gets its own memory, and describes nothing. */
static void test_inherited_functions(void **state) {
    static const struct graft_class thin = {.struct_size = sizeof thin,
                                            .name = "Thin",
                                            .interface_id = LEAF,
                                            .describe = describe_other,
                                            .data = &structure};
    struct fake_model model;
    (void)state;
    make(&model, &thin);
    assert_int_equal(*seen, 7);
    assert_int_equal(fake_model_node(&model, "")->n_parameters, 1);
    fake_model_finish(&model);
}

static int describe_badly(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t *bytes = cls->data; /* two calls */
    (void)config;
    (void)args;
    return sink->keep(sink->data, bytes[0], error) != NULL && sink->keep(sink->data, bytes[1], error) != NULL
               ? GRAFT_OK
               : GRAFT_ERROR_PLUGIN;
}

static void test_refusals(void **state) {
    static const int64_t calls[][2] = {{8, 8}, {0, 8}, {-1, 8}, {(1 << 20) + 1, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const struct graft_class bad = {.struct_size = sizeof bad,
                                        .name = "Bad",
                                        .interface_id = LEAF,
                                        .describe = describe_badly,
                                        .create = create,
                                        .forward = "bad",
                                        .data = calls[i]};
        struct fake_model model;
        fake_model_init(&model);
        fake_model_add(&model, &bad);
        assert_int_not_equal(fake_model_build(&model, "Bad"), GRAFT_OK);
        assert_non_null(strstr(model.error.message, i == 0 ? "keeps memory twice" : "bytes, expected 1 to"));
        fake_model_finish(&model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_inherited_description),
        cmocka_unit_test(test_inherited_functions),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
