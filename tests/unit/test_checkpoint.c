/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/checkpoint.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tensor_file.h"

#define INDEX "model.safetensors.index.json"

static char folder[64];

static int set_up(void **state) {
    (void)state;
    folder_create(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    folder_remove(folder);
    return 0;
}

/* Writes a file with one-byte tensors called by the letters of `names`. */
static void put_shard(const char *name, const char *names) {
    char header[512] = "{";
    for (size_t i = 0; i < strlen(names); i++) {
        size_t length = strlen(header);
        (void)snprintf(header + length, sizeof header - length,
                       "%s\"%c\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%zu,%zu]}", i > 0 ? "," : "",
                       names[i], i, i + 1);
    }
    (void)snprintf(header + strlen(header), sizeof header - strlen(header), "}");
    tensor_file_put(folder, name, header, strlen(names));
}

static void put_index(const char *weight_map) {
    char text[512];
    (void)snprintf(text, sizeof text, "{\"metadata\":{\"total_size\":1},\"weight_map\":%s}", weight_map);
    folder_put(folder, INDEX, text, strlen(text));
}

static struct graft_checkpoint *open_directory(const char *directory) {
    struct graft_checkpoint *checkpoint = NULL;
    struct graft_error error = graft_error_none();
    if (graft_checkpoint_open(directory, &checkpoint, &error) != GRAFT_OK) {
        print_message("%s: %s\n", error.source, error.message);
    }
    assert_non_null(checkpoint);
    return checkpoint;
}

/* The tensors of a checkpoint, whose names have one letter each. */
static void assert_tensors(const struct graft_checkpoint *checkpoint, const char *names) {
    assert_int_equal(graft_checkpoint_count(checkpoint), strlen(names));
    for (size_t i = 0; i < strlen(names); i++) {
        const struct graft_tensor_view *view = graft_checkpoint_at(checkpoint, i);
        assert_int_equal(view->name[0], names[i]);
        assert_ptr_equal(graft_checkpoint_find(checkpoint, view->name), view);
    }
    assert_null(graft_checkpoint_find(checkpoint, "absent"));
}

static struct graft_error assert_refused(const char *source, const char *words) {
    struct graft_checkpoint *checkpoint = NULL;
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_checkpoint_open(folder, &checkpoint, &error), GRAFT_ERROR_MODEL);
    assert_null(checkpoint);
    assert_string_equal(error.source, source != NULL ? folder_path(folder, source) : folder);
    assert_string_equal(error.message, words);
    return error;
}

static void test_single(void **state) {
    (void)state;
    put_shard("model.safetensors", "cab");
    struct graft_checkpoint *checkpoint = open_directory(folder);
    assert_tensors(checkpoint, "abc");
    assert_int_equal(graft_checkpoint_file_count(checkpoint), 1);
    const struct graft_checkpoint_file *file = graft_checkpoint_file_at(checkpoint, 0);
    struct stat status;
    assert_int_equal(stat(file->path, &status), 0);
    assert_string_equal(file->name, "model.safetensors");
    assert_int_equal(file->bytes, status.st_size);
    assert_int_equal(file->tensors, 3);
    assert_null(file->metadata);
    assert_int_equal(graft_checkpoint_note_count(checkpoint), 0);
    graft_checkpoint_close(checkpoint);
    graft_checkpoint_close(NULL);
}

static void test_shards(void **state) {
    (void)state;
    folder_make(folder, "parts");
    put_shard("parts/2.safetensors", "da");
    put_shard("1.safetensors", "cb");
    put_index("{\"a\":\"parts/2.safetensors\",\"b\":\"1.safetensors\",\"c\":\"1.safetensors\","
              "\"d\":\"parts/2.safetensors\"}");
    struct graft_checkpoint *checkpoint = open_directory(folder);
    assert_tensors(checkpoint, "abcd");
    assert_int_equal(graft_checkpoint_file_count(checkpoint), 2);
    assert_string_equal(graft_checkpoint_file_at(checkpoint, 0)->name, "1.safetensors");
    assert_string_equal(graft_checkpoint_file_at(checkpoint, 1)->name, "parts/2.safetensors");
    assert_string_equal(graft_checkpoint_find(checkpoint, "a")->file, folder_path(folder, "parts/2.safetensors"));
    assert_int_equal(graft_checkpoint_note_count(checkpoint), 0);
    graft_checkpoint_close(checkpoint);
}

