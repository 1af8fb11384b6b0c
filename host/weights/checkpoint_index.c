/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints in shards: opens the files that an index lists, and checks files and index against each other. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "weights/checkpoint_parts.h"
#include "weights/shard_index.h"

/* An index whose files are being opened. */
struct follower {
    struct graft_checkpoint *checkpoint;
    const char *path; /* path of the index */
    struct graft_shard_index index;
    struct graft_error *error;
};

/* Records that the file of `n` entries is missing. */
static int add_absent(const struct follower *follower, const struct graft_shard_entry *entries, size_t n) {
    struct graft_checkpoint *checkpoint = follower->checkpoint;
    if (graft_grow(&checkpoint->absent, &checkpoint->absent_capacity, checkpoint->n_absent,
                   sizeof *checkpoint->absent) != 0) {
        return graft_fail_memory(follower->error, follower->path);
    }
    struct graft_absent_file *absent = &checkpoint->absent[checkpoint->n_absent++];
    *absent = (struct graft_absent_file){.name = graft_strdup(entries->file),
                                         .tensors = graft_alloc(n, sizeof *absent->tensors)};
    int failed = absent->name == NULL || absent->tensors == NULL;
    for (size_t i = 0; i < n && !failed; i++) {
        absent->tensors[i] = graft_strdup(entries[i].tensor);
        failed = absent->tensors[i] == NULL;
        absent->n_tensors += (size_t)!failed;
    }
    return failed ? graft_fail_memory(follower->error, follower->path) : GRAFT_OK;
}

/* Looks for the file of `n` entries, and records it as absent if it is missing. */
static int find_file(const struct follower *follower, const struct graft_shard_entry *entries, size_t n,
                     int *is_there) {
    char *path = graft_path_join(follower->checkpoint->directory, entries->file);
    if (path == NULL) {
        return graft_fail_memory(follower->error, follower->path);
    }
    *is_there = graft_file_exists(path);
    graft_free(path);
    return *is_there ? GRAFT_OK : add_absent(follower, entries, n);
}

/* Checks that a file has every tensor listed for it. */
static int check_listed(const struct follower *follower, const struct graft_checkpoint_part *part,
                        const struct graft_shard_entry *entries, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (graft_safetensors_find(part->safetensors, entries[i].tensor) == NULL) {
            return graft_error_set(follower->error, GRAFT_ERROR_MODEL, follower->path,
                                   "weight_map lists tensor \"%.300s\" for \"%.300s\", which does not have it",
                                   entries[i].tensor, part->name);
        }
    }
    return GRAFT_OK;
}

/* Checks that no tensor of a file is listed for another one. A tensor that is not listed at all is unambiguous, so it
 * is kept. */
static int check_unlisted(const struct follower *follower, const struct graft_checkpoint_part *part) {
    const char *first = NULL;
    size_t unlisted = 0;
    for (size_t i = 0; i < part->file.tensors; i++) {
        const char *tensor = graft_safetensors_at(part->safetensors, i)->name;
        const char *listed = graft_shard_index_file(&follower->index, tensor);
        if (listed == NULL) {
            first = unlisted++ == 0 ? tensor : first;
        } else if (strcmp(listed, part->name) != 0) {
            return graft_error_set(follower->error, GRAFT_ERROR_MODEL, follower->path,
                                   "tensor \"%.300s\" is in \"%.300s\", but weight_map lists it for \"%.300s\"", tensor,
                                   part->name, listed);
        }
    }
    if (unlisted == 0) {
        return GRAFT_OK;
    }
    char *note = graft_format("%s does not list %zu of the tensors in %s (\"%s\"); used all the same",
                              GRAFT_CHECKPOINT_INDEX, unlisted, part->name, first);
    return graft_checkpoint_add_note(follower->checkpoint, note, follower->error);
}

static int follow_file(const struct follower *follower, const struct graft_shard_entry *entries, size_t n) {
    struct graft_checkpoint *checkpoint = follower->checkpoint;
    int is_there = 0;
    int status = find_file(follower, entries, n, &is_there);
    if (status != GRAFT_OK || !is_there) {
        return status;
    }
    status = graft_checkpoint_add_file(checkpoint, entries->file, follower->error);
    if (status == GRAFT_OK) {
        status = check_listed(follower, &checkpoint->parts[checkpoint->n_parts - 1], entries, n);
    }
    if (status == GRAFT_OK) {
        status = check_unlisted(follower, &checkpoint->parts[checkpoint->n_parts - 1]);
    }
    return status;
}

int graft_checkpoint_add_indexed(struct graft_checkpoint *checkpoint, const char *path, struct graft_error *error) {
    struct follower follower = {.checkpoint = checkpoint, .path = path, .error = error};
    const struct graft_shard_index *index = &follower.index;
    int status = graft_shard_index_read(path, &follower.index, error);
    for (size_t i = 0; i < index->count && status == GRAFT_OK;) {
        const struct graft_shard_entry *first = &index->entries[i];
        size_t n = 1;
        while (i + n < index->count && strcmp(first[n].file, first->file) == 0) {
            n++;
        }
        status = follow_file(&follower, first, n);
        i += n;
    }
    graft_shard_index_finish(&follower.index);
    return status;
}

int graft_checkpoint_fail_absent(const struct graft_checkpoint *checkpoint, const struct graft_absent_file *absent,
                                 const char *tensor, struct graft_error *error) {
    char *path = graft_path_join(checkpoint->directory, GRAFT_CHECKPOINT_INDEX);
    if (path == NULL) {
        return graft_fail_memory(error, checkpoint->directory);
    }
    int status =
        graft_error_set(error, GRAFT_ERROR_MODEL, path,
                        "weight_map lists \"%.300s\" for %zu tensors (\"%.300s\"), but that file does not exist",
                        absent->name, absent->n_tensors, tensor);
    graft_free(path);
    return status;
}
