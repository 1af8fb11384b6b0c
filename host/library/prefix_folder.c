/* SPDX-License-Identifier: Apache-2.0 */
/* A folder with the prefixes of many prompts: a file for each, named by a hash of its model and tokens. The total size
 * is bounded; files that were not used for longest are removed first, where a use sets the modification time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "generate/prefix_file.h"
#include "library/sequences.h"

static const char ending[] = ".session";
static const char unfinished[] = ".session.tmp-"; /* the name that graft_file_write gives to incomplete files */

/* A file of the folder. */
struct kept {
    char *path;
    int64_t bytes;
    struct timespec used;
    int is_whole; /* 0: the file is still being written, or was left by a writer that was killed */
};

struct folder {
    struct kept *files; /* [n] */
    size_t n, capacity;
};

static void folder_free(struct folder *folder) {
    for (size_t i = 0; i < folder->n; i++) {
        graft_free(folder->files[i].path);
    }
    graft_free(folder->files);
}

static int add_file(struct folder *folder, const char *path, const char *name) {
    struct stat status;
    struct kept file = {.path = graft_path_join(path, name), .is_whole = graft_ends_with(name, ending)};
    if (file.path == NULL || graft_grow(&folder->files, &folder->capacity, folder->n, sizeof *folder->files) != 0) {
        graft_free(file.path);
        return -1;
    }
    if (lstat(file.path, &status) != 0 || !S_ISREG(status.st_mode)) {
        graft_free(file.path); /* another process has removed it, or it is not a regular file */
        return 0;
    }
    file.bytes = (int64_t)status.st_size;
    file.used = status.st_mtim;
    folder->files[folder->n++] = file;
    return 0;
}

static int folder_read(struct folder *folder, const char *path, struct graft_error *error) {
    DIR *directory = opendir(path);
    int failed = 0;
    *folder = (struct folder){0};
    if (directory == NULL) {
        return graft_fail_errno(error, GRAFT_ERROR_IO, path, "cannot be opened", errno);
    }
    for (const struct dirent *entry = readdir(directory); entry != NULL && !failed; entry = readdir(directory)) {
        const char *name = entry->d_name;
        failed =
            (graft_ends_with(name, ending) || strstr(name, unfinished) != NULL) && add_file(folder, path, name) != 0;
    }
    (void)closedir(directory);
    if (failed) {
        folder_free(folder);
        return graft_fail_memory(error, path);
    }
    return GRAFT_OK;
}

static void touch(const char *path) {
    (void)utimensat(AT_FDCWD, path, NULL, 0);
}

static int is_older(const struct kept *a, const struct kept *b) {
    return a->used.tv_sec != b->used.tv_sec ? a->used.tv_sec < b->used.tv_sec : a->used.tv_nsec < b->used.tv_nsec;
}

static int make_room(const char *path, int64_t max_bytes, struct graft_error *error) {
    struct folder folder;
    int64_t bytes = 0;
    int status = folder_read(&folder, path, error);
    if (status != GRAFT_OK) {
        return status;
    }
    for (size_t i = 0; i < folder.n; i++) {
        bytes += folder.files[i].bytes;
    }
    while (bytes > max_bytes && folder.n > 0) {
        size_t oldest = 0;
        for (size_t i = 1; i < folder.n; i++) {
            oldest = is_older(&folder.files[i], &folder.files[oldest]) ? i : oldest;
        }
        (void)unlink(folder.files[oldest].path);
        bytes -= folder.files[oldest].bytes;
        graft_free(folder.files[oldest].path);
        folder.files[oldest] = folder.files[--folder.n];
    }
    folder_free(&folder);
    return GRAFT_OK;
}

/* FOLDER/HASH.session, with a hash of the identity and the tokens. */
static char *path_of(const char *folder, const char *identity, const struct graft_run_prefix *prefix) {
    struct graft_sha256 hash;
    char digits[GRAFT_SHA256_DIGITS + 1];
    graft_sha256_start(&hash);
    graft_sha256_add(&hash, identity, GRAFT_SHA256_DIGITS);
    graft_sha256_add(&hash, prefix->ids, prefix->count * sizeof *prefix->ids);
    graft_sha256_end(&hash, digits);
    return graft_format("%s/%.32s%s", folder, digits, ending);
}

/* Writes a file, after making room for it, so that the folder is never larger than it may be. */
static int write_file(struct graft_sequences *sequences, const char *folder, const char *path, int64_t max_bytes,
                      const struct graft_run_prefix *prefix, struct graft_error *error) {
    const int64_t bytes = graft_prefix_file_bytes(sequences->session, prefix);
    if (bytes > max_bytes) {
        return graft_error_set(error, GRAFT_ERROR_IO, folder,
                               "the keys and values of %zu tokens take %lld bytes, of at most %lld", prefix->count,
                               (long long)bytes, (long long)max_bytes);
    }
    int status = make_room(folder, max_bytes - bytes, error);
    return status == GRAFT_OK ? graft_prefix_file_write(path, sequences->identity, sequences->session, prefix, error)
                              : status;
}

