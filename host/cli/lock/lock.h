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
    const char *file; /* without folders */
    const char *sha256;
    const graft_json *options; /* an object of strings */
    int met;                   /* such a file was found */
};

/* A file found that is not locked, by its content. */
struct graft_unlocked_file {
    char *name;
    char sha256[GRAFT_SHA256_DIGITS + 1];
};

struct graft_lock {
    const char *file;
    FILE *out;            /* where differences are named: stderr */
    graft_json *document; /* holds what the strings here point to */
    const char *host;     /* the version that wrote it */
    const char *plan;     /* SHA-256 */
    const graft_json *options;
    struct graft_locked_plugin *plugins;
    size_t n;
    struct graft_unlocked_file *unlocked;
    size_t n_unlocked;
    size_t unlocked_capacity;
    size_t differences; /* named so far */
};

/* Reads what --lock names into options->locked, if the file exists; the caller frees that. Whatever is not as
 * graft_lock_write writes it is a GRAFT_ERROR_MODEL. */
int graft_lock_read(struct graft_options *options, struct graft_error *error);
void graft_lock_free(struct graft_lock *lock);

/* For struct graft_library_options: opens the files that are locked, and no others. `data` is the lock. */
int graft_lock_on_file(void *data, const char *file, const char *sha256, int32_t *open, struct graft_error *error);

/* After plugins were loaded, with `status`: names in its `out` each plugin and each option that is not as locked, which
 * is a GRAFT_ERROR_VERIFY; else `status`. Without a lock too. */
int graft_lock_check_plugins(const struct graft_options *options, const struct graft_library *library, int status,
                             struct graft_error *error);

/* After a model was opened and fused: compares the plan, or writes the lock if there was none. Without --lock nothing
 * happens. */
int graft_lock_check_plan(const struct graft_options *options, const struct graft_model *model,
                          const struct graft_library *library, struct graft_error *error);

/* The hash of what was planned: of `plan --json`, without files' places, notes, and sums of bytes. */
int graft_lock_hash_plan(const struct graft_model *model, char digits[GRAFT_SHA256_DIGITS + 1],
                         struct graft_error *error);

/* Writes options->lock. */
int graft_lock_write(const struct graft_options *options, const struct graft_model *model,
                     const struct graft_library *library, struct graft_error *error);

#endif
