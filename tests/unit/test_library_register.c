/* SPDX-License-Identifier: Apache-2.0 */
/* A program can register everything that a plugin has: a whole plugin in memory, and implementations one by one. */
#include "../../plugins/sequential_experts/sequential_experts.c"
#include "graft/attention.h"
#include "graft/attention_implementation.h"
#include "graft/experts_implementation.h"
#include "graft/host/library.h"
#include "graft/host/observe.h"
#include "graft/kernel_override.h"
#include "graft/logits_processor.h"
#include "library_fixture.h"

#include <math.h>

#include "base/alloc.h"

enum { TOKENS = 4, MAX_LOGITS = TOKENS * 4096 };

static struct graft_library *library;
static struct graft_error error;
static int inits, deinits;
static struct graft_plugin bundle, two; /* as long as the library */

static int set_up(void **state) {
    (void)state;
    library = new_library();
    error = graft_error_none();
    inits = deinits = 0;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_library_free(library);
    library = NULL;
    return 0;
}

static void check(int status) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

static void refused(int status, int expected, const char *source, const char *message) {
    assert_int_equal(status, expected);
    assert_string_equal(error.source, source);
    if (strstr(error.message, message) == NULL) {
        fail_msg("expected \"%s\" in \"%s\"", message, error.message);
    }
    error = graft_error_none();
}

/* Opens and loads a golden model. */
static struct graft_model *open_golden(const char *name, struct graft_model_options *options) {
    struct graft_model *model = NULL;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/plain/%s", getenv("GRAFT_TEST_GOLDENS"), name);
    options->struct_size = sizeof *options;
    options->precision = GRAFT_PRECISION_FLOAT32;
    check(graft_model_open(library, path, options, &model, &error));
    assert_true(graft_model_vocab_size(model) * TOKENS <= MAX_LOGITS);
    check(graft_model_load(model, &error));
    return model;
}

/* Opens, loads and runs it; its logits are in `logits`. */
static struct graft_model *run(const char *name, struct graft_model_options *options, float logits[MAX_LOGITS]) {
    static const int32_t ids[TOKENS] = {5, 7, 11, 13};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};
    struct graft_model *model = open_golden(name, options);
    memset(logits, 0, MAX_LOGITS * sizeof *logits);
    check(graft_model_logits(model, &prompt, 1, logits, &error));
    return model;
}

static int count_init(struct graft_error *failure) {
    (void)failure;
    inits++;
    return GRAFT_OK;
}

static int fail_init(struct graft_error *failure) {
    return graft_error_set(failure, GRAFT_ERROR_PLUGIN, "init", "no such processor");
}

static void count_deinit(void) {
    deinits++;
}

/* A class with private children takes effect like that of a plugin's file. */
static void test_bundle(void **state) {
    static float plain[MAX_LOGITS], patched[MAX_LOGITS];
    struct graft_model_options options = {.struct_size = sizeof options};
    (void)state;
    graft_model_free(run("mixtral", &options, plain));
    bundle = plugin;
    bundle.init = count_init;
    bundle.deinit = count_deinit;
    check(graft_library_register_plugin(library, &bundle, &error));
    assert_int_equal(inits, 1);
    assert_ptr_equal(graft_library_plugin(library, 0)->descriptor, &bundle);
    assert_null(graft_library_plugin(library, 0)->file);
    assert_null(graft_library_plugin(library, 1));
    struct graft_model *model = run("mixtral", &options, patched);
    assert_string_equal(graft_model_class_at(model, "model.layers.0.mlp.experts"), "ModuleListExperts");
    assert_string_equal(graft_model_class_at(model, "model.layers.0.mlp.experts.0"), "MoeMLP");
    assert_memory_equal(plain, patched, sizeof plain);
    graft_model_free(model);
    refused(graft_library_register_plugin(library, &bundle, &error), GRAFT_ERROR_PLUGIN, "sequential_experts",
            "the plugin id \"sequential_experts\" is already used by a plugin registered by a call");
    assert_int_equal(inits, 1);
    assert_int_equal(deinits, 0);
    graft_library_free(library);
    library = NULL;
    assert_int_equal(deinits, 1);
}

