/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the header of a safetensors file needs at most 64 MB and six times its size, whatever it contains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/json_cost.h"
#include "tensor_file.h"
#include "weights/safetensors.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

enum { ALLOWED_MB = 64, ALLOWED_TIMES = 6, KB = 1024, NUMBER_ROOM = 16 };

static char folder[64];

/* A header that consists of `before`, a number of copies of `piece` with commas in between, and `after`. A # in a piece
 * becomes a number that differs. */
static char *make_header(const char *before, const char *piece, const char *after, size_t bytes) {
    char *header = malloc(bytes + strlen(before) + strlen(piece) + strlen(after) + NUMBER_ROOM);
    char *at = header + sprintf(header, "%s", before);
    const char *mark = strchr(piece, '#');
    for (unsigned i = 0; (size_t)(at - header) < bytes; i++) {
        at += i > 0 ? sprintf(at, ",") : 0;
        at +=
            mark != NULL ? sprintf(at, "%.*s%x%s", (int)(mark - piece), piece, i, mark + 1) : sprintf(at, "%s", piece);
    }
    (void)sprintf(at, "%s", after);
    return header;
}

static int64_t peak_kb(void) {
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* The increase of a process's peak memory by opening the file, in kB; the pages of the file count. */
static int64_t measure(int *status) {
    int ends[2], end = 0;
    int64_t grown[2] = {0, 0};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct graft_safetensors *file = NULL;
        int64_t before = peak_kb();
        grown[1] = graft_safetensors_open(folder_path(folder, "f"), &file, NULL);
        grown[0] = peak_kb() - before;
        _exit(write(ends[1], grown, sizeof grown) == (ssize_t)sizeof grown ? 0 : 1);
    }
    assert_int_equal(read(ends[0], grown, sizeof grown), sizeof grown);
    assert_int_equal(waitpid(child, &end, 0), child);
    (void)close(ends[0]);
    (void)close(ends[1]);
    *status = (int)grown[1];
    return grown[0];
}

#define EMPTY "{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}"

static const struct {
    const char *before, *piece, *after;
} headers[] = {
    {"{", "\"#\":" EMPTY, "}"},                       /* as writers write */
    {"{\"\\u0041\":" EMPTY ",", "\"#\":" EMPTY, "}"}, /* with an escape: for the parser */
    {"{\"__metadata__\":{", "\"#\":\"\"", "}}"},      /* tiny members */
    {"{\"__metadata__\":{\"a\":\"", "long", "\"}}"},  /* a large one */
    {"{\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"x\":[", "{}", "]}}"},
    {"{\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"x\":[", "[]", "]}}"},
    {"{\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"x\":[", "1", "]}}"},
    {"{\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"x\":[", "\"\"", "]}}"},
    {"{\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"x\":{", "\"#\":{}", "}}}"},
    {"{\"t\":", "[", "]}"},
};

static void test_bounded(void **state) {
    static const size_t sizes[] = {400000, 1200000, 12000000};
    (void)state;
    if (SANITIZED) {
        print_message("sanitizers need memory of their own: not measured\n");
        skip();
    }
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            int status = 0;
            char *header = make_header(headers[i].before, headers[i].piece, headers[i].after, sizes[k]);
            int64_t bytes = (int64_t)strlen(header);
            tensor_file_put(folder, "f", header, 0);
            int64_t grown = measure(&status) - bytes / KB;
            free(header);
            if (grown > (int64_t)ALLOWED_MB * KB + ALLOWED_TIMES * bytes / KB) {
                fail_msg("header %zu of %lld bytes: %lld kB", i, (long long)bytes, (long long)grown);
            }
            assert_true(status == GRAFT_OK || status == GRAFT_ERROR_MODEL);
            /* Large headers in the usual form are read. */
            assert_true(status == GRAFT_OK || i != 0);
        }
    }
}

/* Headers of real models: with escapes, and metadata of some megabytes. */
static void test_usual(void **state) {
    static const char tensor[] = "\"model.layers.#.self_attn.\\u0071_proj.weight\":" EMPTY;
    struct graft_safetensors *file = NULL;
    (void)state;
    char *header = make_header("{\"__metadata__\":{\"format\":\"pt\"},", tensor, "}", 1500000);
    tensor_file_put(folder, "f", header, 0);
    free(header);
    assert_int_equal(graft_safetensors_open(folder_path(folder, "f"), &file, NULL), GRAFT_OK);
    assert_true(graft_safetensors_count(file) > 10000);
    graft_safetensors_close(file);
    header = make_header("{\"__metadata__\":{\"tags\":\"", "some words", "\"}}", 8000000);
    tensor_file_put(folder, "f", header, 0);
    free(header);
    assert_int_equal(graft_safetensors_open(folder_path(folder, "f"), &file, NULL), GRAFT_OK);
    graft_safetensors_close(file);
}

static void test_refused(void **state) {
    struct graft_safetensors *file = NULL;
    struct graft_error error = graft_error_none();
    (void)state;
    char *header = make_header(headers[4].before, headers[4].piece, headers[4].after, 3000000);
    tensor_file_put(folder, "f", header, 0);
    free(header);
    assert_int_equal(graft_safetensors_open(folder_path(folder, "f"), &file, &error), GRAFT_ERROR_MODEL);
    assert_null(file);
    assert_string_equal(error.source, folder_path(folder, "f"));
    assert_non_null(strstr(error.message, "the header's JSON has an unusual form, and would take "));
}

/* Any text has a limit, also one that is no JSON. */
static void test_cost(void **state) {
    (void)state;
    assert_int_equal(graft_json_cost("", 0), 0);
    assert_int_equal(graft_json_cost("  ", 2), 0);
    assert_int_equal(graft_json_cost("{", 1), graft_json_cost("{}", 2));
    assert_true(graft_json_cost("{\"a\":1}", 7) > graft_json_cost("{}", 2) + graft_json_cost("1", 1));
    assert_true(graft_json_cost("\"abc", 4) > 0);
    assert_true(graft_json_cost("\"a\\\"", 4) > 0);
    assert_int_equal(graft_json_cost("[1,22,true]", 11), graft_json_cost("[1,2,x]", 7));
}

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_usual),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
