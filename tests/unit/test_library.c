/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the library as a program does, with public headers only. */
#include "graft/host/graft.h"
#include "graft/host/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graft/host/model.h"
#include "graft/host/registry.h"
#include "graft/mlp.h"

enum { MOST_TOKENS = 64 };

static struct graft_library *library;
static struct graft_error error;

static int set_up(void **state) {
    (void)state;
    error = graft_error_none();
    return graft_library_create(&library, &error);
}

static int tear_down(void **state) {
    (void)state;
    graft_library_free(library);
    return 0;
}

static const char *golden(const char *name) {
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/goldens/%s", getenv("GRAFT_TEST_DATA"), name);
    return path;
}

static struct graft_model *open_model(const char *name) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    struct graft_model *model = NULL;
    if (graft_model_open(library, golden(name), &options, &model, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    return model;
}

static struct graft_model *load_model(const char *name) {
    struct graft_model *model = open_model(name);
    if (graft_model_load(model, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    return model;
}

/* The events of a generation. */
struct told {
    int32_t ids[2][MOST_TOKENS];
    size_t count[2];
    int ended[2];
    size_t stop_at; /* tokens of sequence 0 after which the sink fails; 0: never */
};

static int tell(void *data, size_t sequence, int32_t id, int last, struct graft_error *failure) {
    struct told *told = data;
    assert_in_range(sequence, 0, 1);
    assert_in_range(told->count[sequence], 0, MOST_TOKENS - 1);
    assert_false(told->ended[sequence]);
    told->ids[sequence][told->count[sequence]++] = id;
    told->ended[sequence] = last;
    if (told->stop_at > 0 && told->count[0] == told->stop_at) {
        return graft_error_set(failure, GRAFT_ERROR_IO, "sink", "enough");
    }
    return GRAFT_OK;
}

static const int32_t first_ids[] = {12, 77, 301, 5};
static const int32_t second_ids[] = {400, 2};
static const struct graft_prompt prompts[] = {{.struct_size = sizeof prompts[0], .ids = first_ids, .count = 4},
                                              {.struct_size = sizeof prompts[0], .ids = second_ids, .count = 2}};

static int32_t largest(const float *row, int64_t count) {
    int32_t best = 0;
    for (int32_t i = 1; i < count; i++) {
        best = row[i] > row[best] ? i : best;
    }
    return best;
}

/* Each greedy token has the largest logit after the tokens before it, in a batch as alone. */
static void test_generate(void **state) {
    struct told told = {0};
    struct graft_generation generation = {.struct_size = sizeof generation};
    struct graft_model *model = load_model("plain/llama");
    int64_t vocab_size = graft_model_vocab_size(model);
    float *logits = malloc(sizeof(float) * MOST_TOKENS * (size_t)vocab_size);
    (void)state;
    graft_model_generation(model, &generation);
    generation.max_new_tokens = 6;
    generation.ignore_eos = 1;
    assert_int_equal(graft_model_generate(model, prompts, 2, &generation, tell, &told, &error), GRAFT_OK);
    for (size_t s = 0; s < 2; s++) {
        int32_t ids[MOST_TOKENS];
        assert_int_equal(told.count[s], 6);
        assert_true(told.ended[s]);
        memcpy(ids, prompts[s].ids, prompts[s].count * sizeof ids[0]);
        memcpy(ids + prompts[s].count, told.ids[s], 6 * sizeof ids[0]);
        const struct graft_prompt whole = {.struct_size = sizeof whole, .ids = ids, .count = prompts[s].count + 6};
        assert_int_equal(graft_model_logits(model, &whole, 1, logits, &error), GRAFT_OK);
        for (size_t i = 0; i < 6; i++) {
            const float *row = logits + (int64_t)(prompts[s].count - 1 + i) * vocab_size;
            assert_int_equal(told.ids[s][i], largest(row, vocab_size));
        }
    }
    free(logits);
    graft_model_free(model);
}

static void test_limits(void **state) {
    struct told none = {0}, some = {.stop_at = 3};
    struct graft_generation generation = {.struct_size = sizeof generation};
    struct graft_model *model = load_model("plain/llama");
    (void)state;
    graft_model_generation(model, &generation);
    generation.max_new_tokens = 0;
    assert_int_equal(graft_model_generate(model, prompts, 2, &generation, tell, &none, &error), GRAFT_OK);
    assert_int_equal(none.count[0] + none.count[1], 0);
    generation.max_new_tokens = 10;
    generation.ignore_eos = 1;
    assert_int_equal(graft_model_generate(model, prompts, 2, &generation, tell, &some, &error), GRAFT_ERROR_IO);
    assert_string_equal(error.message, "enough");
    assert_int_equal(some.count[0], 3);
    graft_model_free(model);
}

/* A token comes with the model's logits, before processors changed them, and with the reason for its end. */
struct tokens {
    int64_t vocab_size;
    int32_t ids[MOST_TOKENS];
    int32_t ends[MOST_TOKENS];
    float *rows; /* [MOST_TOKENS, vocab_size] */
    size_t count;
};

static int keep_token(void *data, const struct graft_sequence_token *token, struct graft_error *failure) {
    struct tokens *tokens = data;
    (void)failure;
    assert_in_range(tokens->count, 0, MOST_TOKENS - 1);
    assert_int_equal(token->sequence, 0);
    assert_non_null(token->logits);
    memcpy(tokens->rows + (int64_t)tokens->count * tokens->vocab_size, token->logits,
           (size_t)tokens->vocab_size * sizeof(float));
    tokens->ids[tokens->count] = token->id;
    tokens->ends[tokens->count++] = token->end;
    return GRAFT_OK;
}

static void test_tokens(void **state) {
    enum { NEW = 4 };
    struct graft_generation generation = {.struct_size = sizeof generation};
    struct graft_model *model = load_model("plain/llama");
    int64_t vocab_size = graft_model_vocab_size(model);
    float *rows = malloc(sizeof(float) * MOST_TOKENS * (size_t)vocab_size);
    float *logits = malloc(sizeof(float) * MOST_TOKENS * (size_t)vocab_size);
    struct tokens tokens = {.vocab_size = vocab_size, .rows = rows};
    int32_t ids[4 + NEW];
    int others = 0;
    (void)state;
    graft_model_generation(model, &generation);
    generation.max_new_tokens = NEW;
    generation.ignore_eos = 1;
    generation.do_sample = 1;
    generation.temperature = 50.0;
    generation.top_k = 0;
    generation.repetition_penalty = 3.0;
    generation.seed = 7;
    assert_int_equal(graft_model_generate_tokens(model, prompts, 1, &generation, keep_token, &tokens, &error),
                     GRAFT_OK);
    assert_int_equal(tokens.count, NEW);
    memcpy(ids, first_ids, sizeof first_ids);
    memcpy(ids + 4, tokens.ids, sizeof(int32_t) * NEW);
    const struct graft_prompt all = {.struct_size = sizeof all, .ids = ids, .count = 4 + NEW};
    assert_int_equal(graft_model_logits(model, &all, 1, logits, &error), GRAFT_OK);
    for (int64_t i = 0; i < NEW; i++) {
        const float *row = rows + i * vocab_size, *wanted = logits + (3 + i) * vocab_size;
        for (int64_t j = 0; j < vocab_size; j++) {
            assert_true(row[j] - wanted[j] < 5e-5F && wanted[j] - row[j] < 5e-5F);
        }
        others += largest(wanted, vocab_size) != tokens.ids[i];
        assert_int_equal(tokens.ends[i], i + 1 < NEW ? GRAFT_SEQUENCE_RUNNING : GRAFT_SEQUENCE_COMPLETE);
    }
    assert_true(others > 0); /* the choice was not the model's own */
    free(rows);
    free(logits);
    graft_model_free(model);
}

/* The events that a sink received. */
struct progress {
    int64_t calls;
    int64_t done;
    int64_t total;
};

static void keep_progress(void *data, int32_t what, int64_t done, int64_t total) {
    struct progress *progress = (struct progress *)data + what;
    assert_true(what == GRAFT_PROGRESS_LOAD || what == GRAFT_PROGRESS_PROMPT);
    assert_true(done > progress->done && done <= total);
    assert_true(progress->total == 0 || progress->total == total);
    *progress = (struct progress){progress->calls + 1, done, total};
}

/* Each forward reports how far prompts have been read. */
static void test_progress(void **state) {
    enum { TOKENS = 100 };
    struct progress progress[3] = {{0}};
    struct told told = {0};
    struct graft_generation generation = {.struct_size = sizeof generation};
    int32_t ids[TOKENS];
    for (int32_t i = 0; i < TOKENS; i++) {
        ids[i] = (7 * i + (i % 5)) % 500;
    }
    const struct graft_prompt two[] = {{.struct_size = sizeof two[0], .ids = ids, .count = TOKENS},
                                       {.struct_size = sizeof two[0], .ids = ids + 1, .count = TOKENS - 1}};
    (void)state;
    graft_progress_set_sink(keep_progress, progress);
    struct graft_model *model = load_model("plain/llama");
    assert_int_equal(progress[GRAFT_PROGRESS_LOAD].calls, 0); /* its weights are mapped */
    graft_model_generation(model, &generation);
    generation.max_new_tokens = 2;
    generation.ignore_eos = 1;
    assert_int_equal(graft_model_generate(model, two, 2, &generation, tell, &told, &error), GRAFT_OK);
    assert_true(progress[GRAFT_PROGRESS_PROMPT].calls > 0);
    assert_int_equal(progress[GRAFT_PROGRESS_PROMPT].done, 2 * TOKENS - 1);
    assert_int_equal(progress[GRAFT_PROGRESS_PROMPT].total, 2 * TOKENS - 1);
    graft_progress_set_sink(NULL, NULL);
    told = (struct told){0};
    int64_t calls = progress[GRAFT_PROGRESS_PROMPT].calls;
    assert_int_equal(graft_model_generate(model, two, 2, &generation, tell, &told, &error), GRAFT_OK);
    assert_int_equal(progress[GRAFT_PROGRESS_PROMPT].calls, calls);
    graft_model_free(model);
}

/* A program built with an older header, or with a newer one. */
static void test_other_sizes(void **state) {
    struct {
        struct graft_generation known;
        int64_t more;
    } larger = {.known.struct_size = sizeof larger, .more = 1}, smaller = larger;
    struct told told = {0}, again = {0};
    struct graft_model *model = load_model("plain/llama");
    (void)state;
    graft_model_generation(model, &larger.known);
    assert_int_equal(larger.known.struct_size, sizeof larger.known);
    assert_int_equal(larger.more, 0);
    smaller.known.struct_size = offsetof(struct graft_generation, speculate);
    smaller.known.speculate = 7;
    graft_model_generation(model, &smaller.known);
    assert_int_equal(smaller.known.speculate, 7);
    smaller.known.struct_size = sizeof smaller.known;
    graft_model_generation(model, &smaller.known);
    smaller.known.max_new_tokens = larger.known.max_new_tokens = 2;
    larger.known.struct_size = sizeof larger;
    assert_int_equal(graft_model_generate(model, prompts, 1, &smaller.known, tell, &told, &error), GRAFT_OK);
    assert_int_equal(graft_model_generate(model, prompts, 1, &larger.known, tell, &again, &error), GRAFT_OK);
    smaller.known.struct_size = 8;
    assert_int_equal(graft_model_generate(model, prompts, 1, &smaller.known, tell, &told, NULL), GRAFT_ERROR_USAGE);
    graft_model_free(model);
}

static void test_misuse(void **state) {
    struct told told = {0};
    struct graft_model *model = NULL;
    float logit;
    (void)state;
    assert_int_equal(graft_model_open(library, golden("no_such_model"), NULL, &model, &error), GRAFT_ERROR_MODEL);
    assert_null(model);
    assert_non_null(strstr(error.source, "no_such_model"));
    model = open_model("plain/llama");
    error = graft_error_none();
    assert_int_equal(graft_model_generate(model, prompts, 1, NULL, tell, &told, &error), GRAFT_ERROR_USAGE);
    assert_int_equal(graft_model_logits(model, prompts, 1, &logit, NULL), GRAFT_ERROR_USAGE);
    assert_int_equal(graft_model_load(model, NULL), GRAFT_OK);
    assert_int_equal(graft_model_load(model, NULL), GRAFT_ERROR_USAGE);
    assert_int_equal(graft_model_generate(model, prompts, 0, NULL, tell, &told, NULL), GRAFT_ERROR_USAGE);
    assert_int_equal(told.count[0], 0);
    error = graft_error_none();
    assert_int_equal(graft_model_save(model, "", NULL, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.source, "directory");
    graft_model_free(model);
    assert_int_equal(graft_model_open(library, "", NULL, &model, NULL), GRAFT_ERROR_USAGE);
    graft_library_free(NULL);
    graft_model_free(NULL);
}

static void test_classes(void **state) {
    struct graft_model *model = open_model("plain/qwen2_moe");
    (void)state;
    assert_string_equal(graft_model_class_at(model, ""), "Qwen2MoeForCausalLM");
    assert_string_equal(graft_model_class_at(model, "model.layers"), "ModuleList");
    assert_string_equal(graft_model_class_at(model, "model.layers.1.mlp.experts"), "Qwen2MoeExperts");
    assert_null(graft_model_class_at(model, "model.layers.99"));
    assert_null(graft_model_note(model, 0));
    graft_model_free(model);
}

/* A class of the program, which calls the original and counts. */
static int calls;

static int counting_forward(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                            struct graft_error *failure) {
    calls++;
    return graft_mlp_forward(self, call, args, failure);
}

static const struct graft_mlp counting_vtable = {.struct_size = sizeof counting_vtable, .forward = counting_forward};
static const struct graft_class counting = {.struct_size = sizeof counting,
                                            .flags = GRAFT_CLASS_CALLS_SUPER,
                                            .name = "CountingMLP",
                                            .interface_id = GRAFT_INTERFACE_MLP,
                                            .forward = &counting_vtable};
static const struct graft_patch replace_mlp = {
    .struct_size = sizeof replace_mlp, .key = "LlamaMLP", .replacement = &counting};

static void test_own_replacement(void **state) {
    struct graft_model *before = load_model("plain/llama");
    size_t bytes = (size_t)graft_model_vocab_size(before) * 6 * sizeof(float);
    float *expected = malloc(bytes);
    float *got = malloc(bytes);
    (void)state;
    assert_int_equal(graft_library_register(library, &replace_mlp, 1, 0, &error), GRAFT_OK);
    struct graft_model *after = load_model("plain/llama");
    assert_string_equal(graft_model_class_at(before, "model.layers.0.mlp"), "LlamaMLP");
    assert_string_equal(graft_model_class_at(after, "model.layers.0.mlp"), "CountingMLP");
    calls = 0;
    assert_int_equal(graft_model_logits(before, prompts, 2, expected, &error), GRAFT_OK);
    assert_int_equal(calls, 0);
    assert_int_equal(graft_model_logits(after, prompts, 2, got, &error), GRAFT_OK);
    assert_int_equal(calls, 2); /* layers */
    assert_memory_equal(got, expected, bytes);
    free(expected);
    free(got);
    graft_model_free(before);
    graft_model_free(after);
}

/* Classes that a program registers are checked like those of plugins. */
static void test_bad_replacement(void **state) {
    static const struct graft_class empty = {
        .struct_size = sizeof empty, .name = "Empty", .interface_id = GRAFT_INTERFACE_MLP};
    const struct graft_patch bad = {.struct_size = sizeof bad, .key = "LlamaMLP", .replacement = &empty};
    const struct graft_patch none = {.struct_size = sizeof none, .key = "LlamaMLP"};
    (void)state;
    assert_int_not_equal(graft_library_register(library, &bad, 1, 0, &error), GRAFT_OK);
    assert_int_not_equal(graft_library_register(library, &none, 1, 0, NULL), GRAFT_OK);
    struct graft_model *model = open_model("plain/llama");
    assert_string_equal(graft_model_class_at(model, "model.layers.0.mlp"), "LlamaMLP");
    graft_model_free(model);
}

static int has_note(const struct graft_model *model, const char *words) {
    for (size_t i = 0; graft_model_note(model, i) != NULL; i++) {
        if (strstr(graft_model_note(model, i), words) != NULL) {
            return 1;
        }
    }
    return 0;
}

/* A plugin that has nothing to do gets a note; plugins are not loaded twice, nor while a model is open. */
static void test_plugins(void **state) {
    const char *directory = getenv("GRAFT_PLUGINS");
    (void)state;
    assert_int_equal(graft_library_load_plugins(library, &directory, 1, NULL, &error), GRAFT_OK);
    struct graft_model *llama = open_model("plain/llama");
    assert_string_equal(graft_model_class_at(llama, "model.layers.0.self_attn"), "LlamaFusedAttention");
    assert_true(has_note(llama, "sequential_experts"));
    assert_int_equal(graft_library_load_plugins(library, &directory, 1, NULL, &error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "while models are open (1)"));
    graft_model_free(llama);
    error = graft_error_none();
    assert_int_equal(graft_library_load_plugins(library, &directory, 1, NULL, &error), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "is already used by"));
}

static int load_one(const char *name, const char *allow) {
    char directory[1024];
    const char *directories[] = {directory};
    const struct graft_library_options options = {
        .struct_size = sizeof options, .allow = &allow, .n_allow = allow != NULL};
    error = graft_error_none();
    (void)snprintf(directory, sizeof directory, "%s/%s", getenv("GRAFT_PLUGINS"), name);
    return graft_library_load_plugins(library, directories, 1, &options, &error);
}

/* Loads folder after folder: plugins stay, their order continues, and a load that fails adds nothing. */
static void test_more_plugins(void **state) {
    (void)state;
    assert_int_equal(load_one("fused_qkv", "fused_qkv"), GRAFT_OK);
    const struct graft_plugin_info *first = graft_library_plugin(library, 0);
    assert_int_equal(load_one("quanto", "sequential_experts"), GRAFT_ERROR_PLUGIN);
    assert_int_equal(load_one("sequential_experts", "sequential_experts"), GRAFT_OK);
    assert_int_equal(load_one("fused_qkv", NULL), GRAFT_ERROR_PLUGIN);
    assert_ptr_equal(graft_library_plugin(library, 0), first);
    assert_string_equal(first->descriptor->id, "fused_qkv");
    assert_int_equal(first->rank, 1);
    assert_string_equal(graft_library_plugin(library, 1)->descriptor->id, "sequential_experts");
    assert_int_equal(graft_library_plugin(library, 1)->rank, 2);
    assert_null(graft_library_plugin(library, 2));
    error = graft_error_none();
    struct graft_model *llama = open_model("plain/llama");
    assert_string_equal(graft_model_class_at(llama, "model.layers.0.self_attn"), "LlamaFusedAttention");
    assert_true(has_note(llama, "sequential_experts"));
    graft_model_free(llama);
}

/* Prompts of a later version of the headers, with fields unknown here; and invalid elements. */
static void test_strides(void **state) {
    struct later {
        struct graft_prompt prompt;
        char more[24];
    } later[2];
    const size_t tokens = prompts[0].count + prompts[1].count;
    struct graft_model *model = load_model("plain/llama");
    const size_t bytes = tokens * (size_t)graft_model_vocab_size(model) * sizeof(float);
    float *plain = malloc(bytes), *strided = malloc(bytes);
    (void)state;
    memset(later, 0xff, sizeof later);
    for (size_t i = 0; i < 2; i++) {
        later[i].prompt = prompts[i];
        later[i].prompt.struct_size = sizeof later[i];
    }
    assert_int_equal(graft_model_logits(model, prompts, 2, plain, &error), GRAFT_OK);
    assert_int_equal(graft_model_logits(model, &later[0].prompt, 2, strided, &error), GRAFT_OK);
    assert_memory_equal(plain, strided, bytes);
    later[1].prompt.struct_size = sizeof later[1].prompt;
    assert_int_equal(graft_model_logits(model, &later[0].prompt, 2, strided, &error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "struct_size of number 2"));
    error = graft_error_none();
    later[0].prompt.struct_size = 0;
    assert_int_equal(graft_model_logits(model, &later[0].prompt, 1, strided, &error), GRAFT_ERROR_USAGE);
    error = graft_error_none();
    free(plain);
    free(strided);
    graft_model_free(model);
}

/* Options that a program chooses for plugins; after a wrong choice nothing is loaded. */
static void test_plugin_options(void **state) {
    static const char *const wrong[] = {"compressed_tensors.activation_bits=9"};
    static const char *const right[] = {"compressed_tensors.activation_bits=8"};
    const char *directory = getenv("GRAFT_PLUGINS");
    struct graft_library_options options = {
        .struct_size = sizeof options, .plugin_options = wrong, .n_plugin_options = 1};
    const struct graft_plugin_info *plugin;
    size_t i = 0;
    (void)state;
    assert_int_equal(graft_library_load_plugins(library, &directory, 1, &options, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "compressed_tensors.activation_bits: expected one of 8, 16, got \"9\"");
    assert_null(graft_library_plugin(library, 0));
    error = graft_error_none();
    options.plugin_options = right;
    assert_int_equal(graft_library_load_plugins(library, &directory, 1, &options, &error), GRAFT_OK);
    while ((plugin = graft_library_plugin(library, i)) != NULL &&
           strcmp(plugin->descriptor->id, "compressed_tensors") != 0) {
        i++;
    }
    assert_non_null(plugin);
    assert_string_equal(plugin->options[0], "8");
}

/* The library stays usable after a directory without plugins, and after one that does not exist. */
static void test_no_plugins(void **state) {
    const char *absent = "/no/such/directory";
    (void)state;
    assert_int_equal(graft_library_load_plugins(library, &absent, 1, NULL, &error), GRAFT_ERROR_PLUGIN);
    graft_model_free(load_model("plain/llama"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_generate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_strides, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_more_plugins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tokens, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_progress, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_misuse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_classes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_own_replacement, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_replacement, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plugins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plugin_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_plugins, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