/* The descriptor is checked like that of a file, and a bad one leaves nothing behind. */
static void test_refused_bundles(void **state) {
    const struct graft_replacement bad = {
        .struct_size = sizeof bad, .key = GRAFT_KEY_PATTERN, .target = "(", .replacement = &first_mlp};
    (void)state;
    bundle = plugin;
    refused(graft_library_register_plugin(library, NULL, &error), GRAFT_ERROR_PLUGIN, "plugin", "got NULL");
    bundle.abi_minor_needed = GRAFT_ABI_MINOR + 1;
    refused(graft_library_register_plugin(library, &bundle, &error), GRAFT_ERROR_PLUGIN, "plugin", "abi_minor_needed");
    bundle = plugin;
    bundle.replacements = &bad;
    refused(graft_library_register_plugin(library, &bundle, &error), GRAFT_ERROR_PLUGIN, "sequential_experts",
            "replacements[0].target");
    bundle = plugin;
    bundle.init = fail_init;
    bundle.deinit = count_deinit;
    refused(graft_library_register_plugin(library, &bundle, &error), GRAFT_ERROR_PLUGIN, "sequential_experts",
            "init failed: init: no such processor");
    assert_int_equal(deinits, 0);
    check(graft_library_register_plugin(library, &plugin, &error));
}

/* Every allocation fails in turn: then nothing is registered. */
static void test_bundle_out_of_memory(void **state) {
    (void)state;
    bundle = plugin;
    bundle.init = count_init;
    bundle.deinit = count_deinit;
    for (long i = 1, failed = 1; failed; i++) {
        (void)graft_alloc_fail_at(i);
        failed = graft_library_register_plugin(library, &bundle, &error) != GRAFT_OK;
        (void)graft_alloc_fail_at(0);
        assert_int_equal(inits - deinits, !failed);
    }
}

/* Two bundles replace the same module: the first one wins, and both win over plugins from files. */
static void test_order_of_bundles(void **state) {
    static const struct graft_replacement replacements_of_two[] = {
        {.struct_size = sizeof replacements_of_two[0],
         .key = GRAFT_KEY_PATTERN,
         .target = "^LlamaMLP$",
         .replacement = &first_mlp},
        {.struct_size = sizeof replacements_of_two[0],
         .key = GRAFT_KEY_NAME,
         .target = "LlamaMLP",
         .replacement = &second_mlp},
    };
    static float logits[MAX_LOGITS];
    struct graft_model_options options = {.struct_size = sizeof options};
    (void)state;
    bundle = two = plugin;
    bundle.id = "one";
    two.id = "two";
    bundle.replacements = &replacements_of_two[0];
    two.replacements = &replacements_of_two[1];
    check(graft_library_register_plugin(library, &bundle, &error));
    check(graft_library_register_plugin(library, &two, &error));
    struct graft_model *model = run("llama", &options, logits);
    assert_string_equal(graft_model_class_at(model, "model.layers.0.mlp"), "FirstMLP");
    graft_model_free(model);
}

static int calls;

static int count_attention(const struct graft_attention_implementation *self, const struct graft_call *call,
                           const struct graft_attention_input *input, struct graft_error *failure) {
    (void)self, (void)call, (void)failure;
    calls++;
    memset(input->output, 0, (size_t)(TOKENS * input->output_stride) * sizeof(float));
    return GRAFT_OK;
}

static int count_experts(const struct graft_experts_implementation *self, const struct graft_call *call,
                         const struct graft_experts_input *input, struct graft_error *failure) {
    (void)self, (void)call, (void)failure;
    calls++;
    memset(input->output, 0, (size_t)(input->tokens * input->hidden_size) * sizeof(float));
    return GRAFT_OK;
}

