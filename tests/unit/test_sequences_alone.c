/* SPDX-License-Identifier: Apache-2.0 */
/* A sequence gets the same as alone, to the bit of every logit, whatever other sequences run at the same time and share
 * forwards with its prompt: for models of all kinds, and with classes of plugins. */
#include "sequences_fixture.h"

enum { MOST_PLUGINS = 2 };

/* A model, and the plugins that replace its classes. */
struct with {
    const char *plugins[MOST_PLUGINS]; /* directories under GRAFT_PLUGINS */
    const char *root;                  /* the variable that has the folder of `model` */
    const char *model;
    int32_t precision;
    int takes_over; /* as of same_alone */
    const char *experts;
    const char *quantize;
};

static struct graft_library *load_plugins(const char *const *plugins) {
    struct graft_library *library = new_library();
    char paths[MOST_PLUGINS][512];
    const char *directories[MOST_PLUGINS];
    int32_t n = 0;
    for (; n < MOST_PLUGINS && plugins[n] != NULL; n++) {
        (void)snprintf(paths[n], sizeof paths[n], "%s/%s", getenv("GRAFT_PLUGINS"), plugins[n]);
        directories[n] = paths[n];
    }
    check(graft_library_load_plugins(library, directories, (size_t)n, NULL, &error));
    return library;
}

static void same_with(const struct with *with) {
    struct graft_library *library = load_plugins(with->plugins);
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", getenv(with->root), with->model);
    const struct graft_model_options options = {.struct_size = sizeof options,
                                                .precision = with->precision,
                                                .experts_implementation = with->experts,
                                                .quantize = with->quantize};
    struct graft_model *model = open_with(library, path, &options);
    print_message("%s %s\n", with->model, with->plugins[0] != NULL ? with->plugins[0] : "");
    same_alone(model, NULL, 0, with->takes_over);
    graft_model_free(model);
    graft_library_free(library);
}

static void all_same(const struct with *with, size_t n) {
    for (size_t i = 0; i < n; i++) {
        same_with(&with[i]);
    }
}

#define ALL_SAME(cases) all_same(cases, sizeof(cases) / sizeof((cases)[0]))
#define GOLDENS .root = "GRAFT_TEST_GOLDENS"
#define FAMILIES .root = "GRAFT_PLUGINS"
#define EXACT .precision = GRAFT_PRECISION_FLOAT32

static void test_dense(void **state) {
    static const struct with cases[] = {
        {GOLDENS, .model = "plain/llama", EXACT, .takes_over = 1},
        {GOLDENS, .model = "plain/llama_bf16", .takes_over = 1},
        {GOLDENS, .model = "plain/mistral_sliding", EXACT, .takes_over = 1},
        {GOLDENS, .model = "plain/llama_rope_dynamic_growing", EXACT},
        {GOLDENS, .model = "plain/deepseek_v3_bf16", .takes_over = 1},
        {GOLDENS, .model = "plain/deepseek_v3", EXACT},
        {GOLDENS, .model = "types/llama4_text", EXACT},
        {GOLDENS, .model = "types/jetmoe", EXACT},
    };
    (void)state;
    ALL_SAME(cases);
}

/* Stacked experts, listed ones, and each experts implementation. */
static void test_experts(void **state) {
    static const struct with cases[] = {
        {GOLDENS, .model = "plain/qwen2_moe_bf16", .takes_over = 1},
        {GOLDENS, .model = "plain/qwen2_moe", EXACT, .takes_over = 1},
        {GOLDENS, .model = "plain/qwen2_moe_bf16", .takes_over = 1, .experts = "eager"},
        {GOLDENS, .model = "plain/qwen2_moe_bf16", .takes_over = 1, .experts = "batched_mm"},
        {{"sequential_experts"}, GOLDENS, .model = "plain/qwen2_moe_bf16", .takes_over = 1},
        {{"sequential_experts"}, GOLDENS, .model = "plain/qwen2_moe", EXACT, .takes_over = 1},
    };
    (void)state;
    ALL_SAME(cases);
}

static void test_quantized(void **state) {
    static const struct with cases[] = {
        {{"bitsandbytes"}, GOLDENS, .model = "plain/qwen2_moe_bf16", .takes_over = 1, .quantize = "nf4+head"},
        {{"compressed_tensors"}, GOLDENS, .model = "plain/qwen2_moe_bf16", .takes_over = 1, .quantize = "int8+head"},
        {{"compressed_tensors"}, GOLDENS, .model = "plain/qwen2_moe", EXACT, .takes_over = 1, .quantize = "int8"},
        {{"gptq"}, GOLDENS, .model = "quantized/gptq_int4_qwen2_moe", .takes_over = 1},
        {{"fp8"}, GOLDENS, .model = "quantized/fp8_block_qwen3_moe", .takes_over = 1},
        {{"mxfp4"}, GOLDENS, .model = "quantized/mxfp4_gpt_oss", .takes_over = 1},
    };
    (void)state;
    ALL_SAME(cases);
}

/* Models with states, which can be shared only at the places where they are kept. */
static void test_families(void **state) {
    static const struct with cases[] = {
        {GOLDENS, .model = "plain/mamba2", EXACT},
        {GOLDENS, .model = "plain/qwen3_next_bias_bf16"},
    };
    (void)state;
    ALL_SAME(cases);
}

/* Each sequence has an adapter of its own, or none. */
static void adapted(const char *base, const char *one, const char *two, const char *also, const char *quantize) {
    const char *const plugins[MOST_PLUGINS] = {"lora", also};
    const char *const adapters[] = {"one", "two", GRAFT_BASE_MODEL};
    struct graft_library *library = load_plugins(plugins);
    char path[512], directories[2][600];
    (void)snprintf(path, sizeof path, "%s/goldens/lora/%s", getenv("GRAFT_TEST_DATA"), base);
    (void)snprintf(directories[0], sizeof directories[0], "%s/adapters/%s", path, one);
    (void)snprintf(directories[1], sizeof directories[1], "%s/adapters/%s", path, two);
    const struct graft_adapter_options given[] = {
        {.struct_size = sizeof given[0], .name = "one", .directory = directories[0], .scale = 1.0},
        {.struct_size = sizeof given[0], .name = "two", .directory = directories[1], .scale = 1.0},
    };
    const struct graft_model_options options = {.struct_size = sizeof options,
                                                .adapters = given,
                                                .n_adapters = 2,
                                                .adapter_stride = sizeof given[0],
                                                .quantize = quantize};
    struct graft_model *model = open_with(library, path, &options);
    print_message("%s %s %s\n", base, one, two);
    same_alone(model, adapters, 3, 0);
    graft_model_free(model);
    graft_library_free(library);
}

static void test_adapters(void **state) {
    (void)state;
    adapted("llama", "attention_r8", "patterns_rslora", NULL, NULL);
    adapted("llama", "head_saved", "embedding", NULL, NULL);
    adapted("qwen2_moe", "every_expert", "attention_shared", NULL, NULL);
    adapted("qwen2_moe", "every_expert", "attention_shared", "sequential_experts", NULL);
    adapted("qwen2_moe", "attention_shared", "attention_shared", "compressed_tensors", "int8");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),    cmocka_unit_test(test_experts),  cmocka_unit_test(test_quantized),
        cmocka_unit_test(test_families), cmocka_unit_test(test_adapters),
    };
    error = graft_error_none();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
