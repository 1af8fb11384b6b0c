/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks around modules: results stay the same, every call is seen, and afterwards everything is as before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "graft/embedding.h"
#include "graft/experts.h"
#include "graft/linear.h"
#include "hooks/bytes.h"
#include "hooks/comparison.h"
#include "hooks/profile.h"
#include "interface/interface.h"
#include "interface/views.h"
#include "library/library.h"

static const int32_t ids[] = {3, 1, 4, 1, 5, 9, 2, 6};
enum { TOKENS = sizeof ids / sizeof ids[0] };

struct fixture {
    struct graft_library *library;
    struct graft_model *model;
    size_t vocab_size;
};

static struct fixture open_model(const char *name) {
    struct graft_error error = graft_error_none();
    struct fixture fixture = {0};
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/plain/%s", getenv("GRAFT_TEST_GOLDENS"), name);
    assert_int_equal(graft_library_create(&fixture.library, &error), GRAFT_OK);
    assert_int_equal(graft_model_open(fixture.library, path, &options, &fixture.model, &error), GRAFT_OK);
    assert_int_equal(graft_model_load(fixture.model, &error), GRAFT_OK);
    fixture.vocab_size = (size_t)graft_model_vocab_size(fixture.model);
    return fixture;
}

static void close_model(struct fixture *fixture) {
    graft_model_free(fixture->model);
    graft_library_free(fixture->library);
}

static float *run(const struct fixture *fixture) {
    struct graft_error error = graft_error_none();
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};
    float *logits = malloc(TOKENS * fixture->vocab_size * sizeof *logits);
    assert_non_null(logits);
    assert_int_equal(graft_model_logits(fixture->model, &prompt, 1, logits, &error), GRAFT_OK);
    return logits;
}

struct seen {
    int begun;
    int ended;
    int without_views;
    int64_t linear_rows;
    double seconds; /* of the root */
};

static int before(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct seen *seen = data;
    (void)error;
    seen->begun++;
    seen->without_views += hooked->n_views == 0;
    hooked->mark = seen->begun;
    for (int32_t i = 0; i < hooked->n_views; i++) {
        assert_non_null(hooked->views[i].data);
        assert_true(hooked->views[i].rows > 0 && hooked->views[i].columns > 0);
    }
    return GRAFT_OK;
}

static int after(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct seen *seen = data;
    const char *interface = hooked->node->made_by->cls->interface_id;
    (void)error;
    seen->ended++;
    assert_true(hooked->mark > 0);
    assert_true(hooked->own_seconds <= hooked->seconds);
    if (strcmp(hooked->node->path, "lm_head") == 0) {
        assert_string_equal(interface, GRAFT_INTERFACE_LINEAR);
        assert_string_equal(hooked->views[1].name, "y");
        seen->linear_rows = hooked->views[1].rows;
    }
    if (hooked->node->parent == NULL) {
        seen->seconds = hooked->seconds;
    }
    return GRAFT_OK;
}

/* Runs every plain golden, so that every interface and every optional slot is called. */
static void test_nothing_changes(void **state) {
    static const char *const names[] = {"llama",          "llama_bf16",         "llama_bias",       "qwen2_moe",
                                        "qwen2_moe_bf16", "qwen2_moe_mlp_only", "qwen2_moe_sliding"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct fixture fixture = open_model(names[i]);
        struct graft_error error = graft_error_none();
        struct seen seen = {0};
        const struct graft_forward_hooks hooks = {NULL, before, after, &seen};
        const struct graft_module root = fixture.model->tree->root->module;
        struct graft_hook_handle *handle = NULL;
        float *plain = run(&fixture);
        assert_int_equal(graft_forward_hooks_register(fixture.model->tree, &hooks, &handle, &error), GRAFT_OK);
        float *hooked = run(&fixture);
        graft_forward_hooks_remove(handle);
        assert_memory_equal(plain, hooked, TOKENS * fixture.vocab_size * sizeof *plain);
        assert_true(seen.begun > 10);
        assert_int_equal(seen.begun, seen.ended);
        assert_int_equal(seen.without_views, 0);
        assert_int_equal(seen.linear_rows, TOKENS);
        assert_true(seen.seconds > 0.0);
        assert_memory_equal(&root, &fixture.model->tree->root->module, sizeof root);
        free(plain);
        free(hooked);
        close_model(&fixture);
    }
}

