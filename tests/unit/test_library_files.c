/* SPDX-License-Identifier: Apache-2.0 */
/* Files and the library's calls: which files of a directory are opened, chosen by their content, and which numbers can
 * be written to a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "folder.h"
#include "graft/host/graft.h"
#include "graft/host/observe.h"

/* The wanted files, and the calls that asked for them. */
struct choice {
    const char *only; /* a part of the file's name; NULL: all */
    int status;       /* for each file */
    int asked;
};

static int choose(void *data, const char *file, const char *sha256, int32_t *open, struct graft_error *error) {
    struct choice *choice = data;
    char digits[GRAFT_SHA256_DIGITS + 1];
    assert_int_equal(*open, 1);
    assert_int_equal(graft_sha256_file(file, GRAFT_ERROR_IO, digits, NULL), GRAFT_OK);
    assert_string_equal(sha256, digits);
    choice->asked++;
    *open = choice->only == NULL || strstr(file, choice->only) != NULL;
    return choice->status == GRAFT_OK ? GRAFT_OK : graft_error_set(error, choice->status, file, "no more of them");
}

static int load(struct choice *choice, struct graft_library **library, struct graft_error *error) {
    char folders[2][1024];
    const char *directories[] = {folders[0], folders[1]};
    const struct graft_library_options options = {
        .struct_size = sizeof options, .on_file = choose, .on_file_data = choice};
    *error = graft_error_none();
    (void)snprintf(folders[0], sizeof folders[0], "%s/fused_qkv", getenv("GRAFT_PLUGINS"));
    (void)snprintf(folders[1], sizeof folders[1], "%s/sequential_experts", getenv("GRAFT_PLUGINS"));
    assert_int_equal(graft_library_create(library, NULL), GRAFT_OK);
    return graft_library_load_plugins(*library, directories, 2, &options, error);
}

static void test_chosen(void **state) {
    struct choice all = {0}, one = {.only = "sequential"};
    struct graft_library *library = NULL;
    struct graft_error error;
    char digits[GRAFT_SHA256_LENGTH + 1], wanted[GRAFT_SHA256_LENGTH + 1];
    (void)state;
    assert_int_equal(load(&all, &library, &error), GRAFT_OK);
    assert_int_equal(all.asked, 2);
    assert_non_null(graft_library_plugin(library, 1));
    graft_library_free(library);
    assert_int_equal(load(&one, &library, &error), GRAFT_OK);
    assert_int_equal(one.asked, 2);
    assert_string_equal(graft_library_plugin(library, 0)->descriptor->id, "sequential_experts");
    assert_null(graft_library_plugin(library, 1));
    assert_non_null(strstr(graft_library_note(library, 0), "fused_qkv.so: left out"));
    assert_int_equal(graft_library_plugin_sha256(library, 0, digits, NULL), GRAFT_OK);
    assert_int_equal(graft_sha256_file(graft_library_plugin(library, 0)->file, GRAFT_ERROR_IO, wanted, NULL), GRAFT_OK);
    assert_string_equal(digits, wanted);
    assert_int_equal(graft_library_plugin_sha256(library, 1, digits, NULL), GRAFT_OK);
    assert_string_equal(digits, "");
    graft_library_free(library);
}

static void test_ended(void **state) {
    struct choice choice = {.status = GRAFT_ERROR_IO};
    struct graft_library *library = NULL;
    struct graft_error error;
    (void)state;
    assert_int_equal(load(&choice, &library, &error), GRAFT_ERROR_IO);
    assert_string_equal(error.message, "no more of them");
    assert_int_equal(choice.asked, 1);
    assert_null(graft_library_plugin(library, 0));
    graft_library_free(library);
}

/* Numbers that cannot be those of an array are refused before any of them is used, and no file is written. */
static void test_recorded(void **state) {
    static const float numbers[24] = {1};
    static const struct {
        struct graft_recorded recorded;
        const char *field; /* NULL: it can be written */
    } cases[] = {
        {{.name = "x", .rank = 3, .shape = {2, 3, 4}, .data = numbers}, NULL},
        {{.name = "x", .rank = 2, .shape = {0, 3}}, NULL},
        {{.name = "x", .rank = 3, .shape = {-1, 2, 3}, .data = numbers}, "shape"},
        {{.name = "x", .rank = 2, .shape = {-2, -2}, .data = numbers}, "shape"},
        {{.name = "x", .rank = 3, .shape = {INT64_C(1) << 40, INT64_C(1) << 40, 1}, .data = numbers}, "shape"},
        {{.name = "x", .rank = 3, .shape = {1, INT64_MAX, 2}, .data = numbers}, "shape"},
        {{.name = "x", .rank = 7, .shape = {2, 3, 4}, .data = numbers}, "rank"},
        {{.name = "x", .rank = 0, .shape = {2, 3, 4}, .data = numbers}, "rank"},
        {{.name = "x", .rank = -1, .shape = {2, 3, 4}, .data = numbers}, "rank"},
        {{.name = "x", .rank = 1, .shape = {2}}, "data"},
        {{.name = NULL, .rank = 1, .shape = {2}, .data = numbers}, "name"},
        {{.name = "\xff", .rank = 1, .shape = {2}, .data = numbers}, "name"},
        {{.name = "__metadata__", .rank = 1, .shape = {2}, .data = numbers}, "name"},
    };
    char folder[64];
    (void)state;
    folder_create(folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_error error = graft_error_none();
        struct graft_recorded recorded = cases[i].recorded;
        recorded.struct_size = sizeof recorded;
        int status = graft_recorded_write(folder_path(folder, "x.safetensors"), &recorded, 1, &error);
        assert_int_equal(status, cases[i].field != NULL ? GRAFT_ERROR_USAGE : GRAFT_OK);
        assert_string_equal(error.source, cases[i].field != NULL ? cases[i].field : "");
        assert_int_equal(folder_count(folder), cases[i].field == NULL);
        (void)unlink(folder_path(folder, "x.safetensors"));
    }
    assert_int_equal(graft_recorded_write("", NULL, 0, NULL), GRAFT_ERROR_USAGE);
    folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_ended),
        cmocka_unit_test(test_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
