/* SPDX-License-Identifier: Apache-2.0 */
/* The library's calls for encoders: invalid calls, and each allocation failing in turn. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "kernels/threads.h"
#include "library_fixture.h"
#include "tensor_file.h"

enum { TOKENS = 4, HIDDEN = 12, VOCAB = 86, MANY = 25 };

static const int32_t ids[TOKENS] = {2, 5, 4, 3};
static const int32_t all[TOKENS] = {0, 1, 2, 3};
static const struct graft_encoder_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};

struct opened {
    struct graft_library *library;
    struct graft_model *model;
};

static struct opened open_case(const char *name) {
    char path[512];
    struct graft_error error = graft_error_none();
    struct opened opened = {new_library(), NULL};
    (void)snprintf(path, sizeof path, "%s/%s", getenv("GRAFT_TEST_GOLDENS"), name);
    if (graft_model_open(opened.library, path, NULL, &opened.model, &error) != GRAFT_OK ||
        graft_model_load(opened.model, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    return opened;
}

static void close_case(const struct opened *opened) {
    graft_model_free(opened->model);
    graft_library_free(opened->library);
}

static int encode(const struct opened *opened, const struct graft_encoder_prompt *given, size_t n,
                  struct graft_encoder_outputs outputs, const char *reason) {
    struct graft_error error = graft_error_none();
    outputs.struct_size = sizeof outputs;
    int status = graft_model_encode(opened->model, given, n, &outputs, &error);
    assert_int_equal(status, error.code);
    if (strstr(error.message, reason) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, reason);
    }
    return status;
}

static void test_info(void **state) {
    (void)state;
    struct graft_encoder_info info = {.struct_size = sizeof info};
    struct opened opened = open_case("encoders/bert_classifier");
    graft_model_encoder_info(opened.model, &info);
    assert_int_equal(graft_model_task(opened.model), GRAFT_TASK_SEQUENCE_CLASSIFICATION);
    assert_int_equal(info.hidden_size, HIDDEN);
    assert_int_equal(info.max_tokens, MANY - 1);
    assert_int_equal(info.n_labels, 3);
    assert_string_equal(info.labels[1], "middling");
    assert_int_equal(info.problem, GRAFT_PROBLEM_SINGLE_LABEL);
    close_case(&opened);
    opened = open_case("plain/llama");
    graft_model_encoder_info(opened.model, &info);
    assert_int_equal(graft_model_task(opened.model), GRAFT_TASK_CAUSAL_LM);
    assert_int_equal(info.n_labels, 0);
    close_case(&opened);
}

static int ignore(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    (void)data, (void)sequence, (void)id, (void)last, (void)error;
    return GRAFT_OK;
}

static void test_other_task(void **state) {
    (void)state;
    static const struct graft_prompt text = {.struct_size = sizeof text, .ids = ids, .count = TOKENS};
    float numbers[TOKENS * VOCAB];
    struct graft_error error = graft_error_none();
    struct graft_embedding_info embedding = {.struct_size = sizeof embedding};
    struct opened opened = open_case("encoders/bert_mlm");
    assert_int_equal(graft_model_generate(opened.model, &text, 1, NULL, ignore, NULL, &error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "BertForMaskedLM does not generate text"));
    assert_int_equal(graft_model_logits(opened.model, &text, 1, numbers, NULL), GRAFT_ERROR_USAGE);
    assert_int_equal(
        encode(&opened, &prompt, 1, (struct graft_encoder_outputs){.pooler_output = numbers}, "pooler_output"),
        GRAFT_ERROR_USAGE);
    close_case(&opened);
    opened = open_case("encoders/bert_sentence");
    assert_int_equal(encode(&opened, &prompt, 1, (struct graft_encoder_outputs){.logits = numbers}, "no logits"),
                     GRAFT_ERROR_USAGE);
    close_case(&opened);
    opened = open_case("plain/llama");
    assert_int_equal(encode(&opened, &prompt, 1, (struct graft_encoder_outputs){.logits = numbers}, "generates text"),
                     GRAFT_ERROR_USAGE);
    assert_int_equal(graft_model_embedding(opened.model, &embedding, NULL), GRAFT_ERROR_MODEL);
    close_case(&opened);
}

/* Texts of a later version of the headers, with fields unknown here. */
static void test_strides(void **state) {
    (void)state;
    struct later {
        struct graft_encoder_prompt text;
        char more[24];
    } later[2];
    float plain[2 * TOKENS * VOCAB] = {0}, strided[2 * TOKENS * VOCAB] = {0};
    const struct graft_encoder_prompt texts[] = {prompt, prompt};
    const int32_t rows[] = {0, TOKENS};
    struct opened opened = open_case("encoders/bert_mlm");
    memset(later, 0xff, sizeof later);
    for (size_t i = 0; i < 2; i++) {
        later[i].text = prompt;
        later[i].text.struct_size = sizeof later[i];
    }
    const struct graft_encoder_outputs to_plain = {
        .struct_size = sizeof to_plain, .logits = plain, .rows = rows, .n_rows = 2};
    struct graft_encoder_outputs to_strided = to_plain;
    to_strided.logits = strided;
    assert_int_equal(encode(&opened, texts, 2, to_plain, ""), GRAFT_OK);
    assert_int_equal(encode(&opened, &later[0].text, 2, to_strided, ""), GRAFT_OK);
    assert_memory_equal(plain, strided, sizeof plain);
    later[1].text.struct_size = sizeof later[1].text;
    assert_int_equal(encode(&opened, &later[0].text, 2, to_strided, "struct_size of number 2"), GRAFT_ERROR_USAGE);
    close_case(&opened);
}

