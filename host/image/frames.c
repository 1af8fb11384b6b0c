/* SPDX-License-Identifier: Apache-2.0 */
#include "image/frames.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"

static size_t digits(const char *text) {
    return strspn(text, "0123456789");
}

/* Compares two runs of digits by their value, and moves both pointers after them. */
static int compare_numbers(const char **one, const char **other) {
    *one += strspn(*one, "0");
    *other += strspn(*other, "0");
    size_t length = digits(*one);
    size_t other_length = digits(*other);
    int order = length != other_length ? (length < other_length ? -1 : 1) : memcmp(*one, *other, length);
    *one += length;
    *other += other_length;
    return order;
}

int graft_frame_names_compare(const char *one, const char *other) {
    const char *a = one, *b = other;
    while (*a != '\0' && *b != '\0') {
        int order;
        if (digits(a) > 0 && digits(b) > 0) {
            order = compare_numbers(&a, &b);
        } else {
            order = (unsigned char)*a++ - (unsigned char)*b++;
        }
        if (order != 0) {
            return order;
        }
    }
    /* one name is a prefix of the other, or they differ only in leading zeros */
    return *a != *b ? (unsigned char)*a - (unsigned char)*b : strcmp(one, other);
}

static int compare(const void *one, const void *other) {
    return graft_frame_names_compare(*(char *const *)one, *(char *const *)other);
}

static int add(struct graft_frame_files *files, const char *directory, const char *name, struct graft_error *error) {
    if (files->count == GRAFT_MAX_FRAMES) {
        return graft_error_set(error, GRAFT_ERROR_IO, directory,
                               "has more than %d files: expected the frames of one video", GRAFT_MAX_FRAMES);
    }
    if (graft_grow(&files->paths, &files->capacity, files->count, sizeof *files->paths) != 0) {
        return graft_fail_memory(error, directory);
    }
    files->paths[files->count] = graft_path_join(directory, name);
    if (files->paths[files->count] == NULL) {
        return graft_fail_memory(error, directory);
    }
    files->count++;
    return GRAFT_OK;
}

int graft_frame_files_find(const char *directory, struct graft_frame_files *files, struct graft_error *error) {
    DIR *stream = opendir(directory);
    int status = GRAFT_OK;
    *files = (struct graft_frame_files){0};
    if (stream == NULL) {
        return graft_fail_errno(error, GRAFT_ERROR_IO, directory, "cannot be read as a directory of frames", errno);
    }
    errno = 0;
    for (const struct dirent *entry; status == GRAFT_OK && (entry = readdir(stream)) != NULL; errno = 0) {
        if (entry->d_name[0] != '.') {
            status = add(files, directory, entry->d_name, error);
        }
    }
    if (status == GRAFT_OK && errno != 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, directory, "cannot be read completely", errno);
    }
    (void)closedir(stream);
    if (status == GRAFT_OK && files->count == 0) {
        status = graft_error_set(error, GRAFT_ERROR_IO, directory, "has no frames: expected PNG or JPEG files");
    }
    if (status == GRAFT_OK) {
        qsort(files->paths, files->count, sizeof *files->paths, compare);
    }
    return status;
}

void graft_frame_files_finish(struct graft_frame_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        graft_free(files->paths[i]);
    }
    graft_free(files->paths);
    *files = (struct graft_frame_files){0};
}
