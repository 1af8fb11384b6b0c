/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, loads, runs, compares and saves a model while each allocation fails in turn: the result is an error,
 * everything is freed, and the next attempt succeeds. The address sanitizer also finds leaks. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "failing.h"
#include "graft/host/graft.h"
#include "graft/host/model.h"
#include "graft/host/observe.h"
#include "kernels/threads.h"
#include "memory_folder.h"

static char folder[64]; /* folder for saved models */

static int ignore(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    (void)data, (void)sequence, (void)id, (void)last, (void)error;
    return GRAFT_OK;
}

static const int32_t ids[] = {3, 1, 4};
static const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = 3};

/* All built plugins; and those for the models of this test, since the number of allocations grows with each. */
static const char *all;
static char paths[4][512];
static const char *const needed[] = {paths[0], paths[1]};
static const char *const formats[] = {paths[2], paths[3]};

/* A model's directory, its plugins, and what to do with the loaded model. */
struct use {
    const char *directory;
    const char *const *plugins;
    size_t n_plugins;
    struct graft_library *library;             /* with them, where it outlives what is tried */
    const struct graft_model_options *options; /* NULL: none */
    int (*with)(const struct use *use, struct graft_library *library, struct graft_model *model,
                struct graft_error *error);
};

/* Beams, with lists that are copied. */
static int generate_with_fields(struct graft_model *model, struct graft_generation *generation,
                                struct graft_error *error) {
    static const char text[] = "{\"num_beams\": 2, \"num_return_sequences\": 2, \"bad_words_ids\": [[1], [2, 3]], "
                               "\"sequence_bias\": [[[4], 1.0]], \"suppress_tokens\": [5]}";
    struct graft_generation_fields *fields = NULL;
    int status = graft_generation_read(text, sizeof text - 1, "text", generation, &fields, error);
    if (status == GRAFT_OK) {
        status = graft_model_generate(model, &prompt, 1, generation, ignore, NULL, error);
    }
    graft_generation_fields_free(fields);
    return status;
}

static int generate(const struct use *use, struct graft_library *library, struct graft_model *model,
                    struct graft_error *error) {
    struct graft_generation generation = {.struct_size = sizeof generation};
    (void)use, (void)library;
    graft_model_generation(model, &generation);
    generation.max_new_tokens = 2;
    int status = graft_model_generate(model, &prompt, 1, &generation, ignore, NULL, error);
    return status == GRAFT_OK ? generate_with_fields(model, &generation, error) : status;
}

