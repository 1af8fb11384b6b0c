/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a lock. Its content is untrusted, and unknown fields are errors. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/lock/lock.h"

enum { MAX_BYTES = 16 << 20, MAX_PLUGINS = 4096 };

/* The place of a field, for messages: "plugins[3].". */
struct place {
    const char *file;
    char prefix[32];
};

static int fail(const struct place *place, const char *field, const char *expected, const graft_json *found,
                struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, place->file, "%s%s: expected %s, found %s", place->prefix, field,
                           expected, graft_json_type_name(found));
}

/* Reads a string that is not empty and contains no NUL. */
static int read_string(const struct place *place, const graft_json *object, const char *field, const char **text,
                       struct graft_error *error) {
    const graft_json *value = graft_json_get(object, field);
    size_t length = 0;
    *text = graft_json_string(value, &length);
    if (*text == NULL || length == 0) {
        return fail(place, field, "a string that is not empty", value, error);
    }
    return strlen(*text) == length ? GRAFT_OK
                                   : graft_error_set(error, GRAFT_ERROR_MODEL, place->file,
                                                     "%s%s: the string has a NUL in it", place->prefix, field);
}

static int read_sha256(const struct place *place, const graft_json *object, const char **sha256,
                       struct graft_error *error) {
    int status = read_string(place, object, "sha256", sha256, error);
    return status != GRAFT_OK || graft_sha256_is(*sha256)
               ? status
               : graft_error_set(error, GRAFT_ERROR_MODEL, place->file,
                                 "%ssha256: expected 64 hexadecimal digits in lower case, found \"%s\"", place->prefix,
                                 *sha256);
}

/* Checks that an object has the fields in a NULL-terminated list and no others. */
static int check_fields(const struct place *place, const graft_json *object, const char *const *fields,
                        struct graft_error *error) {
    const char *other = graft_json_other_key(object, fields);
    return other == NULL ? GRAFT_OK
                         : graft_error_set(error, GRAFT_ERROR_MODEL, place->file, "%s%s: a lock has no such field",
                                           place->prefix, other);
}

/* Reads an object whose values are strings. */
static int read_values(const struct place *place, const graft_json *object, const char *field,
                       const graft_json **values, struct graft_error *error) {
    void *iterator = NULL;
    const char *key = NULL;
    const graft_json *value = NULL;
    *values = graft_json_get(object, field);
    if (graft_json_type(*values) != GRAFT_JSON_OBJECT) {
        return fail(place, field, "an object", *values, error);
    }
    while (graft_json_next(*values, &iterator, &key, &value)) {
        if (graft_json_type(value) != GRAFT_JSON_STRING) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, place->file, "%s%s.%s: expected a string, found %s",
                                   place->prefix, field, key, graft_json_type_name(value));
        }
    }
    return GRAFT_OK;
}

static int read_plugin(struct graft_lock *lock, const graft_json *object, struct graft_error *error) {
    static const char *const fields[] = {"id", "version", "file", "sha256", "options", NULL};
    struct graft_locked_plugin *plugin = &lock->plugins[lock->n];
    struct place place = {.file = lock->file};
    (void)snprintf(place.prefix, sizeof place.prefix, "plugins[%zu]", lock->n);
    if (graft_json_type(object) != GRAFT_JSON_OBJECT) {
        return fail(&place, "", "an object", object, error);
    }
    (void)snprintf(place.prefix, sizeof place.prefix, "plugins[%zu].", lock->n);
    int status = check_fields(&place, object, fields, error);
    if (status == GRAFT_OK) {
        status = read_string(&place, object, "id", &plugin->id, error);
    }
    if (status == GRAFT_OK) {
        status = read_string(&place, object, "version", &plugin->version, error);
    }
    if (status == GRAFT_OK) {
        status = read_string(&place, object, "file", &plugin->file, error);
    }
    if (status == GRAFT_OK) {
        status = read_sha256(&place, object, &plugin->sha256, error);
    }
    if (status == GRAFT_OK) {
        status = read_values(&place, object, "options", &plugin->options, error);
    }
    for (size_t i = 0; i < lock->n && status == GRAFT_OK; i++) {
        if (strcmp(lock->plugins[i].id, plugin->id) == 0) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, place.file, "%sid: \"%s\" is locked twice", place.prefix,
                                     plugin->id);
        }
    }
    lock->n += status == GRAFT_OK;
    return status;
}

