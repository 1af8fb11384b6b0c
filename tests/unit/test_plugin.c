/* SPDX-License-Identifier: Apache-2.0 */
/* Loads every plugin of tests/plugins, alone in its directory: each line of its expected.txt has to be part of the
 * messages. FILE stands for the plugin's name. */
#include "plugin_fixture.h"

static void read_text(char *text, size_t room, const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    (void)fclose(file);
}

/* A copy of `line` with FILE replaced, without the line end. */
static void expand(char *wanted, const char *line, size_t length, const char *name) {
    const char *at = strstr(line, "FILE");
    if (at == NULL || at > line + length) {
        set_path(wanted, "%.*s", (int)length, line);
        return;
    }
    set_path(wanted, "%.*sDIR/%s.so%.*s", (int)(at - line), line, name, (int)(line + length - at - 4), at + 4);
}

/* Returns the number of lines that are missing. */
static int check_plugin(const char *name, const char *expected) {
    char folder[PATH_ROOM];
    struct graft_text report = {0};
    int missing = 0;
    set_path(folder, "%s/%s", getenv("GRAFT_TEST_PLUGINS"), name);
    load_report(&report, folder, NULL);
    for (const char *line = expected; *line != '\0';) {
        char wanted[PATH_ROOM];
        size_t length = strcspn(line, "\n");
        expand(wanted, line, length, name);
        if (strstr(report.bytes, wanted) == NULL) {
            print_error("%s: expected \"%s\", got:\n%s", name, wanted, report.bytes);
            missing++;
        }
        line += length + (line[length] == '\n');
    }
    graft_text_free(&report);
    return missing;
}

static void test_faults(void **state) {
    char folder[PATH_ROOM];
    char path[PATH_ROOM];
    static char expected[4096];
    int checked = 0;
    int missing = 0;
    (void)state;
    set_path(folder, "%s/plugins", getenv("GRAFT_TEST_DATA"));
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        set_path(path, "%s/%s/expected.txt", folder, entry->d_name);
        if (access(path, R_OK) == 0) {
            read_text(expected, sizeof expected, path);
            missing += check_plugin(entry->d_name, expected);
            checked++;
        }
    }
    (void)closedir(stream);
    assert_int_equal(missing, 0);
    assert_true(checked > 30);
}

/* An unusable plugin becomes a note, and the others are loaded. */
static void test_faults_are_skipped(void **state) {
    static const struct graft_plugin_options skip = {.skip_bad = 1};
    char folder[PATH_ROOM];
    struct graft_text report = {0};
    (void)state;
    make_folder(folder);
    copy_plugin(folder, "entry_refuses", "a.so");
    copy_plugin(folder, "init_fails", "b.so");
    copy_plugin(folder, "good", "c.so");
    copy_plugin(folder, "rename_two", "d.so");
    copy_plugin(folder, "undefined_symbol", "e.so");
    copy_plugin(folder, "good_twin", "f.so");
    load_report(&report, folder, &skip);
    assert_string_equal(
        report.bytes,
        "note: DIR/a.so: skipped: graft_plugin_entry returned NULL: libspecial: this machine has no AVX-1024?at all\n"
        "note: DIR/d.so: skipped: replacements[0].replacement.conversions[0]: a renaming (no operations) takes 1 source"
        " and 1 target, got 2 and 1\n"
        "note: DIR/e.so: skipped: cannot be loaded: undefined symbol: graft_test_nowhere\n"
        "note: DIR/f.so: skipped: the plugin id \"good\" is already used by DIR/c.so\n"
        "note: DIR/b.so: skipped: init failed: the licence server does not answer\n"
        "plugins: 1\n");
    graft_text_free(&report);
    remove_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_faults_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
