/* SPDX-License-Identifier: Apache-2.0 */
/* Prefixes of prompts on disk: results have the same bits with a file as without, and invalid files are refused. */
#include "sequences_fixture.h"

#include "base/alloc.h"
#include "base/file.h"

#include "failing.h"
#include "folder.h"

enum { PROMPT = 2 * PIECE + 20 };

static struct graft_library *library;
static char folder[64];

static const char *golden(const char *name) {
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/plain/%s", getenv("GRAFT_TEST_GOLDENS"), name);
    return path;
}

static void make_ids(int32_t *ids, int last) {
    for (int i = 0; i < PROMPT; i++) {
        ids[i] = (i * 7 + i / 5 + (i >= PROMPT - 10 ? last : 0)) % 50 + 3;
    }
}

/* The result of a prompt: its new tokens, and the logits of the first of them. */
struct said {
    int32_t ids[NEW_TOKENS];
    float *logits;
};

static void say(struct graft_model *model, struct graft_sequences *sequences, int last, struct said *said) {
    int32_t ids[PROMPT];
    struct graft_generation generation = {.struct_size = sizeof generation};
    int64_t number;
    int n = 0;
    make_ids(ids, last);
    graft_model_generation(model, &generation);
    generation.max_new_tokens = NEW_TOKENS;
    generation.ignore_eos = 1;
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = PROMPT};
    const struct graft_sequence_options options = {
        .struct_size = sizeof options, .gives_logits = 1, .generation = &generation};
    const size_t bytes = (size_t)graft_model_vocab_size(model) * sizeof(float);
    said->logits = malloc(bytes);
    assert_non_null(said->logits);
    check(graft_sequences_add(sequences, &prompt, &options, &number, &error));
    while (graft_sequences_count(sequences) > 0) {
        const struct graft_sequence_token *tokens = NULL;
        size_t count = 0;
        check(graft_sequences_step(sequences, &tokens, &count, &error));
        for (size_t i = 0; i < count; i++) {
            const struct graft_sequence_token *token = graft_struct_at(tokens, i);
            if (n == 0) {
                memcpy(said->logits, token->logits, bytes);
            }
            said->ids[n++] = token->id;
        }
    }
    assert_int_equal(n, NEW_TOKENS);
}

static int64_t shared_tokens(const struct graft_sequences *sequences) {
    struct graft_sequences_counts counts = {.struct_size = sizeof counts};
    graft_sequences_get_counts(sequences, &counts);
    return counts.shared_tokens;
}

/* A prompt that begins like one in the file reuses that beginning, and its tokens and logits have the same bits as
 * without the file. */
static void check_model(const char *name) {
    struct graft_model *model = open_model(library, golden(name), 0);
    const char *path = folder_path(folder, "prefix");
    struct said with = {{0}, NULL}, without = {{0}, NULL};
    int64_t tokens = -1;
    struct graft_sequences *sequences = create(model, 2, 0);
    say(model, sequences, 1, &without);
    check(graft_sequences_save(sequences, path, &tokens, &error));
    assert_int_equal(tokens, 2 * PIECE);
    graft_sequences_free(sequences);
    free(without.logits);

    sequences = create(model, 2, 0);
    say(model, sequences, 2, &without);
    graft_sequences_free(sequences);

    sequences = create(model, 2, 0);
    check(graft_sequences_load(sequences, path, &tokens, &error));
    assert_int_equal(tokens, 2 * PIECE);
    say(model, sequences, 2, &with);
    assert_int_equal(shared_tokens(sequences), 2 * PIECE);
    assert_memory_equal(with.ids, without.ids, sizeof with.ids);
    assert_memory_equal(with.logits, without.logits, (size_t)graft_model_vocab_size(model) * sizeof(float));
    check(graft_sequences_save(sequences, path, &tokens, &error)); /* the session has that prefix already */
    assert_int_equal(tokens, 0);
    graft_sequences_free(sequences);
    free(with.logits);
    free(without.logits);
    graft_model_free(model);
}

static void test_same_bits(void **state) {
    static const char *const names[] = {"llama", "llama_bf16", "mixtral", "deepseek_v3", "gemma3_text", "gpt_oss_bf16"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        check_model(names[i]);
    }
}

static void write_prefix(const char *name, const char *path) {
    struct graft_model *model = open_model(library, golden(name), 0);
    struct graft_sequences *sequences = create(model, 2, 0);
    struct said said;
    int64_t tokens = 0;
    say(model, sequences, 1, &said);
    check(graft_sequences_save(sequences, path, &tokens, &error));
    free(said.logits);
    graft_sequences_free(sequences);
    graft_model_free(model);
}

static int load(struct graft_model *model, const char *path) {
    struct graft_sequences *sequences = create(model, 2, 0);
    int64_t tokens = -1;
    error = graft_error_none();
    const int status = graft_sequences_load(sequences, path, &tokens, &error);
    assert_int_equal(status, error.code);
    assert_true(status == GRAFT_OK || (tokens == 0 && error.message[0] != '\0'));
    error = graft_error_none();
    graft_sequences_free(sequences);
    return status;
}