/* Implementations registered one by one, used when they are requested. */
static void test_implementations(void **state) {
    static float logits[MAX_LOGITS];
    static const struct graft_attention_implementation attention = {.struct_size = sizeof attention,
                                                                    .name = "mine",
                                                                    .masks = GRAFT_ATTENTION_MASK_CAUSAL,
                                                                    .forward = count_attention};
    static const struct graft_experts_implementation experts = {
        .struct_size = sizeof experts, .name = "mine", .forward = count_experts};
    struct graft_attention_implementation bad = attention, taken = attention;
    struct graft_model_options options = {.struct_size = sizeof options, .attn_implementation = "mine"};
    (void)state;
    bad.masks = 0;
    taken.name = "sdpa";
    refused(graft_library_add_attention(library, &bad, &error), GRAFT_ERROR_USAGE, "program",
            "attention_implementations[0].masks");
    refused(graft_library_add_attention(library, NULL, &error), GRAFT_ERROR_USAGE, "program", "got NULL");
    refused(graft_library_add_experts(library, NULL, &error), GRAFT_ERROR_USAGE, "program", "got NULL");
    refused(graft_library_add_attention(library, &taken, &error), GRAFT_ERROR_PLUGIN, "program",
            "attention implementation \"sdpa\": there is already one with that name in the host");
    check(graft_library_add_attention(library, &attention, &error));
    check(graft_library_add_attention(library, &attention, &error));
    check(graft_library_add_experts(library, &experts, &error));
    calls = 0;
    graft_model_free(run("mixtral", &options, logits));
    int layers = calls;
    assert_true(layers > 0);
    options = (struct graft_model_options){.struct_size = sizeof options, .experts_implementation = "mine"};
    calls = 0;
    graft_model_free(run("mixtral", &options, logits));
    assert_int_equal(calls, layers);
}

static const struct graft_attention_implementation own_attention = {.struct_size = sizeof own_attention,
                                                                    .name = "own",
                                                                    .masks = GRAFT_ATTENTION_MASK_CAUSAL,
                                                                    .forward = count_attention};

/* Calls what it replaces with an attention of its own choice. */
static int choose_attention(void *self, const struct graft_call *call, const struct graft_self_attention_args *args,
                            struct graft_error *failure) {
    struct graft_call changed = *call;
    changed.attention = &own_attention;
    return graft_self_attention_forward(self, &changed, args, failure);
}

/* A class may choose the attention, unless the user has: then its choice is not run, nor silently missing from a
 * record. */
static void test_own_choice(void **state) {
    static const struct graft_self_attention vtable = {.struct_size = sizeof vtable, .forward = choose_attention};
    static const struct graft_class cls = {.struct_size = sizeof cls,
                                           .flags = GRAFT_CLASS_CALLS_SUPER,
                                           .name = "ChoosingAttention",
                                           .interface_id = GRAFT_INTERFACE_SELF_ATTENTION,
                                           .forward = &vtable};
    static const struct graft_replacement of = {
        .struct_size = sizeof of, .key = GRAFT_KEY_NAME, .target = "LlamaAttention", .replacement = &cls};
    static float logits[MAX_LOGITS];
    static const int32_t ids[TOKENS] = {5, 7, 11, 13};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};
    struct graft_model_options options = {.struct_size = sizeof options};
    struct graft_recording *recording = NULL;
    (void)state;
    bundle = plugin;
    bundle.replacements = &of;
    bundle.n_replacements = 1;
    check(graft_library_register_plugin(library, &bundle, &error));
    calls = 0;
    struct graft_model *model = run("llama", &options, logits);
    assert_true(calls > 0);
    refused(graft_model_record(model, &prompt, 1, GRAFT_RECORD_ATTENTIONS, &recording, &error), GRAFT_ERROR_PLUGIN,
            "own", "in the place of eager, which was asked for");
    check(graft_model_record(model, &prompt, 1, GRAFT_RECORD_HIDDEN_STATES, &recording, &error));
    graft_recording_free(recording);
    graft_model_free(model);
    options.attn_implementation = "sdpa";
    calls = 0;
    model = open_golden("llama", &options);
    refused(graft_model_logits(model, &prompt, 1, logits, &error), GRAFT_ERROR_PLUGIN, "own",
            "in the place of sdpa, which was asked for");
    assert_int_equal(calls, 0);
    graft_model_free(model);
}

static int create_nothing(const struct graft_class *self, const struct graft_build *build, void **instance,
                          struct graft_error *failure) {
    (void)self, (void)build, (void)failure;
    *instance = &calls;
    return GRAFT_OK;
}