static void test_bad_input(void **state) {
    (void)state;
    static const int32_t beyond[] = {2, VOCAB};
    static const int32_t types[] = {0, 2};
    static const int32_t backwards[] = {1, 0};
    static const int32_t many[MANY] = {0};
    float numbers[TOKENS * VOCAB];
    const struct {
        const int32_t *ids;
        const int32_t *types;
        size_t count;
        const char *reason;
    } cases[] = {
        {ids, NULL, 0, "sequence 0 has no tokens"},
        {beyond, NULL, 2, "token id 86, expected 0 to 85"},
        {ids, types, 2, "token type id 2, expected 0 to 1"},
        {many, NULL, MANY, "25 tokens, but the model reads at most 24"},
    };
    struct opened opened = open_case("encoders/bert_mlm");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct graft_encoder_outputs none = {.struct_size = sizeof none};
        const struct graft_encoder_prompt text = {
            .struct_size = sizeof text, .ids = cases[i].ids, .token_type_ids = cases[i].types, .count = cases[i].count};
        assert_int_equal(encode(&opened, &text, 1, none, cases[i].reason), GRAFT_ERROR_USAGE);
    }
    const struct graft_encoder_outputs unsorted = {
        .struct_size = sizeof unsorted, .logits = numbers, .rows = backwards, .n_rows = 2};
    assert_int_equal(encode(&opened, &prompt, 1, unsorted, "ascending"), GRAFT_ERROR_USAGE);
    const struct graft_encoder_outputs too_many = {
        .struct_size = sizeof too_many, .logits = numbers, .rows = all, .n_rows = 3};
    const struct graft_encoder_prompt two = {.struct_size = sizeof two, .ids = ids, .count = 2};
    assert_int_equal(encode(&opened, &two, 1, too_many, "ascending"), GRAFT_ERROR_USAGE);
    const struct graft_encoder_outputs negative = {
        .struct_size = sizeof negative, .logits = numbers, .rows = all, .n_rows = -1};
    assert_int_equal(encode(&opened, &prompt, 1, negative, "out of range"), GRAFT_ERROR_USAGE);
    assert_int_equal(encode(&opened, &prompt, 0, (struct graft_encoder_outputs){0}, "at least one"), GRAFT_ERROR_USAGE);
    close_case(&opened);
}

/* A model without weights has a tree, but does not run. */
static void test_without_weights(void **state) {
    (void)state;
    char path[512];
    struct graft_error error = graft_error_none();
    const struct graft_model_options options = {.struct_size = sizeof options, .without_weights = 1};
    struct opened opened = {new_library(), NULL};
    (void)snprintf(path, sizeof path, "%s/encoders/bert_mlm", getenv("GRAFT_TEST_GOLDENS"));
    assert_int_equal(graft_model_open(opened.library, path, &options, &opened.model, &error), GRAFT_OK);
    assert_string_equal(graft_model_class_at(opened.model, "bert.encoder.layer.1.attention"), "BertSelfAttention");
    assert_int_equal(graft_model_load(opened.model, &error), GRAFT_OK);
    assert_int_equal(encode(&opened, &prompt, 1, (struct graft_encoder_outputs){0}, "has no value"), GRAFT_ERROR_USAGE);
    close_case(&opened);
}