/* The calls of `verify`. */
static int verify(const struct use *use, struct graft_library *library, struct graft_model *model,
                  struct graft_error *error) {
    static const struct graft_model_options plain = {.struct_size = sizeof plain, .without_replacements = 1};
    static float logits[2][3 * 1024];
    struct graft_model *original = NULL;
    struct graft_comparison *comparison = NULL;
    assert_in_range(graft_model_vocab_size(model), 1, 1024);
    int status = graft_model_open(library, use->directory, &plain, &original, error);
    if (status == GRAFT_OK) {
        status = graft_model_load(original, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_compare(model, original, 1, &comparison, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_logits(model, &prompt, 1, logits[0], error);
    }
    graft_comparison_free(comparison);
    if (status == GRAFT_OK) {
        status = graft_model_logits(original, &prompt, 1, logits[1], error);
    }
    graft_model_free(original);
    return status;
}

static int save_as(const struct graft_model *model, int32_t runtime_layout, struct graft_error *error) {
    const struct graft_save_options options = {.struct_size = sizeof options, .runtime_layout = runtime_layout};
    const char *output = folder_path(folder, "out");
    int status = graft_model_save((struct graft_model *)model, output, &options, error);
    assert_int_equal(folder_count(folder), status == GRAFT_OK);
    folder_remove(output);
    return status;
}

static int save(const struct use *use, struct graft_library *library, struct graft_model *model,
                struct graft_error *error) {
    (void)use, (void)library;
    int status = save_as(model, 0, error);
    return status == GRAFT_OK ? save_as(model, 1, error) : status;
}

static int do_nothing(const struct use *use, struct graft_library *library, struct graft_model *model,
                      struct graft_error *error) {
    (void)use, (void)library, (void)model, (void)error;
    return GRAFT_OK;
}

/* What to try: a program's use of a library, or of a model; both free everything, also after failures. */
typedef int attempt(const struct use *use, struct graft_error *error);

static int make_library(const struct use *use, struct graft_library **library, struct graft_error *error) {
    int status = graft_library_create(library, error);
    return status == GRAFT_OK && use->n_plugins > 0
               ? graft_library_load_plugins(*library, use->plugins, use->n_plugins, NULL, error)
               : status;
}

static int run_library(const struct use *use, struct graft_error *error) {
    struct graft_library *library = NULL;
    int status = make_library(use, &library, error);
    graft_library_free(library);
    return status;
}

static int run_model(const struct use *use, struct graft_error *error) {
    struct graft_model *model = NULL;
    int status = graft_model_open(use->library, use->directory, use->options, &model, error);
    if (status == GRAFT_OK) {
        status = graft_model_load(model, error);
    }
    if (status == GRAFT_OK) {
        status = use->with(use, use->library, model, error);
    }
    graft_model_free(model);
    return status;
}

struct tally {
    long tried, survived;
};

/* Lets each allocation from the `first` on fail; returns how many there are. Success despite a failure is allowed if
 * the memory was optional, like PCRE2's for JIT code. */
static long fail_each(attempt *run, const struct use *use, long first, struct tally *tally) {
    for (long n = first;; n = first + next_failing(n - first), tally->tried++) {
        struct graft_error error = graft_error_none();
        (void)graft_alloc_fail_at(n);
        int status = run(use, &error);
        long left = graft_alloc_fail_at(0);
        if (status != error.code || (status != GRAFT_OK && status != GRAFT_ERROR_INTERNAL)) {
            fail_msg("allocation %ld: status %d, error %d: %s: %s", n, status, error.code, error.source, error.message);
        }
        if (left != 0) {
            assert_int_equal(status, GRAFT_OK);
            return n;
        }
        tally->survived += status == GRAFT_OK;
    }
}

static void fail_each_of_library(struct use use) {
    struct tally tally = {0, 0};
    assert_in_range(fail_each(run_library, &use, 1, &tally), use.n_plugins > 0 ? 400 : 200, 100000);
}

/* The number of the first allocation to fail: those before were tried by another test. */
enum begin { FROM_OPENING, FROM_USE };

/* The library stays while the model's allocations fail: whatever one failure leaves behind affects the next. */
static void fail_each_of(const char *name, struct use use, enum begin begin) {
    struct graft_error error = graft_error_none();
    struct tally tally = {0, 0};
    char directory[1024];
    long first = 1;
    (void)snprintf(directory, sizeof directory, "%s/%s", getenv("GRAFT_TEST_GOLDENS"), name);
    use.directory = directory;
    assert_int_equal(make_library(&use, &use.library, &error), GRAFT_OK);
    if (begin == FROM_USE) {
        struct use opening = use;
        opening.with = do_nothing;
        (void)graft_alloc_fail_at(LONG_MAX);
        assert_int_equal(run_model(&opening, &error), GRAFT_OK);
        first += LONG_MAX - graft_alloc_fail_at(0);
    }
    assert_in_range(fail_each(run_model, &use, first, &tally), 1000, 100000);
    graft_library_free(use.library);
    if (tally.survived * 6 >
        tally.tried + 16) { /* failed allocations of JIT code do no harm; a small sample may have more of them */
        fail_msg("%ld of %ld failures went unseen", tally.survived, tally.tried);
    }
}

static void test_library(void **state) {
    (void)state;
    fail_each_of_library((struct use){0});
    fail_each_of_library((struct use){.plugins = &all, .n_plugins = 1});
}

static void test_plain(void **state) {
    (void)state;
    fail_each_of("plain/llama", (struct use){.with = generate}, FROM_OPENING);
}

static void test_patched(void **state) {
    (void)state;
    const struct use use = {.plugins = needed, .n_plugins = 2, .with = generate};
    fail_each_of("patched/qwen2_moe_doc_example", use, FROM_OPENING);
}

static void test_stacked(void **state) {
    (void)state;
    const struct use use = {.plugins = needed, .n_plugins = 2, .with = generate};
    fail_each_of("plain/qwen2_moe_stacked", use, FROM_OPENING);
}

static void test_verify(void **state) {
    (void)state;
    const struct use use = {.plugins = needed, .n_plugins = 2, .with = verify};
    fail_each_of("patched/qwen2_moe_doc_example", use, FROM_USE);
}

static void test_save(void **state) {
    (void)state;
    const struct use use = {.plugins = needed, .n_plugins = 2, .with = save};
    memory_folder_create(folder);
    fail_each_of("patched/qwen2_moe_doc_example", use, FROM_USE);
    folder_remove(folder);
}

static void test_quantize(void **state) {
    static const struct graft_model_options options = {.struct_size = sizeof options, .quantize = "int8"};
    (void)state;
    const struct use use = {.plugins = formats, .n_plugins = 1, .options = &options, .with = do_nothing};
    fail_each_of("plain/llama_mha", use, FROM_OPENING);
}

static void test_dequantize(void **state) {
    static const struct graft_model_options options = {.struct_size = sizeof options, .dequantize = 1};
    (void)state;
    const struct use use = {.plugins = formats + 1, .n_plugins = 1, .options = &options, .with = save};
    memory_folder_create(folder);
    fail_each_of("quantized/bnb_nf4_llama", use, FROM_OPENING);
    folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library),  cmocka_unit_test(test_plain),      cmocka_unit_test(test_patched),
        cmocka_unit_test(test_stacked),  cmocka_unit_test(test_verify),     cmocka_unit_test(test_save),
        cmocka_unit_test(test_quantize), cmocka_unit_test(test_dequantize),
    };
    all = getenv("GRAFT_PLUGINS");
    (void)snprintf(paths[0], sizeof paths[0], "%s/fused_qkv", all);
    (void)snprintf(paths[1], sizeof paths[1], "%s/sequential_experts", all);
    (void)snprintf(paths[2], sizeof paths[2], "%s/compressed_tensors", all);
    (void)snprintf(paths[3], sizeof paths[3], "%s/bitsandbytes", all);
    graft_threads_set_count(1); /* the same allocations in every run */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