/* Some writers put "./" in front of every file's name, or of some. */
static void test_dot_in_front(void **state) {
    (void)state;
    folder_make(folder, "parts");
    put_shard("parts/2.safetensors", "da");
    put_shard("1.safetensors", "cb");
    put_index("{\"a\":\"./parts/2.safetensors\",\"b\":\"./1.safetensors\",\"c\":\"1.safetensors\","
              "\"d\":\"parts/2.safetensors\"}");
    struct graft_checkpoint *checkpoint = open_directory(folder);
    assert_tensors(checkpoint, "abcd");
    assert_int_equal(graft_checkpoint_file_count(checkpoint), 2);
    assert_string_equal(graft_checkpoint_file_at(checkpoint, 0)->name, "1.safetensors");
    assert_string_equal(graft_checkpoint_file_at(checkpoint, 1)->name, "parts/2.safetensors");
    assert_int_equal(graft_checkpoint_note_count(checkpoint), 0);
    graft_checkpoint_close(checkpoint);
}

/* transformers prefers the single file, too. */
static void test_single_before_index(void **state) {
    (void)state;
    put_shard("model.safetensors", "a");
    put_index("{\"a\":\"absent.safetensors\"}");
    struct graft_checkpoint *checkpoint = open_directory(folder);
    assert_tensors(checkpoint, "a");
    assert_int_equal(graft_checkpoint_note_count(checkpoint), 1);
    assert_string_equal(graft_checkpoint_note_at(checkpoint, 0), INDEX " is ignored, because model.safetensors exists");
    graft_checkpoint_close(checkpoint);
}

