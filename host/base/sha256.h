/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), for identifying files. All functions are [any]. */
#ifndef GRAFT_BASE_SHA256_H
#define GRAFT_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

enum { GRAFT_SHA256_BLOCK = 64, GRAFT_SHA256_DIGITS = 64 };

/* A hash in progress. Starts with graft_sha256_start. */
struct graft_sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes hashed so far */
    unsigned char block[GRAFT_SHA256_BLOCK];
};

void graft_sha256_start(struct graft_sha256 *hash);
void graft_sha256_add(struct graft_sha256 *hash, const void *bytes, size_t length);

/* Ends the hash and writes it as lower-case hexadecimal digits with a NUL. `hash` must be started again before it is
 * used again. */
void graft_sha256_end(struct graft_sha256 *hash, char digits[GRAFT_SHA256_DIGITS + 1]);

/* The hash of `length` bytes. */
void graft_sha256_of(const void *bytes, size_t length, char digits[GRAFT_SHA256_DIGITS + 1]);

/* The hash of a regular file, read piece by piece. `code` is the status of errors. */
int graft_sha256_file(const char *path, int code, char digits[GRAFT_SHA256_DIGITS + 1], struct graft_error *error);

/* Whether a text has the form of a hash: the right number of lower-case digits. */
int graft_sha256_is(const char *text);

#endif
