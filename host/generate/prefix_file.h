/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys and values of the tokens that begin a prompt, in a file. What is in it was computed by one model in one way, of
 * which `identity` is a hash: of the weights, the plan, and whatever else decides about bits. A file is untrusted: its
 * size is what its header says and the model keeps, and a sum over all of it is right, or it is refused.
 */
#ifndef GRAFT_GENERATE_PREFIX_FILE_H
#define GRAFT_GENERATE_PREFIX_FILE_H

#include "base/sha256.h"
#include "generate/run.h"

/* [load] Writes the pieces of a prefix of the run (run.h). */
int graft_prefix_file_write(const char *path, const char identity[GRAFT_SHA256_DIGITS + 1],
                            const struct graft_session *session, const struct graft_run_prefix *prefix,
                            struct graft_error *error);

/* What a file holds, before its keys and values are read. Starts as {0}. */
struct graft_prefix_file {
    int fd; /* -1: none */
    size_t size;
    const char *path;
    int32_t *ids; /* [count] */
    size_t count;
    uint64_t sum; /* that the whole is to have */
};

/* [load] Opens a file and reads its ids. One of another identity is GRAFT_ERROR_VERIFY, one that is broken
 * GRAFT_ERROR_MODEL. */
int graft_prefix_file_open(const char *path, const char identity[GRAFT_SHA256_DIGITS + 1], int64_t vocab_size,
                           struct graft_prefix_file *file, struct graft_error *error);

/* [load] Reads keys and values into a slot of the session, which has held a token before, so that its layers are known.
 * After an error what the slot holds is of no use. */
int graft_prefix_file_read(const struct graft_prefix_file *file, struct graft_session *session, int32_t slot,
                           struct graft_error *error);
void graft_prefix_file_close(struct graft_prefix_file *file);

#endif