/* Files of another model with the same sizes, and of the same model computed in another way, are refused. */
static void test_other(void **state) {
    (void)state;
    const char *path = folder_path(folder, "other");
    write_prefix("llama", path);
    struct graft_model *model = open_model(library, golden("llama"), 0);
    assert_int_equal(load(model, path), GRAFT_OK);
    graft_model_free(model);
    model = open_model(library, golden("llama_tied"), 0);
    assert_int_equal(load(model, path), GRAFT_ERROR_VERIFY);
    graft_model_free(model);
    const struct graft_model_options eager = {.struct_size = sizeof eager, .attn_implementation = "eager"};
    model = open_with(library, golden("llama"), &eager);
    assert_int_equal(load(model, path), GRAFT_ERROR_VERIFY);
    graft_model_free(model);
    struct graft_library *patched = new_library();
    put(patched, "LlamaMLP", &first_mlp);
    model = open_model(patched, golden("llama"), 0);
    assert_int_equal(load(model, path), GRAFT_ERROR_VERIFY);
    graft_model_free(model);
    graft_library_free(patched);
}

/* A file with a changed byte, a truncated or a longer one is refused; so are a directory, a path where nothing is, and
 * an empty path. */
static void test_broken(void **state) {
    (void)state;
    const char *path = folder_path(folder, "whole"), *broken = folder_path(folder, "broken");
    struct graft_model *model = open_model(library, golden("llama"), 0);
    char *bytes = NULL;
    size_t size = 0;
    write_prefix("llama", path);
    check(graft_file_read(path, 1 << 24, GRAFT_ERROR_IO, &bytes, &size, &error));
    for (size_t at = 0; at < size; at += at < 150 ? 1 : size / 40 + 1) {
        bytes[at] ^= 0x10;
        folder_put(folder, "broken", bytes, size);
        const int status = load(model, broken);
        assert_true(status == GRAFT_ERROR_MODEL || status == GRAFT_ERROR_VERIFY);
        bytes[at] ^= 0x10;
        folder_put(folder, "broken", bytes, at);
        assert_int_equal(load(model, broken), GRAFT_ERROR_MODEL);
    }
    bytes = graft_realloc(bytes, size + 1, 1);
    bytes[size] = 0;
    folder_put(folder, "broken", bytes, size + 1);
    assert_int_equal(load(model, broken), GRAFT_ERROR_MODEL);
    assert_int_equal(load(model, folder), GRAFT_ERROR_IO);
    assert_int_equal(load(model, folder_path(folder, "nothing")), GRAFT_ERROR_IO);
    assert_int_equal(load(model, ""), GRAFT_ERROR_USAGE);
    graft_free(bytes);
    graft_model_free(model);
}

/* Models that keep a state besides keys and values, or whose keys depend on the sequence's length: saving a prefix is
 * refused. */
static void test_not_kept(void **state) {
    static const char *const names[] = {"mamba2", "llama_rope_dynamic_growing"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct graft_model *model = open_model(library, golden(names[i]), 0);
        struct graft_sequences *sequences = create(model, 1, 0);
        int64_t tokens;
        error = graft_error_none();
        assert_int_equal(graft_sequences_save(sequences, folder_path(folder, "none"), &tokens, &error),
                         GRAFT_ERROR_USAGE);
        assert_non_null(strstr(error.message, "cannot be kept in a file"));
        error = graft_error_none();
        graft_sequences_free(sequences);
        graft_model_free(model);
    }
    /* Nothing was read, so nothing is written. */
    struct graft_model *model = open_model(library, golden("llama"), 0);
    struct graft_sequences *sequences = create(model, 1, 0);
    int64_t tokens = -1;
    check(graft_sequences_save(sequences, folder_path(folder, "none"), &tokens, &error));
    assert_int_equal(tokens, 0);
    assert_false(graft_file_exists(folder_path(folder, "none")));
    graft_sequences_free(sequences);
    graft_model_free(model);
}

/* Prefixes in a folder: loading takes the file that shares most tokens with the prompt, and saving removes the oldest
 * files once the folder is larger than allowed. */
static int64_t load_from(struct graft_model *model, int last, int changed_at) {
    struct graft_sequences *sequences = create(model, 2, 0);
    int32_t ids[PROMPT];
    int64_t tokens = -1;
    make_ids(ids, last);
    if (changed_at >= 0) {
        ids[changed_at] = 1;
    }
    check(graft_sequences_load_from(sequences, folder, ids, PROMPT, &tokens, &error));
    graft_sequences_free(sequences);
    return tokens;
}

static int64_t save_in(struct graft_model *model, int64_t max_bytes) {
    struct graft_sequences *sequences = create(model, 2, 0);
    struct said said;
    int64_t tokens = -1;
    say(model, sequences, 1, &said);
    check(graft_sequences_save_in(sequences, folder, max_bytes, &tokens, &error));
    free(said.logits);
    graft_sequences_free(sequences);
    return tokens;
}

