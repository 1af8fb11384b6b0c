/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the complete model directories of the goldens: copies files, and makes the weights of cases that have a recipe.
 * usage: make_models GOLDENS OUT STAMP DEPFILE GROUP... OUT/GROUP/CASE/ is made of GOLDENS/GROUP/CASE/. The depfile
 * names everything that was read, folders too, so that a new file counts. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "weights.h"

enum { MAX_PATH = 4096, BLOCK = 65536, MAX_DEPTH = 4 };

static FILE *open_or_fail(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (file == NULL) {
        weights_fail(path, strerror(errno));
    }
    return file;
}

static void copy_file(const char *from, const char *to) {
    static char block[BLOCK];
    FILE *in = open_or_fail(from, "rb");
    FILE *out = open_or_fail(to, "wb");
    for (size_t n = 0; (n = fread(block, 1, sizeof block, in)) > 0;) {
        (void)fwrite(block, 1, n, out);
    }
    if (ferror(in) != 0 || ferror(out) != 0 || fclose(out) != 0) {
        weights_fail(to, "cannot be written");
    }
    (void)fclose(in);
}

static void note_dependency(FILE *depfile, const char *path) {
    (void)fputc(' ', depfile);
    for (; *path != '\0'; path++) {
        if (*path == ' ') {
            (void)fputc('\\', depfile);
        }
        (void)fputc(*path, depfile);
    }
}

static void make_folder(const char *path) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        weights_fail(path, strerror(errno));
    }
}

static void copy_folder(const char *from, const char *to, FILE *depfile, int depth) {
    DIR *folder = opendir(from);
    if (folder == NULL || depth > MAX_DEPTH) {
        weights_fail(from, "not a folder that can be read");
    }
    make_folder(to);
    note_dependency(depfile, from);
    for (const struct dirent *entry = NULL; (entry = readdir(folder)) != NULL;) {
        char source[MAX_PATH], target[MAX_PATH];
        struct stat status;
        if (entry->d_name[0] == '.') {
            continue;
        }
        int length = snprintf(source, sizeof source, "%s/%s", from, entry->d_name);
        if (length >= MAX_PATH || snprintf(target, sizeof target, "%s/%s", to, entry->d_name) >= MAX_PATH ||
            stat(source, &status) != 0) {
            weights_fail(from, entry->d_name);
        }
        if (S_ISDIR(status.st_mode)) {
            copy_folder(source, target, depfile, depth + 1);
            continue;
        }
        note_dependency(depfile, source);
        if (strcmp(entry->d_name, "weights.txt") == 0) {
            weights_write(source, to);
        } else {
            copy_file(source, target);
        }
    }
    (void)closedir(folder);
}

int main(int argc, char **argv) {
    if (argc < 6) {
        weights_fail("usage", "make_models GOLDENS OUT STAMP DEPFILE GROUP...");
    }
    FILE *depfile = open_or_fail(argv[4], "w");
    (void)fprintf(depfile, "%s:", argv[3]);
    for (int i = 5; i < argc; i++) {
        char source[MAX_PATH], target[MAX_PATH];
        (void)snprintf(source, sizeof source, "%s/%s", argv[1], argv[i]);
        (void)snprintf(target, sizeof target, "%s/%s", argv[2], argv[i]);
        copy_folder(source, target, depfile, 0);
    }
    (void)fputc('\n', depfile);
    (void)fclose(depfile);
    (void)fclose(open_or_fail(argv[3], "w"));
    return 0;
}
