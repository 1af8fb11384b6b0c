/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of plugins for a test, and the results of loading them as text. */
#ifndef GRAFT_TEST_PLUGIN_FIXTURE_H
#define GRAFT_TEST_PLUGIN_FIXTURE_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "plugin/plugin.h"

enum { PATH_ROOM = 1024 };

/* printf into a path of PATH_ROOM bytes. */
__attribute__((format(printf, 2, 3))) static inline void set_path(char *path, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    assert_in_range(vsnprintf(path, PATH_ROOM, format, arguments), 1, PATH_ROOM - 1);
    va_end(arguments);
}

/* A new empty folder. */
static inline void make_folder(char *folder) {
    const char *base = getenv("TMPDIR");
    set_path(folder, "%s/graft-test-XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
}

/* Removes a folder with its files and their folders, one level deep. */
static inline void remove_folder(const char *folder) {
    DIR *stream = opendir(folder);
    for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        char path[PATH_ROOM];
        set_path(path, "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && unlink(path) != 0) {
            remove_folder(path);
        }
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    (void)rmdir(folder);
}

/* "build/tests/plugins/NAME/NAME.so". */
static inline void built_plugin(char *path, const char *name) {
    set_path(path, "%s/%s/%s.so", getenv("GRAFT_TEST_PLUGINS"), name, name);
}

static inline void write_bytes(const char *folder, const char *name, const void *bytes, size_t size) {
    char path[PATH_ROOM];
    set_path(path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Copies a built plugin to a new file of another name. */
static inline void copy_plugin(const char *folder, const char *name, const char *as) {
    char path[PATH_ROOM];
    static char bytes[4 << 20];
    built_plugin(path, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_true(size < sizeof bytes);
    (void)fclose(file);
    write_bytes(folder, as, bytes, size);
}

static inline void add_with_file_named(struct graft_text *report, const char *line, const char *folder) {
    const char *at = strstr(line, folder);
    while (at != NULL) {
        graft_text_add(report, line, (size_t)(at - line));
        graft_text_add_string(report, "DIR");
        line = at + strlen(folder);
        at = strstr(line, folder);
    }
    graft_text_add_string(report, line);
    graft_text_add_string(report, "\n");
}

/* Everything reported when one directory is loaded, whose name is written as DIR:
 *     error: SOURCE: MESSAGE; HINT
 *     note: NOTE
 *     plugins: N */
static inline void load_report(struct graft_text *report, const char *folder,
                               const struct graft_plugin_options *options) {
    struct graft_error error = graft_error_none();
    struct graft_plugin_set *set = NULL;
    char line[2048];
    int status = graft_plugins_load(&folder, 1, options, &set, &error);
    assert_int_equal(status, error.code);
    if (status != GRAFT_OK) {
        assert_null(strchr(error.message, '\n'));
        (void)snprintf(line, sizeof line, "error: %s: %s; %s", error.source, error.message, error.hint);
        add_with_file_named(report, line, folder);
        return;
    }
    for (size_t i = 0; i < set->n_notes; i++) {
        (void)snprintf(line, sizeof line, "note: %s", set->notes[i]);
        add_with_file_named(report, line, folder);
    }
    graft_text_printf(report, "plugins: %zu\n", set->n);
    graft_plugin_set_free(set);
}

#endif