/* Sees to it that the folder has a prefix. */
static int keep(struct graft_sequences *sequences, const char *folder, int64_t max_bytes,
                const struct graft_run_prefix *prefix, int64_t *tokens, struct graft_error *error) {
    char *path = path_of(folder, sequences->identity, prefix);
    int status = path != NULL ? GRAFT_OK : graft_fail_memory(error, folder);
    if (status == GRAFT_OK && graft_file_exists(path)) {
        touch(path);
        status = make_room(folder, max_bytes, error);
    } else if (status == GRAFT_OK) {
        status = write_file(sequences, folder, path, max_bytes, prefix, error);
        *tokens += status == GRAFT_OK ? (int64_t)prefix->count : 0;
    }
    graft_free(path);
    return status;
}

static int save_in(struct graft_sequences *sequences, const char *folder, int64_t max_bytes, int64_t *tokens,
                   struct graft_error *error) {
    int status = graft_sequences_identify(sequences, error);
    const struct graft_run_prefix prefix = graft_run_longest_prefix(sequences->run);
    return status == GRAFT_OK && prefix.count > 0 ? keep(sequences, folder, max_bytes, &prefix, tokens, error) : status;
}

/* A prefix that cannot be written is not tried again. */
static int save_shared_in(struct graft_sequences *sequences, const char *folder, int64_t max_bytes, int64_t *tokens,
                          struct graft_error *error) {
    int status = graft_sequences_identify(sequences, error);
    struct graft_run_prefix prefix = graft_run_shared_prefix(sequences->run);
    while (status == GRAFT_OK && prefix.count > 0) {
        graft_run_keep_prefix(sequences->run, &prefix);
        status = keep(sequences, folder, max_bytes, &prefix, tokens, error);
        prefix = graft_run_shared_prefix(sequences->run);
    }
    return status;
}

int graft_sequences_save_in(struct graft_sequences *sequences, const char *folder, int64_t max_bytes, int64_t *tokens,
                            struct graft_error *error) {
    struct graft_context *before = graft_model_begin(sequences->model);
    int status = graft_check_given_path(folder, "folder", error);
    *tokens = 0;
    if (status == GRAFT_OK) {
        status = save_in(sequences, folder, max_bytes, tokens, error);
    }
    (void)graft_context_enter(before);
    return status;
}

int graft_sequences_save_shared_in(struct graft_sequences *sequences, const char *folder, int64_t max_bytes,
                                   int64_t *tokens, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(sequences->model);
    int status = graft_check_given_path(folder, "folder", error);
    *tokens = 0;
    if (status == GRAFT_OK) {
        status = save_shared_in(sequences, folder, max_bytes, tokens, error);
    }
    (void)graft_context_enter(before);
    return status;
}

static size_t alike(const struct graft_prefix_file *file, const int32_t *ids, size_t count) {
    size_t n = 0;
    while (n < file->count && n < count && file->ids[n] == ids[n]) {
        n++;
    }
    return n;
}

/* Opens the file that has the longest common prefix with the ids, `least` tokens or more. Returns 0 if there is
 * none. */
static int find(struct graft_sequences *sequences, const struct folder *folder, const int32_t *ids, size_t count,
                size_t least, struct graft_prefix_file *found) {
    size_t most = least > 0 ? least - 1 : 0;
    for (size_t i = 0; i < folder->n; i++) {
        struct graft_prefix_file file;
        if (!folder->files[i].is_whole ||
            graft_prefix_file_open(folder->files[i].path, sequences->identity, sequences->model->vocab_size, &file,
                                   NULL) != GRAFT_OK) {
            continue;
        }
        const size_t n = alike(&file, ids, count);
        if (n > most) {
            most = n;
            graft_prefix_file_close(found);
            *found = file;
        } else {
            graft_prefix_file_close(&file);
        }
    }
    return found->fd >= 0;
}

static int load_from(struct graft_sequences *sequences, const char *path, const int32_t *ids, size_t count,
                     int64_t *tokens, struct graft_error *error) {
    struct folder folder;
    struct graft_error passed_over = graft_error_none();
    struct graft_prefix_file file = {.fd = -1};
    const size_t least = graft_run_known(sequences->run, ids, count) + graft_run_piece(sequences->run);
    int status = graft_sequences_identify(sequences, error);
    if (status == GRAFT_OK && count > 0 && count < least) {
        return GRAFT_OK; /* no file can have more */
    }
    if (status == GRAFT_OK) {
        status = folder_read(&folder, path, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (find(sequences, &folder, ids, count, least, &file)) {
        status = graft_sequences_put(sequences, &file, tokens, &passed_over);
        if (status == GRAFT_OK) {
            touch(file.path);
        } else if (status != GRAFT_ERROR_MODEL) {
            status = graft_error_set(error, status, passed_over.source, "%s", passed_over.message);
        } else {
            (void)unlink(file.path); /* a damaged file would be found again; the prompt is read as usual */
            status = GRAFT_OK;
        }
    }
    graft_prefix_file_close(&file);
    folder_free(&folder);
    return status;
}

int graft_sequences_load_from(struct graft_sequences *sequences, const char *folder, const int32_t *ids, size_t count,
                              int64_t *tokens, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(sequences->model);
    int status = graft_check_given_path(folder, "folder", error);
    *tokens = 0;
    if (status == GRAFT_OK) {
        status = load_from(sequences, folder, ids, count, tokens, error);
    }
    (void)graft_context_enter(before);
    return status;
}