static void test_no_weights(void **state) {
    (void)state;
    struct graft_error error = assert_refused(NULL, "expected model.safetensors or " INDEX ", found neither");
    assert_string_equal(error.hint, "");
    folder_put(folder, "pytorch_model.bin", "", 0);
    error = assert_refused(NULL, "expected model.safetensors or " INDEX ", found neither");
    assert_string_equal(error.hint, "pytorch_model.bin has to be converted to safetensors");

    struct graft_checkpoint *checkpoint = NULL;
    error = graft_error_none();
    assert_int_equal(graft_checkpoint_open(folder_path(folder, "no"), &checkpoint, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "cannot be found: No such file or directory");
}

static void test_bad_single(void **state) {
    (void)state;
    folder_put(folder, "model.safetensors", "x", 1);
    (void)assert_refused("model.safetensors", "has 1 bytes, but a safetensors file has at least 8");
    (void)unlink(folder_path(folder, "model.safetensors"));
    folder_link(folder, "model.safetensors", "nowhere");
    (void)assert_refused("model.safetensors", "expected a regular file, found a link that leads nowhere");
}

static void assert_index_refused(const char *text, const char *words) {
    folder_put(folder, INDEX, text, strlen(text));
    (void)assert_refused(INDEX, words);
}

static void test_index_form(void **state) {
    (void)state;
    assert_index_refused("{", "not valid JSON, line 1 column 1: string or '}' expected near end of file");
    assert_index_refused("[]", "expected an object, got an array");
    assert_index_refused("{\"weight_map\":{}}", "metadata: missing, expected an object");
    assert_index_refused("{\"metadata\":{}}", "weight_map: missing, expected an object");
    assert_index_refused("{\"metadata\":{},\"weight_map\":[]}", "weight_map: expected an object, got an array");
    assert_index_refused("{\"metadata\":{},\"weight_map\":{\"a\":1}}",
                         "weight_map.a: expected a file name, got an integer");
    assert_index_refused("{\"metadata\":{},\"weight_map\":{\"a\":\"f\",\"a\":\"g\"}}",
                         "not valid JSON, line 1 column 40: duplicate object key near '\"a\"'");
}

static void test_index_paths(void **state) {
    (void)state;
    static const char *const bad[] = {"../x.safetensors",
                                      "/x.safetensors",
                                      "p/../../x",
                                      "..",
                                      ".",
                                      "",
                                      "././x.safetensors",
                                      "p//x",
                                      "p/",
                                      "x\\u0000.y",
                                      "p/..",
                                      "./../x.safetensors",
                                      ".//x",
                                      "./",
                                      "p/./x",
                                      "./x\\u0000"};
    static const char *const shown[] = {"../x.safetensors",
                                        "/x.safetensors",
                                        "p/../../x",
                                        "..",
                                        ".",
                                        "",
                                        "././x.safetensors",
                                        "p//x",
                                        "p/",
                                        "x",
                                        "p/..",
                                        "./../x.safetensors",
                                        ".//x",
                                        "./",
                                        "p/./x",
                                        "./x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char map[64], words[256];
        (void)snprintf(map, sizeof map, "{\"a\":\"%s\"}", bad[i]);
        (void)snprintf(
            words, sizeof words,
            "weight_map: \"%s\", listed for \"a\", is not the relative path of a file in the model's directory",
            shown[i]);
        put_index(map);
        (void)assert_refused(INDEX, words);
    }
    put_shard("..x", "a");
    put_index("{\"a\":\"..x\"}");
    graft_checkpoint_close(open_directory(folder));
}

/* A missing file is an error only for those who need its tensors. */
static void test_absent_file(void **state) {
    struct graft_error error = graft_error_none();
    (void)state;
    put_shard("1", "ab");
    put_index("{\"a\":\"1\",\"b\":\"1\",\"d\":\"3\",\"c\":\"3\"}");
    struct graft_checkpoint *checkpoint = open_directory(folder);
    assert_tensors(checkpoint, "ab");
    assert_int_equal(graft_checkpoint_absent_count(checkpoint), 1);
    const struct graft_absent_file *absent = graft_checkpoint_absent_at(checkpoint, 0);
    assert_string_equal(absent->name, "3");
    assert_int_equal(absent->n_tensors, 2);
    assert_string_equal(absent->tensors[0], "c");
    assert_string_equal(absent->tensors[1], "d");
    assert_int_equal(graft_checkpoint_fail_absent(checkpoint, absent, "d", &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "weight_map lists \"3\" for 2 tensors (\"d\"), but that file does not exist");
    graft_checkpoint_close(checkpoint);
}

static void test_index_wrong(void **state) {
    (void)state;
    put_shard("1", "ab");
    put_shard("2", "c");
    put_index("{\"a\":\"1\",\"b\":\"1\",\"c\":\"2\",\"d\":\"2\"}");
    (void)assert_refused(INDEX, "weight_map lists tensor \"d\" for \"2\", which does not have it");
    put_index("{\"a\":\"1\",\"b\":\"2\",\"c\":\"2\"}");
    (void)assert_refused(INDEX, "tensor \"b\" is in \"1\", but weight_map lists it for \"2\"");
    folder_put(folder, "2", "x", 1);
    (void)assert_refused(INDEX, "tensor \"b\" is in \"1\", but weight_map lists it for \"2\"");
    put_index("{\"a\":\"1\",\"b\":\"1\",\"c\":\"2\"}");
    (void)assert_refused("2", "has 1 bytes, but a safetensors file has at least 8");
}

static void test_duplicate(void **state) {
    (void)state;
    put_shard("1", "ab");
    put_shard("2", "bc");
    put_index("{\"a\":\"1\",\"b\":\"1\",\"c\":\"2\"}");
    (void)assert_refused(INDEX, "tensor \"b\" is in \"2\", but weight_map lists it for \"1\"");
    put_index("{\"a\":\"1\",\"c\":\"2\"}");
    struct graft_checkpoint *checkpoint = NULL;
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_checkpoint_open(folder, &checkpoint, &error), GRAFT_ERROR_MODEL);
    assert_non_null(strstr(error.message, "tensor \"b\" is in two files, "));
    assert_non_null(strstr(error.message, folder_path(folder, "1")));
    assert_non_null(strstr(error.message, folder_path(folder, "2")));
}

static void test_unlisted(void **state) {
    (void)state;
    put_shard("1", "abc");
    put_shard("2", "d");
    put_index("{\"a\":\"1\",\"d\":\"2\"}");
    struct graft_checkpoint *checkpoint = open_directory(folder);
    assert_tensors(checkpoint, "abcd");
    assert_int_equal(graft_checkpoint_note_count(checkpoint), 1);
    assert_string_equal(graft_checkpoint_note_at(checkpoint, 0),
                        INDEX " does not list 2 of the tensors in 1 (\"b\"); used all the same");
    graft_checkpoint_close(checkpoint);
}

static void test_links(void **state) {
    (void)state;
    char outside[64];
    folder_create(outside);
    put_shard("1", "a");
    folder_link(folder, "inside", "1");
    put_index("{\"a\":\"inside\"}");
    struct graft_checkpoint *checkpoint = open_directory(folder);
    assert_tensors(checkpoint, "a");
    graft_checkpoint_close(checkpoint);

    assert_int_equal(rename(folder_path(folder, "1"), folder_path(outside, "1")), 0);
    folder_link(folder, "outside", folder_path(outside, "1"));
    folder_link(folder, "part", outside);
    put_index("{\"a\":\"outside\"}");
    checkpoint = open_directory(folder);
    assert_tensors(checkpoint, "a");
    graft_checkpoint_close(checkpoint);
    put_index("{\"a\":\"part/1\"}");
    checkpoint = open_directory(folder);
    assert_tensors(checkpoint, "a");
    graft_checkpoint_close(checkpoint);

    /* The single file, in the same way. */
    folder_link(folder, "model.safetensors", "outside");
    checkpoint = open_directory(folder);
    assert_tensors(checkpoint, "a");
    graft_checkpoint_close(checkpoint);
    (void)unlink(folder_path(folder, "model.safetensors"));

    put_index("{\"a\":\"part\"}");
    (void)assert_refused("part", "expected a regular file, found a directory");
    folder_link(folder, "nowhere", folder_path(outside, "2"));
    put_index("{\"a\":\"nowhere\"}");
    (void)assert_refused("nowhere", "expected a regular file, found a link that leads nowhere");
    folder_remove(outside);
}

/* The layout of the hub's cache: REPOSITORY/snapshots/REVISION/FILE links to REPOSITORY/blobs/HASH. */
static void test_hub_cache(void **state) {
    (void)state;
    static const char *const folders[] = {"repo", "repo/blobs", "repo/snapshots", "repo/snapshots/rev"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        folder_make(folder, folders[i]);
    }
    put_shard("repo/blobs/1234", "a");
    const char *model = folder_path(folder, "repo/snapshots/rev");
    folder_link(folder, "repo/snapshots/rev/1.safetensors", "../../blobs/1234");
    static const char index[] = "{\"metadata\":{},\"weight_map\":{\"a\":\"1.safetensors\"}}";
    folder_put(folder, "repo/snapshots/rev/" INDEX, index, sizeof index - 1);
    struct graft_checkpoint *checkpoint = open_directory(model);
    assert_tensors(checkpoint, "a");
    graft_checkpoint_close(checkpoint);
}

static void test_out_of_memory(void **state) {
    (void)state;
    put_shard("1", "ab");
    put_shard("2", "c");
    put_index("{\"a\":\"1\",\"c\":\"2\"}");
    for (long n = 1;; n++) {
        struct graft_checkpoint *checkpoint = NULL;
        struct graft_error error = graft_error_none();
        graft_alloc_fail_at(n);
        int status = graft_checkpoint_open(folder, &checkpoint, &error);
        if (graft_alloc_fail_at(0) > 0) {
            assert_int_equal(status, GRAFT_OK);
            graft_checkpoint_close(checkpoint);
            break;
        }
        assert_int_equal(status, GRAFT_ERROR_INTERNAL);
        assert_string_equal(error.message, "out of memory");
        assert_null(checkpoint);
    }
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_single),      WITH_FOLDER(test_shards),        WITH_FOLDER(test_single_before_index),
        WITH_FOLDER(test_no_weights),  WITH_FOLDER(test_bad_single),    WITH_FOLDER(test_index_form),
        WITH_FOLDER(test_index_paths), WITH_FOLDER(test_index_wrong),   WITH_FOLDER(test_absent_file),
        WITH_FOLDER(test_duplicate),   WITH_FOLDER(test_unlisted),      WITH_FOLDER(test_links),
        WITH_FOLDER(test_hub_cache),   WITH_FOLDER(test_out_of_memory), WITH_FOLDER(test_dot_in_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