static void test_folder(void **state) {
    (void)state;
    struct graft_model *model = open_model(library, golden("llama"), 0);
    struct graft_model *other = open_model(library, golden("mixtral"), 0);
    assert_int_equal(load_from(model, 1, -1), 0); /* the folder is empty */
    folder_put(folder, "broken.session", "text", 4);
    folder_put(folder, "mine", "text", 4);
    folder_put(folder, "half.session.tmp-1-0", "text", 4);
    assert_int_equal(save_in(other, INT64_MAX), 2 * PIECE);
    assert_int_equal(load_from(model, 1, -1), 0);
    assert_int_equal(save_in(model, INT64_MAX), 2 * PIECE);
    assert_int_equal(save_in(model, INT64_MAX), 0); /* the session has that prefix */
    assert_int_equal(load_from(model, 2, -1), 2 * PIECE);
    assert_int_equal(load_from(model, 2, PIECE + 3), 2 * PIECE); /* one piece fits */
    assert_int_equal(load_from(model, 2, 3), 0);
    assert_int_equal(save_in(model, 0), 0);
    assert_int_equal(load_from(model, 1, -1), 0); /* all are gone */
    assert_true(graft_file_exists(folder_path(folder, "mine")));
    assert_false(graft_file_exists(folder_path(folder, "broken.session")));
    assert_false(graft_file_exists(folder_path(folder, "half.session.tmp-1-0")));
    graft_model_free(other);
    graft_model_free(model);
}

/* The common part of two prompts is written once; their different ends and repeated prompts are not written. */
static void test_shared(void **state) {
    (void)state;
    struct graft_model *model = open_model(library, golden("llama"), 0);
    struct graft_sequences *sequences = create(model, 4, 0);
    struct said said;
    int64_t tokens = -1;
    for (int i = 0; i < 2; i++) {
        say(model, sequences, 1, &said);
        free(said.logits);
        check(graft_sequences_save_shared_in(sequences, folder, INT64_MAX, &tokens, &error));
        assert_int_equal(tokens, 0);
    }
    say(model, sequences, 2, &said);
    free(said.logits);
    assert_int_equal(graft_sequences_save_shared_in(sequences, folder, 100, &tokens, &error), GRAFT_ERROR_IO);
    assert_non_null(strstr(error.message, "of at most 100"));
    error = graft_error_none();
    check(graft_sequences_save_shared_in(sequences, folder, INT64_MAX, &tokens,
                                         &error)); /* a file that failed is not tried again */
    assert_int_equal(tokens, 0);
    graft_sequences_free(sequences);

    sequences = create(model, 4, 0);
    say(model, sequences, 1, &said);
    free(said.logits);
    say(model, sequences, 2, &said);
    free(said.logits);
    check(graft_sequences_save_shared_in(sequences, folder, INT64_MAX, &tokens, &error));
    assert_int_equal(tokens, 2 * PIECE);
    check(graft_sequences_save_shared_in(sequences, folder, INT64_MAX, &tokens, &error));
    assert_int_equal(tokens, 0);
    graft_sequences_free(sequences);

    int32_t ids[PROMPT];
    make_ids(ids, 3);
    sequences = create(model, 4, 0);
    check(graft_sequences_load_from(sequences, folder, ids, PROMPT, &tokens, &error));
    assert_int_equal(tokens, 2 * PIECE);
    check(graft_sequences_load_from(sequences, folder, ids, PROMPT, &tokens,
                                    &error)); /* the prefix is in the session already */
    assert_int_equal(tokens, 0);
    for (int last = 3; last < 5; last++) {
        say(model, sequences, last, &said);
        free(said.logits);
    }
    assert_int_equal(shared_tokens(sequences), 2 * 2 * PIECE);
    check(graft_sequences_save_shared_in(sequences, folder, INT64_MAX, &tokens, &error)); /* and in the folder */
    assert_int_equal(tokens, 0);
    graft_sequences_free(sequences);
    graft_model_free(model);
}

/* Each allocation of a load fails in turn; afterwards the sequences work as before. */
static void test_memory(void **state) {
    (void)state;
    const char *path = folder_path(folder, "memory");
    struct graft_model *model = open_model(library, golden("llama"), 0);
    write_prefix("llama", path);
    for (long n = 1;; n = next_failing(n)) {
        struct graft_sequences *sequences = create(model, 2, 0);
        struct graft_error own = graft_error_none();
        int64_t tokens = -1;
        (void)graft_alloc_fail_at(n);
        int status = graft_sequences_load(sequences, path, &tokens, &own);
        if (status == GRAFT_OK) {
            status = graft_sequences_save(sequences, path, &tokens, &own);
        }
        const long left = graft_alloc_fail_at(0);
        assert_int_equal(status, own.code);
        assert_int_equal(status, left != 0 ? GRAFT_OK : GRAFT_ERROR_INTERNAL);
        if (status != GRAFT_OK && n % 7 == 0) {
            struct said said;
            say(model, sequences, 1, &said);
            free(said.logits);
        }
        graft_sequences_free(sequences);
        if (left != 0) {
            break;
        }
    }
    graft_model_free(model);
}

static int set_up(void **state) {
    (void)state;
    library = new_library();
    folder_create(folder);
    error = graft_error_none();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_library_free(library);
    folder_remove(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_broken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