/* Makes every call of an encoder; frees everything, also after failures. */
static int use(const char *name, struct graft_error *error) {
    char path[512];
    float hidden[TOKENS * HIDDEN], vector[2 * HIDDEN];
    struct graft_library *library = NULL;
    struct graft_model *model = NULL;
    const struct graft_encoder_outputs outputs = {.struct_size = sizeof outputs, .last_hidden_state = hidden};
    (void)snprintf(path, sizeof path, "%s/encoders/%s", getenv("GRAFT_TEST_GOLDENS"), name);
    int status = graft_library_create(&library, error);
    if (status == GRAFT_OK) {
        status = graft_model_open(library, path, NULL, &model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_load(model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_encode(model, &prompt, 1, &outputs, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_embed(model, &prompt, 1, vector, error);
    }
    graft_model_free(model);
    graft_library_free(library);
    return status;
}

/* Copies a golden's file into `folder` under another name, with `old` (NULL: nothing) replaced by `new`. */
static void copy_changed(const char *folder, const char *golden, const char *name, const char *as, const char *old,
                         const char *new) {
    char *text = NULL, *path = graft_format("%s/%s/%s", getenv("GRAFT_TEST_GOLDENS"), golden, name);
    size_t length = 0;
    assert_int_equal(graft_file_read(path, 1 << 24, GRAFT_ERROR_MODEL, &text, &length, NULL), GRAFT_OK);
    const char *at = old != NULL ? strstr(text, old) : NULL;
    assert_true(old == NULL || at != NULL);
    char *changed = at != NULL ? graft_format("%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) : NULL;
    folder_put(folder, as, changed != NULL ? changed : text, changed != NULL ? strlen(changed) : length);
    graft_free(changed);
    graft_free(text);
    graft_free(path);
}

static void logits_of(struct graft_library *library, const char *directory, float *logits) {
    struct graft_model *model = NULL;
    struct graft_error error = graft_error_none();
    struct graft_encoder_outputs outputs = {
        .struct_size = sizeof outputs, .rows = all, .n_rows = TOKENS, .logits = logits};
    if (graft_model_open(library, directory, NULL, &model, &error) != GRAFT_OK ||
        graft_model_load(model, &error) != GRAFT_OK ||
        graft_model_encode(model, &prompt, 1, &outputs, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    assert_int_equal(graft_model_task(model), GRAFT_TASK_MASKED_LM);
    assert_string_equal(graft_model_class_at(model, ""), "BertForMaskedLM");
    graft_model_free(model);
}

/* A checkpoint with both heads that BERT was trained with gives the same as one with the first alone. */
static void test_pretraining(void **state) {
    static const char index[] = "{\"metadata\": {}, \"weight_map\": {\"cls.predictions.bias\": \"./1.safetensors\", "
                                "\"cls.seq_relationship.bias\": \"./2.safetensors\"}}";
    static const char header[] =
        "{\"cls.seq_relationship.weight\": {\"dtype\": \"F32\", \"shape\": [2, 12], \"data_offsets\": [0, 96]}, "
        "\"cls.seq_relationship.bias\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [96, 104]}}";
    float expected[TOKENS * VOCAB], logits[TOKENS * VOCAB];
    char folder[64], golden[512];
    struct graft_library *library = new_library();
    (void)state;
    folder_create(folder);
    copy_changed(folder, "encoders/bert_mlm", "config.json", "config.json", "BertForMaskedLM", "BertForPreTraining");
    copy_changed(folder, "encoders/bert_mlm", "model.safetensors", "1.safetensors", NULL, NULL);
    tensor_file_put(folder, "2.safetensors", header, 104);
    folder_put(folder, "model.safetensors.index.json", index, sizeof index - 1);
    (void)snprintf(golden, sizeof golden, "%s/encoders/bert_mlm", getenv("GRAFT_TEST_GOLDENS"));
    logits_of(library, golden, expected);
    logits_of(library, folder, logits);
    assert_memory_equal(logits, expected, sizeof expected);
    graft_library_free(library);
    folder_remove(folder);
}

static void fail_each(const char *name) {
    long left = 0;
    long n = 1;
    for (; left == 0; n++) {
        struct graft_error error = graft_error_none();
        (void)graft_alloc_fail_at(n);
        int status = use(name, &error);
        left = graft_alloc_fail_at(0);
        if (status != error.code || (status != GRAFT_OK && (status != GRAFT_ERROR_INTERNAL || left != 0))) {
            fail_msg("allocation %ld: status %d, error %d: %s: %s", n, status, error.code, error.source, error.message);
        }
    }
    assert_in_range(n, 200, 100000);
}

static void test_memory(void **state) {
    (void)state;
    fail_each("bert_mlm");
    fail_each("bert_classifier");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),        cmocka_unit_test(test_other_task), cmocka_unit_test(test_strides),
        cmocka_unit_test(test_bad_input),   cmocka_unit_test(test_memory),     cmocka_unit_test(test_without_weights),
        cmocka_unit_test(test_pretraining),
    };
    graft_threads_set_count(1); /* the same allocations in every run */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
