/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors in memory instead of files: used in place, under a checkpoint's names or the parameters' own. */
#include <stdlib.h>
#include <string.h>

#include "library_fixture.h"

enum { TOKENS = 4, VOCABULARY = 583, MOST = 64 };

static const int32_t ids[TOKENS] = {5, 7, 11, 300};
static const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};

static struct graft_library *library;
static struct graft_error error;
static float expected[TOKENS * VOCABULARY], logits[TOKENS * VOCABULARY];
static struct graft_given_tensor tensors[MOST];
static float *data[MOST];
static size_t n_tensors;

static void check(int status) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

/* Noise that differs from one tensor to the next. */
static float *make_data(int64_t count, uint32_t state) {
    float *numbers = malloc((size_t)count * sizeof *numbers);
    assert_non_null(numbers);
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        numbers[i] = (float)(state >> 8) / (float)(1 << 24) - 0.5F;
    }
    return numbers;
}

/* A tensor for every parameter of the golden llama. */
static int set_up(void **state) {
    char path[512];
    const struct graft_model_options options = {.struct_size = sizeof options, .without_weights = 1};
    struct graft_model *model = NULL;
    (void)state;
    error = graft_error_none();
    library = new_library();
    check(graft_model_open(library, llama_directory(path), &options, &model, &error));
    const struct graft_plan_info *plan = graft_model_plan(model);
    assert_true(plan->n_parameters > 10 && plan->n_parameters <= MOST);
    n_tensors = plan->n_parameters;
    for (size_t i = 0; i < n_tensors; i++) {
        const struct graft_planned_parameter *parameter = plan->parameters[i];
        int64_t count = 1;
        tensors[i] = (struct graft_given_tensor){.struct_size = sizeof tensors[i],
                                                 .dtype = GRAFT_DTYPE_F32,
                                                 .name = strdup(parameter->name),
                                                 .rank = parameter->rank};
        for (int32_t k = 0; k < parameter->rank; k++) {
            tensors[i].shape[k] = parameter->shape[k];
            count *= parameter->shape[k];
        }
        tensors[i].data = data[i] = make_data(count, (uint32_t)i);
    }
    graft_model_free(model);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (size_t i = 0; i < n_tensors; i++) {
        free((void *)(uintptr_t)tensors[i].name);
        free(data[i]);
    }
    graft_library_free(library);
    return 0;
}

static struct graft_model *open_given(void) {
    char path[512];
    const struct graft_model_options options = {
        .struct_size = sizeof options, .without_weights = 1, .tensors = tensors, .n_tensors = n_tensors};
    struct graft_model *model = NULL;
    check(graft_model_open(library, llama_directory(path), &options, &model, &error));
    check(graft_model_load(model, &error));
    return model;
}

static void test_read_where_they_lie(void **state) {
    struct graft_model *model = open_given();
    (void)state;
    const struct graft_plan_info *plan = graft_model_plan(model);
    for (size_t i = 0; i < plan->n_parameters; i++) {
        assert_int_equal(plan->parameters[i]->status, GRAFT_PLANNED_FOUND);
    }
    assert_int_equal(plan->copied_bytes, 0);
    assert_int_equal(plan->computed_bytes, 0);
    check(graft_model_logits(model, &prompt, 1, expected, &error));
    data[n_tensors - 1][0] += 1.0F; /* of the head: of the first token's logits */
    check(graft_model_logits(model, &prompt, 1, logits, &error));
    for (int i = 0; i < TOKENS; i++) {
        assert_true(logits[i * VOCABULARY] != expected[i * VOCABULARY]);
        assert_memory_equal(logits + i * VOCABULARY + 1, expected + i * VOCABULARY + 1,
                            (VOCABULARY - 1) * sizeof(float));
    }
    graft_model_free(model);
}

/* If a parameter has no tensor, the model can be inspected, like a model without weights. */
static void test_some(void **state) {
    const size_t all = n_tensors;
    (void)state;
    n_tensors = all - 1;
    struct graft_model *model = open_given();
    n_tensors = all;
    assert_int_equal(graft_model_plan(model)->parameters[all - 1]->status, GRAFT_PLANNED_MISSING);
    assert_int_not_equal(graft_model_logits(model, &prompt, 1, logits, &error), GRAFT_OK);
    graft_model_free(model);
}

static void test_not_saved(void **state) {
    struct graft_model *model = open_given();
    (void)state;
    assert_int_equal(graft_model_save(model, "/nowhere/saved", NULL, &error), GRAFT_ERROR_USAGE);
    graft_model_free(model);
}

/* --- Faults --- */

static void refuse(const struct graft_model_options *options, const char *message) {
    char path[512];
    struct graft_model *model = NULL;
    error = graft_error_none();
    assert_int_not_equal(graft_model_open(library, llama_directory(path), options, &model, &error), GRAFT_OK);
    assert_null(model);
    if (strstr(error.message, message) == NULL) {
        fail_msg("expected \"%s\" in: %s: %s", message, error.source, error.message);
    }
}

static void refuse_tensor(const struct graft_given_tensor *tensor, const char *message) {
    const struct graft_model_options options = {
        .struct_size = sizeof options, .without_weights = 1, .tensors = tensor, .n_tensors = 1};
    refuse(&options, message);
}

static void test_faults(void **state) {
    const struct graft_model_options beside = {
        .struct_size = sizeof beside, .tensors = tensors, .n_tensors = n_tensors};
    const struct graft_model_options lost = {.struct_size = sizeof lost, .without_weights = 1, .n_tensors = 1};
    struct graft_given_tensor one = tensors[0], twice[2] = {tensors[0], tensors[0]};
    const struct graft_model_options same = {
        .struct_size = sizeof same, .without_weights = 1, .tensors = twice, .n_tensors = 2};
    (void)state;
    refuse(&beside, "beside the directory's own");
    refuse(&lost, "got NULL");
    refuse(&same, "");
    one.struct_size = 8;
    refuse_tensor(&one, "struct_size");
    one = tensors[0];
    one.name = "";
    refuse_tensor(&one, "expected a name");
    one = tensors[0];
    one.dtype = 99;
    refuse_tensor(&one, "got 99");
    one = tensors[0];
    one.rank = GRAFT_MAX_RANK + 1;
    refuse_tensor(&one, "rank");
    one = tensors[0];
    one.shape[1] = 0;
    refuse_tensor(&one, "shape[1]");
    one = tensors[0];
    one.shape[0] = INT64_MAX / 2;
    refuse_tensor(&one, "more bytes than there are");
    one = tensors[0];
    one.data = NULL;
    refuse_tensor(&one, "data: expected numbers");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_where_they_lie),
        cmocka_unit_test(test_some),
        cmocka_unit_test(test_not_saved),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
