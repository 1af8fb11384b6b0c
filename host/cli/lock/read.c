/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a lock. Its content is untrusted, and unknown fields are errors. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_field.h"
#include "cli/lock/lock.h"

enum { MAX_BYTES = 16 << 20, MAX_PLUGINS = 4096 };

#define SHA256 "64 hexadecimal digits in lower case"

static int read_plugin(struct graft_lock *lock, const struct graft_field *field, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"id", .offset = offsetof(struct graft_locked_plugin, id), .is_filled = 1},
        {"version", .offset = offsetof(struct graft_locked_plugin, version), .is_filled = 1},
        {"file", .offset = offsetof(struct graft_locked_plugin, file), .is_filled = 1},
        {"sha256", .offset = offsetof(struct graft_locked_plugin, sha256), .fits = graft_sha256_is, .what = SHA256},
        {"options", GRAFT_MEMBER_OBJECT, .offset = offsetof(struct graft_locked_plugin, options)},
        {0},
    };
    struct graft_locked_plugin *plugin = &lock->plugins[lock->n];
    const struct graft_field options = graft_field_get(field, "options"), id = graft_field_get(field, "id");
    struct graft_field option;
    void *iterator = NULL;
    int status = graft_field_read(field, members, plugin, error);
    while (status == GRAFT_OK && graft_field_next(&options, &iterator, &option)) {
        status = graft_json_type(option.value) == GRAFT_JSON_STRING ? GRAFT_OK
                                                                    : graft_field_wrong(&option, "a string", error);
    }
    for (size_t i = 0; i < lock->n && status == GRAFT_OK; i++) {
        if (strcmp(lock->plugins[i].id, plugin->id) == 0) {
            status = graft_field_error(&id, error, "\"%s\" is locked twice", plugin->id);
        }
    }
    lock->n += status == GRAFT_OK;
    return status;
}

static int read_plugins(struct graft_lock *lock, const struct graft_field *root, struct graft_error *error) {
    const struct graft_field plugins = graft_field_get(root, "plugins");
    size_t n = graft_json_size(plugins.value);
    int status = graft_field_array(&plugins, error);
    if (status == GRAFT_OK && n > MAX_PLUGINS) {
        status = graft_field_error(&plugins, error, "expected at most %d, got %zu", (int)MAX_PLUGINS, n);
    }
    lock->plugins = status == GRAFT_OK ? graft_alloc(n, sizeof *lock->plugins) : NULL;
    if (status == GRAFT_OK && lock->plugins == NULL) {
        status = graft_fail_memory(error, lock->file);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_field plugin = graft_field_at(&plugins, i);
        status = read_plugin(lock, &plugin, error);
    }
    return status;
}

/* Checks the options, each of which is true, a string, or an array of strings. */
static int check_options(const struct graft_field *root, struct graft_error *error) {
    const struct graft_field options = graft_field_get(root, "options");
    struct graft_field option;
    void *iterator = NULL;
    while (graft_field_next(&options, &iterator, &option)) {
        const size_t n = graft_json_size(option.value);
        int fits = graft_json_type(option.value) == GRAFT_JSON_STRING || graft_json_bool(option.value);
        fits |= graft_json_type(option.value) == GRAFT_JSON_ARRAY && n > 0;
        for (size_t i = 0; i < n && fits; i++) {
            fits = graft_json_type(graft_json_at(option.value, i)) == GRAFT_JSON_STRING;
        }
        if (!fits) {
            return graft_field_error(&option, error, "expected true, a string, or an array of strings");
        }
    }
    return GRAFT_OK;
}

static int check_version(const struct graft_field *root, struct graft_error *error) {
    static const struct graft_member members[] = {{"graft_lock", .kind = GRAFT_MEMBER_INT}, {0}};
    const struct graft_field field = graft_field_get(root, "graft_lock");
    int64_t version = 0;
    int status = graft_field_read_some(root, members, &version, error);
    if (status != GRAFT_OK) {
        graft_error_hint(error, "is this what --lock wrote?");
        return status;
    }
    return version == GRAFT_LOCK_VERSION ? GRAFT_OK
                                         : graft_field_error(&field, error, "expected version %d, got %lld",
                                                             (int)GRAFT_LOCK_VERSION, (long long)version);
}

static int read_document(struct graft_lock *lock, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"graft_lock", .kind = GRAFT_MEMBER_SKIPPED},
        {"host", .offset = offsetof(struct graft_lock, host), .is_filled = 1},
        {"options", GRAFT_MEMBER_OBJECT, .offset = offsetof(struct graft_lock, options)},
        {"plugins", .kind = GRAFT_MEMBER_SKIPPED},
        {"plan", .kind = GRAFT_MEMBER_SKIPPED},
        {0},
    };
    static const struct graft_member plan_members[] = {
        {"sha256", .offset = offsetof(struct graft_lock, plan), .fits = graft_sha256_is, .what = SHA256}, {0}};
    const struct graft_field root = graft_field_root(lock->document, lock->file);
    const struct graft_field plan = graft_field_get(&root, "plan");
    int status = check_version(&root, error);
    if (status == GRAFT_OK) {
        status = graft_field_read(&root, members, lock, error);
    }
    if (status == GRAFT_OK) {
        status = check_options(&root, error);
    }
    if (status == GRAFT_OK) {
        status = read_plugins(lock, &root, error);
    }
    return status == GRAFT_OK ? graft_field_read(&plan, plan_members, lock, error) : status;
}

int graft_lock_read(struct graft_options *options, struct graft_error *error) {
    if (options->lock == NULL || !graft_file_exists(options->lock)) {
        return GRAFT_OK;
    }
    struct graft_lock *lock = graft_alloc(1, sizeof *lock);
    if (lock == NULL) {
        return graft_fail_memory(error, options->lock);
    }
    options->locked = lock;
    lock->file = options->lock;
    lock->out = stderr;
    int status = graft_json_read_strict(lock->file, MAX_BYTES, &lock->document, error);
    return status == GRAFT_OK ? read_document(lock, error) : status;
}

void graft_lock_free(struct graft_lock *lock) {
    if (lock == NULL) {
        return;
    }
    for (size_t i = 0; i < lock->n_unlocked; i++) {
        graft_free(lock->unlocked[i].name);
    }
    graft_free(lock->unlocked);
    graft_free(lock->plugins);
    graft_json_free(lock->document);
    graft_free(lock);
}