static void check_array(const struct graft_interface *interface, const struct graft_interface_array *array) {
    const struct graft_array_size *sizes[] = {&array->rows, &array->columns};
    assert_true(array->field >= sizeof(uint32_t) && array->field < interface->args_size);
    for (size_t i = 0; i < 2; i++) {
        if (sizes[i]->from == GRAFT_SIZE_TOKENS || sizes[i]->from == GRAFT_SIZE_SEQUENCES) {
            assert_true(interface->batch_field > 0);
        }
    }
}

/* An interface's table is consistent: a module that can be fused has inputs and one output. */
static void test_every_interface(void **state) {
    (void)state;
    for (const struct graft_interface *at = graft_interfaces(); at->id != NULL; at++) {
        int32_t inputs = 0, outputs = 0;
        assert_ptr_equal(graft_interface_find(at->id), at);
        assert_true(at->arrays[0].name != NULL && at->arrays[GRAFT_MAX_VIEWS].name == NULL);
        for (const struct graft_interface_array *array = at->arrays; array->name != NULL; array++) {
            int chained = (array->flags & GRAFT_ARRAY_CHAINED) != 0;
            check_array(at, array);
            outputs += chained && array->direction != GRAFT_VIEW_IN;
            inputs += chained && array->direction != GRAFT_VIEW_OUT;
        }
        assert_true(inputs > 0 ? outputs == 1 && inputs <= GRAFT_MAX_CHAINED_INPUTS : outputs == 0);
        assert_int_equal(graft_interface_chained(at->id).n_inputs, inputs);
        assert_int_equal(graft_interface_unchained(at->id) == NULL, inputs > 0);
    }
    assert_null(graft_interface_find("test.none/1"));
}

static int refuse(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    (void)data;
    return strcmp(hooked->node->path, "model.norm") == 0
               ? graft_error_set(error, GRAFT_ERROR_IO, "test", "no more of this")
               : GRAFT_OK;
}

static void test_hook_stops(void **state) {
    struct fixture fixture = open_model("llama");
    struct graft_error error = graft_error_none();
    const struct graft_forward_hooks hooks = {NULL, refuse, NULL, NULL};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};
    struct graft_hook_handle *handle = NULL;
    float *logits = run(&fixture);
    (void)state;
    assert_int_equal(graft_forward_hooks_register(fixture.model->tree, &hooks, &handle, &error), GRAFT_OK);
    assert_int_equal(graft_model_logits(fixture.model, &prompt, 1, logits, &error), GRAFT_ERROR_IO);
    assert_string_equal(error.message, "no more of this");
    graft_forward_hooks_remove(handle);
    free(logits);
    free(run(&fixture));
    close_model(&fixture);
}

/* Embeddings and experts read only the requested weights, other modules all. */
static void test_bytes(void **state) {
    struct fixture fixture = open_model("qwen2_moe");
    struct graft_node *root = fixture.model->tree->root;
    static const int32_t twice[] = {1, 0, 1, 1};
    const struct graft_embedding_args embedding = {.struct_size = sizeof embedding, .tokens = 4, .ids = twice};
    const struct graft_experts_args experts = {
        .struct_size = sizeof experts, .tokens = 2, .k = 2, .top_k_index = twice};
    const struct graft_linear_args linear = {.struct_size = sizeof linear, .tokens = 1};
    struct graft_hooked_call hooked = {.node = graft_node_find(root, "model.embed_tokens"), .args = &embedding};
    const struct graft_parameter *table = hooked.node->parameters[0];
    (void)state;
    assert_int_equal(graft_hooked_call_bytes(&hooked), 2 * table->shape[1] * 4);
    hooked.node = graft_node_find(root, "model.layers.0.mlp.experts");
    hooked.args = &experts;
    int64_t all = graft_node_bytes(hooked.node);
    int64_t n = hooked.node->parameters[0]->shape[0];
    assert_int_equal(graft_hooked_call_bytes(&hooked), all / n * 2);
    hooked.node = graft_node_find(root, "lm_head");
    hooked.module = &hooked.node->module;
    hooked.args = &linear;
    assert_int_equal(graft_hooked_call_bytes(&hooked), graft_node_bytes(hooked.node));
    assert_int_equal(graft_node_bytes(root), fixture.model->plan->mapped_bytes + fixture.model->plan->copied_bytes);
    close_model(&fixture);
}

