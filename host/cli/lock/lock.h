/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --lock FILE: what a model is made of, written down, and from then on required.
 *
 * A lock holds plugins (id, version, file name, SHA-256, values of options), the options given, and a hash of the plan.
 * Plugins are compared by their files before anything in them runs, the plan before a weight is read. docs/cli.md
 * describes the format.
 */
#ifndef GRAFT_CLI_LOCK_LOCK_H
#define GRAFT_CLI_LOCK_LOCK_H

#include <stdio.h>

#include "base/json.h"
#include "base/sha256.h"
#include "cli/options.h"
#include "graft/host/graft.h"

enum { GRAFT_LOCK_VERSION = 1 };

struct graft_locked_plugin {
    const char *id;
    const char *version;
    const char *file; /* name of its file, without folders */
    const char *sha256;
    const graft_json *options; /* an object of strings */
    int met;                   /* 1: the file was found */
};

/* A plugin file whose SHA-256 is not in the lock. */
struct graft_unlocked_file {
    char *name;
    char sha256[GRAFT_SHA256_DIGITS + 1];
};

struct graft_lock {
    const char *file;
    FILE *out;            /* stream to which differences are printed: stderr */
    graft_json *document; /* owns the strings below */
    const char *host;     /* version of the program that wrote it */
    const char *plan;     /* SHA-256 of the plan */
    const graft_json *options;
    struct graft_locked_plugin *plugins;
    size_t n;
    struct graft_unlocked_file *unlocked;
    size_t n_unlocked;
    size_t unlocked_capacity;
    size_t differences; /* number printed so far */
};

/* Reads the file of --lock, if it exists, into options->locked, which the caller frees. Anything that graft_lock_write
 * would not write is GRAFT_ERROR_MODEL. */
int graft_lock_read(struct graft_options *options, struct graft_error *error);
void graft_lock_free(struct graft_lock *lock);

/* Callback for struct graft_library_options: allows only locked files to be opened. `data` is the lock. */
int graft_lock_on_file(void *data, const char *file, const char *sha256, int32_t *open, struct graft_error *error);

/* Call it after plugins were loaded with `status`. Prints each plugin and option that differs from the lock and then
 * fails with GRAFT_ERROR_VERIFY; otherwise, and without a lock, returns `status`. */
int graft_lock_check_plugins(const struct graft_options *options, const struct graft_library *library, int status,
                             struct graft_error *error);

/* Call it after a model was opened and fused. Compares the plan with the lock, or writes the lock if the file did not
 * exist. Does nothing without --lock. */
int graft_lock_check_plan(const struct graft_options *options, const struct graft_model *model,
                          const struct graft_library *library, struct graft_error *error);

/* The SHA-256 of the plan: of `plan --json` without paths of files, notes and sums of bytes. */
int graft_lock_hash_plan(const struct graft_model *model, char digits[GRAFT_SHA256_DIGITS + 1],
                         struct graft_error *error);

/* Writes options->lock. */
int graft_lock_write(const struct graft_options *options, const struct graft_model *model,
                     const struct graft_library *library, struct graft_error *error);

#endif