static int read_plugins(struct graft_lock *lock, struct graft_error *error) {
    const struct place place = {.file = lock->file};
    const graft_json *plugins = graft_json_get(lock->document, "plugins");
    size_t n = graft_json_size(plugins);
    int status = GRAFT_OK;
    if (graft_json_type(plugins) != GRAFT_JSON_ARRAY) {
        return fail(&place, "plugins", "an array", plugins, error);
    }
    if (n > MAX_PLUGINS) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, lock->file, "plugins: expected at most %d, found %zu",
                               (int)MAX_PLUGINS, n);
    }
    lock->plugins = graft_alloc(n, sizeof *lock->plugins);
    if (lock->plugins == NULL) {
        return graft_fail_memory(error, lock->file);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = read_plugin(lock, graft_json_at(plugins, i), error);
    }
    return status;
}

/* Reads options, each of which is true, a string, or an array of strings. */
static int read_options(struct graft_lock *lock, struct graft_error *error) {
    const struct place place = {.file = lock->file};
    void *iterator = NULL;
    const char *key = NULL;
    const graft_json *value = NULL;
    lock->options = graft_json_get(lock->document, "options");
    if (graft_json_type(lock->options) != GRAFT_JSON_OBJECT) {
        return fail(&place, "options", "an object", lock->options, error);
    }
    while (graft_json_next(lock->options, &iterator, &key, &value)) {
        int fits = graft_json_type(value) == GRAFT_JSON_STRING || graft_json_bool(value);
        fits |= graft_json_type(value) == GRAFT_JSON_ARRAY && graft_json_size(value) > 0;
        for (size_t i = 0; i < graft_json_size(value) && fits; i++) {
            fits = graft_json_type(graft_json_at(value, i)) == GRAFT_JSON_STRING;
        }
        if (!fits) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, lock->file,
                                   "options.%s: expected true, a string, or an array of strings", key);
        }
    }
    return GRAFT_OK;
}

static int check_version(const struct graft_lock *lock, struct graft_error *error) {
    const struct place place = {.file = lock->file};
    const graft_json *version = graft_json_get(lock->document, "graft_lock");
    if (graft_json_type(lock->document) != GRAFT_JSON_OBJECT || graft_json_type(version) != GRAFT_JSON_INT) {
        int status = fail(&place, "graft_lock", "an integer", version, error);
        graft_error_hint(error, "is this what --lock wrote?");
        return status;
    }
    return graft_json_int(version) == GRAFT_LOCK_VERSION
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, lock->file, "graft_lock: expected version %d, found %lld",
                                 (int)GRAFT_LOCK_VERSION, (long long)graft_json_int(version));
}

static int read_document(struct graft_lock *lock, struct graft_error *error) {
    static const char *const fields[] = {"graft_lock", "host", "options", "plugins", "plan", NULL};
    static const char *const plan_fields[] = {"sha256", NULL};
    const struct place place = {.file = lock->file}, in_plan = {lock->file, "plan."};
    const graft_json *plan = graft_json_get(lock->document, "plan");
    int status = check_version(lock, error);
    if (status == GRAFT_OK) {
        status = check_fields(&place, lock->document, fields, error);
    }
    if (status == GRAFT_OK) {
        status = read_string(&place, lock->document, "host", &lock->host, error);
    }
    if (status == GRAFT_OK) {
        status = read_options(lock, error);
    }
    if (status == GRAFT_OK) {
        status = read_plugins(lock, error);
    }
    if (status == GRAFT_OK && graft_json_type(plan) != GRAFT_JSON_OBJECT) {
        status = fail(&place, "plan", "an object", plan, error);
    }
    if (status == GRAFT_OK) {
        status = check_fields(&in_plan, plan, plan_fields, error);
    }
    return status == GRAFT_OK ? read_sha256(&in_plan, plan, &lock->plan, error) : status;
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