static void test_profile(void **state) {
    struct fixture fixture = open_model("llama");
    struct graft_error error = graft_error_none();
    struct graft_tree_profile profile = {0};
    int64_t modules = 0;
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(graft_tree_profile_begin(&profile, fixture.model->tree, &error), GRAFT_OK);
        free(run(&fixture));
        graft_tree_profile_end(&profile);
    }
    assert_string_equal(profile.rows[0].class_name, "LlamaForCausalLM");
    assert_int_equal(profile.rows[0].phases[GRAFT_PHASE_PROMPT].calls, 2);
    assert_int_equal(profile.rows[0].phases[GRAFT_PHASE_PROMPT].bytes, profile.bytes[GRAFT_PHASE_PROMPT]);
    assert_int_equal(profile.bytes[GRAFT_PHASE_TOKEN], 0);
    for (size_t i = 0; i < profile.count; i++) {
        modules += profile.rows[i].modules;
        assert_null(profile.rows[i].original_class);
    }
    assert_true(modules > 10);
    graft_tree_profile_finish(&profile);
    close_model(&fixture);
}

static void test_difference(void **state) {
    static const float values[] = {1.0F, -2.0F, 3.0F};
    static const float others[] = {1.0F, -2.5F, 3.0F};
    const float undefined[] = {__builtin_nanf(""), 1.0F};
    const float infinite[] = {__builtin_inff(), 1.0F};
    struct graft_difference found = {0};
    (void)state;
    graft_difference_add(&found, values, values, 3);
    assert_true(found.difference == 0.0 && found.value == 3.0);
    graft_difference_add(&found, values, others, 3);
    assert_true(found.difference == 0.5);
    found = (struct graft_difference){0};
    graft_difference_add(&found, undefined, undefined, 2);
    graft_difference_add(&found, infinite, infinite, 2);
    assert_true(found.difference == 0.0);
    graft_difference_add(&found, undefined, values, 2);
    assert_true(found.difference == (double)__builtin_inff());
}

static void test_difference_limit(void **state) {
    static const struct {
        struct graft_difference found;
        double limit; /* for a tolerance of 0.5 */
    } cases[] = {
        {{0.0, 0.0}, 0.5},
        {{0.0, 0.25}, 0.5},
        {{0.0, 1.0}, 0.5},
        {{0.0, 40.0}, 20.0},
        {{0.0, (double)__builtin_inff()}, 0.5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(graft_difference_limit(&cases[i].found, 0.5) == cases[i].limit);
        assert_true(graft_difference_limit(&cases[i].found, 0.0) == 0.0);
    }
}

/* If memory runs out, no hook stays. */
static void test_out_of_memory(void **state) {
    struct fixture fixture = open_model("llama");
    const struct graft_module root = fixture.model->tree->root->module;
    long left = 0;
    (void)state;
    for (long n = 1; left == 0; n++) {
        struct graft_error error = graft_error_none();
        struct graft_tree_profile profile = {0};
        (void)graft_alloc_fail_at(n);
        int status = graft_tree_profile_begin(&profile, fixture.model->tree, &error);
        left = graft_alloc_fail_at(0);
        assert_int_equal(status, left == 0 ? GRAFT_ERROR_INTERNAL : GRAFT_OK);
        graft_tree_profile_finish(&profile);
        assert_memory_equal(&root, &fixture.model->tree->root->module, sizeof root);
    }
    close_model(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_changes),  cmocka_unit_test(test_every_interface),
        cmocka_unit_test(test_hook_stops),       cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_profile),          cmocka_unit_test(test_difference),
        cmocka_unit_test(test_difference_limit), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