static int count_mlp(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                     struct graft_error *failure) {
    (void)self, (void)call, (void)args, (void)failure;
    calls++;
    return GRAFT_OK;
}

/* A kernel takes effect only in a model that is opened with its name. */
static void test_kernel(void **state) {
    static const struct graft_mlp vtable = {.struct_size = sizeof vtable, .forward = count_mlp};
    static float plain[MAX_LOGITS], logits[MAX_LOGITS];
    static const char *const names[] = {"quick"};
    const struct graft_class cls = {.struct_size = sizeof cls,
                                    .name = "QuickMLP",
                                    .interface_id = GRAFT_INTERFACE_MLP,
                                    .create = create_nothing,
                                    .forward = &vtable};
    struct graft_replacement of = {
        .struct_size = sizeof of, .key = GRAFT_KEY_NAME, .target = "LlamaMLP", .replacement = &cls};
    const struct graft_kernel_override kernel = {sizeof kernel, 0, names[0], &of};
    struct graft_model_options options = {.struct_size = sizeof options};
    (void)state;
    of.key = GRAFT_KEY_PATTERN;
    refused(graft_library_add_kernel(library, &kernel, &error), GRAFT_ERROR_USAGE, "program",
            "kernels[0].replacement.key");
    of.key = GRAFT_KEY_NAME;
    check(graft_library_add_kernel(library, &kernel, &error));
    check(graft_library_add_kernel(library, &kernel, &error));
    calls = 0;
    graft_model_free(run("llama", &options, plain));
    assert_int_equal(calls, 0);
    options.kernels = names;
    options.n_kernels = 1;
    struct graft_model *model = run("llama", &options, logits);
    assert_true(calls > 0);
    assert_string_equal(graft_model_class_at(model, "model.layers.0.mlp"), "QuickMLP");
    graft_model_free(model);
}

/* Forbids all but one token, which the program chose. */
static int allow_one(void *state, const struct graft_logits_args *args, struct graft_error *failure) {
    (void)state, (void)failure;
    calls++;
    for (int64_t i = 0; i < args->vocab_size; i++) {
        args->scores[i] = i == 42 ? 0.0F : -INFINITY;
    }
    return GRAFT_OK;
}

static int expect_42(void *data, size_t sequence, int32_t id, int last, struct graft_error *failure) {
    (void)data, (void)sequence, (void)last, (void)failure;
    assert_int_equal(id, 42);
    return GRAFT_OK;
}

/* A logits processor runs once for each token if the settings name it. */
static void test_logits_processor(void **state) {
    static const int32_t ids[] = {5, 7};
    static const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = 2};
    static const char *const names[] = {"one", "other"};
    static struct graft_logits_processor processor = {
        .struct_size = sizeof processor, .name = "one", .process = allow_one};
    struct graft_model_options options = {.struct_size = sizeof options};
    struct graft_generation generation = {.struct_size = sizeof generation};
    (void)state;
    refused(graft_library_add_logits_processor(library, &processor, &error), GRAFT_ERROR_USAGE, "program",
            "logits_processors[0].interface_id");
    processor.interface_id = GRAFT_INTERFACE_LOGITS_PROCESSOR;
    check(graft_library_add_logits_processor(library, &processor, &error));
    check(graft_library_add_logits_processor(library, &processor, &error));
    struct graft_model *model = open_golden("llama", &options);
    graft_model_generation(model, &generation);
    generation.max_new_tokens = 3;
    generation.logits_processors = names;
    generation.n_logits_processors = 1;
    calls = 0;
    check(graft_model_generate(model, &prompt, 1, &generation, expect_42, NULL, &error));
    assert_int_equal(calls, 3);
    generation.n_logits_processors = 2;
    refused(graft_model_generate(model, &prompt, 1, &generation, expect_42, NULL, &error), GRAFT_ERROR_USAGE,
            "logits_processors", "there is no logits processor \"other\"; known: one");
    graft_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bundle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_bundles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bundle_out_of_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_order_of_bundles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_implementations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_own_choice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kernel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_logits_processor, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
