/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that hold the keys and values of the first tokens of a prompt. They are valid for one model and one way to
 * compute it: `identity` is a hash of the weights, the plan, and whatever else affects the bits. Files are untrusted:
 * one is refused unless its size matches its header and the model, and its checksum is right.
 */
#ifndef GRAFT_GENERATE_PREFIX_FILE_H
#define GRAFT_GENERATE_PREFIX_FILE_H

#include "base/sha256.h"
#include "generate/run.h"

/* [load] Writes a prefix of a run (run.h). */
int graft_prefix_file_write(const char *path, const char identity[GRAFT_SHA256_DIGITS + 1],
                            const struct graft_session *session, const struct graft_run_prefix *prefix,
                            struct graft_error *error);

/* [any] The size of the file for a prefix. */
int64_t graft_prefix_file_bytes(const struct graft_session *session, const struct graft_run_prefix *prefix);

/* An open file whose keys and values are not read yet. Starts as {0}. */
struct graft_prefix_file {
    int fd; /* -1: none */
    size_t size;
    const char *path;
    int32_t *ids; /* [count] */
    size_t count;
    uint64_t sum; /* the checksum in the header */
};

/* [load] Opens a file and reads its ids. A file of another identity is GRAFT_ERROR_VERIFY, a damaged one
 * GRAFT_ERROR_MODEL. */
int graft_prefix_file_open(const char *path, const char identity[GRAFT_SHA256_DIGITS + 1], int64_t vocab_size,
                           struct graft_prefix_file *file, struct graft_error *error);

/* [load] Reads keys and values into an empty slot of the session. A token must have been through that slot before,
 * since only then its layers are known. After an error the content of the slot is undefined. */
int graft_prefix_file_read(const struct graft_prefix_file *file, struct graft_session *session, int32_t slot,
                           struct graft_error *error);
void graft_prefix_file_close(struct graft_prefix_file *file);

#endif
