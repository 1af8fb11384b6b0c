/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a lock with the plugins, options and plan in use. Each difference is printed on a line; together they are
 * one error. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/lock/lock.h"
#include "cli/output.h"
#include "cli/program.h"
#include "graft/host/process.h"
#include "graft/option.h"

/* Prints a difference. The text is consumed; NULL or a failed text means that memory ran out. */
static void differs(struct graft_lock *lock, struct graft_text *text_take) {
    lock->differences++;
    graft_output_line(lock->out, "%s: %s: %s", graft_program_name(), lock->file,
                      text_take->failed || text_take->bytes == NULL ? "?" : text_take->bytes);
    graft_text_free(text_take);
}

static int conclude(const struct graft_lock *lock, struct graft_error *error) {
    if (lock->differences == 0) {
        return GRAFT_OK;
    }
    (void)graft_error_set(error, GRAFT_ERROR_VERIFY, lock->file, "%zu difference%s", lock->differences,
                          lock->differences == 1 ? "" : "s");
    graft_error_hint(error, "to lock the current state, remove the file");
    return GRAFT_ERROR_VERIFY;
}

/* --- Files, before they are opened --- */

int graft_lock_on_file(void *data, const char *file, const char *sha256, int32_t *open, struct graft_error *error) {
    struct graft_lock *lock = data;
    for (size_t i = 0; i < lock->n; i++) {
        if (strcmp(lock->plugins[i].sha256, sha256) == 0) {
            lock->plugins[i].met = 1;
            return GRAFT_OK;
        }
    }
    *open = 0;
    if (graft_grow(&lock->unlocked, &lock->unlocked_capacity, lock->n_unlocked, sizeof *lock->unlocked) != 0) {
        return graft_fail_memory(error, file);
    }
    struct graft_unlocked_file *unlocked = &lock->unlocked[lock->n_unlocked];
    unlocked->name = graft_strdup(file);
    if (unlocked->name == NULL) {
        return graft_fail_memory(error, file);
    }
    (void)snprintf(unlocked->sha256, sizeof unlocked->sha256, "%s", sha256);
    lock->n_unlocked++;
    return GRAFT_OK;
}

static const struct graft_locked_plugin *find_unmet(const struct graft_lock *lock, const char *name) {
    for (size_t i = 0; i < lock->n; i++) {
        if (!lock->plugins[i].met && strcmp(lock->plugins[i].file, name) == 0) {
            return &lock->plugins[i];
        }
    }
    return NULL;
}

/* Reports files that are not locked: another build of a locked plugin, or an additional plugin. With `others_may_be`
 * (--plugins chooses which are loaded) additional ones are fine. */
static void check_files(struct graft_lock *lock, int others_may_be) {
    for (size_t i = 0; i < lock->n_unlocked; i++) {
        const struct graft_unlocked_file *file = &lock->unlocked[i];
        const struct graft_locked_plugin *plugin = find_unmet(lock, graft_path_name(file->name));
        struct graft_text text = {0};
        if (plugin != NULL) {
            graft_text_printf(&text, "plugins.%s.sha256: locked %s, found %s in %s", plugin->id, plugin->sha256,
                              file->sha256, file->name);
            differs(lock, &text);
        } else if (!others_may_be) {
            graft_text_printf(&text, "plugins: %s is not locked (sha256 %s)", file->name, file->sha256);
            differs(lock, &text);
        }
    }
}

static int is_replaced(const struct graft_lock *lock, const struct graft_locked_plugin *plugin) {
    for (size_t i = 0; i < lock->n_unlocked; i++) {
        if (strcmp(graft_path_name(lock->unlocked[i].name), plugin->file) == 0) {
            return 1;
        }
    }
    return 0;
}

/* --- Plugins, when they are loaded --- */

static size_t find_loaded(const struct graft_library *library, const char *id) {
    size_t i = 0;
    const struct graft_plugin_info *plugin;
    while ((plugin = graft_library_plugin(library, i)) != NULL && strcmp(plugin->descriptor->id, id) != 0) {
        i++;
    }
    return i;
}

static void check_value(struct graft_lock *lock, const struct graft_locked_plugin *plugin, const char *name,
                        const char *locked, const char *found) {
    struct graft_text text = {0};
    if (locked != NULL && found != NULL && strcmp(locked, found) == 0) {
        return;
    }
    graft_text_printf(&text, "plugins.%s.options.%s: ", plugin->id, name);
    graft_text_printf(&text, locked != NULL ? "locked %s" : "not locked", locked);
    graft_text_printf(&text, found != NULL ? ", found %s" : ", found none", found);
    differs(lock, &text);
}

static void check_values(struct graft_lock *lock, const struct graft_locked_plugin *plugin,
                         const struct graft_plugin_info *loaded) {
    void *iterator = NULL;
    const char *name = NULL;
    const graft_json *value = NULL;
    for (int32_t i = 0; i < loaded->descriptor->n_options; i++) {
        name = graft_plugin_option(loaded->descriptor, i)->name;
        check_value(lock, plugin, name, graft_json_string(graft_json_get(plugin->options, name), NULL),
                    loaded->options[i]);
    }
    while (graft_json_next(plugin->options, &iterator, &name, &value)) {
        int32_t i = 0;
        while (i < loaded->descriptor->n_options &&
               strcmp(graft_plugin_option(loaded->descriptor, i)->name, name) != 0) {
            i++;
        }
        if (i == loaded->descriptor->n_options) {
            check_value(lock, plugin, name, graft_json_string(value, NULL), NULL);
        }
    }
}

static void check_plugin(struct graft_lock *lock, const struct graft_locked_plugin *plugin,
                         const struct graft_library *library) {
    const struct graft_plugin_info *loaded = graft_library_plugin(library, find_loaded(library, plugin->id));
    struct graft_text text = {0};
    if (!plugin->met) {
        if (!is_replaced(lock, plugin)) {
            graft_text_printf(&text, "plugins.%s: locked version %s (%s), found no such file", plugin->id,
                              plugin->version, plugin->file);
            differs(lock, &text);
        }
        return;
    }
    if (loaded == NULL) {
        graft_text_printf(&text, "plugins.%s: locked version %s (%s), not loaded", plugin->id, plugin->version,
                          plugin->file);
        differs(lock, &text);
        return;
    }
    if (strcmp(loaded->descriptor->version, plugin->version) != 0) {
        graft_text_printf(&text, "plugins.%s.version: locked %s, found %s", plugin->id, plugin->version,
                          loaded->descriptor->version);
        differs(lock, &text);
    }
    check_values(lock, plugin, loaded);
}

/* Reports loaded plugins whose ids are not locked, which happens only if somebody edited the lock. */
static void check_loaded(struct graft_lock *lock, const struct graft_library *library) {
    const struct graft_plugin_info *loaded;
    for (size_t i = 0; (loaded = graft_library_plugin(library, i)) != NULL; i++) {
        struct graft_text text = {0};
        int is_locked = 0;
        for (size_t k = 0; k < lock->n; k++) {
            is_locked |= strcmp(lock->plugins[k].id, loaded->descriptor->id) == 0;
        }
        if (!is_locked) {
            graft_text_printf(&text, "plugins.%s: not locked, found in %s", loaded->descriptor->id, loaded->file);
            differs(lock, &text);
        }
    }
}

/* --- Options --- */

/* Adds "BEFORE VALUE", or `absent` if there is no value. */
static void add_value(struct graft_text *text, const char *before, const graft_json *value, const char *absent) {
    char *dumped = value != NULL ? graft_json_dump(value, 0) : NULL;
    if (value == NULL) {
        graft_text_add_string(text, absent);
    } else {
        graft_text_printf(text, "%s %s", before, dumped != NULL ? dumped : "?");
    }
    graft_free(dumped);
}

/* Reports members of `first` that `second` lacks or has with another value; with `only_absent`, only those that it
 * lacks. */
static void check_each(struct graft_lock *lock, const graft_json *first, const graft_json *second, int only_absent) {
    void *iterator = NULL;
    const char *key = NULL;
    const graft_json *value = NULL;
    while (graft_json_next(first, &iterator, &key, &value)) {
        const graft_json *other = graft_json_get(second, key);
        struct graft_text text = {0};
        if (other != NULL && (only_absent || graft_json_equal(value, other))) {
            continue;
        }
        graft_text_printf(&text, "options.%s: ", key);
        add_value(&text, "locked", only_absent ? NULL : value, "not locked");
        add_value(&text, ", found", only_absent ? value : other, ", not given");
        differs(lock, &text);
    }
}

int graft_lock_check_plugins(const struct graft_options *options, const struct graft_library *library, int status,
                             struct graft_error *error) {
    struct graft_lock *lock = options->locked;
    if (lock == NULL || (status != GRAFT_OK && status != GRAFT_ERROR_PLUGIN && status != GRAFT_ERROR_USAGE)) {
        return status;
    }
    graft_json *given = graft_options_locked(options);
    if (given == NULL) {
        return graft_fail_memory(error, "--lock");
    }
    struct graft_error found = graft_error_none();
    check_files(lock, options->plugins != NULL);
    for (size_t i = 0; i < lock->n; i++) {
        if (status == GRAFT_OK || !lock->plugins[i].met) {
            check_plugin(lock, &lock->plugins[i], library);
        }
    }
    check_loaded(lock, library);
    check_each(lock, lock->options, given, 0);
    check_each(lock, given, lock->options, 1);
    graft_json_free(given);
    if (conclude(lock, &found) != GRAFT_OK) {
        *error = found;
        return found.code;
    }
    return status;
}

/* --- The plan --- */

int graft_lock_check_plan(const struct graft_options *options, const struct graft_model *model,
                          const struct graft_library *library, struct graft_error *error) {
    struct graft_lock *lock = options->locked;
    char digits[GRAFT_SHA256_DIGITS + 1];
    struct graft_text text = {0};
    if (options->lock == NULL) {
        return GRAFT_OK;
    }
    if (lock == NULL) {
        return graft_lock_write(options, model, library, error);
    }
    int status = graft_lock_hash_plan(model, digits, error);
    if (status != GRAFT_OK || strcmp(digits, lock->plan) == 0) {
        return status;
    }
    graft_text_printf(&text, "plan.sha256: locked %s, found %s", lock->plan, digits);
    if (strcmp(lock->host, GRAFT_VERSION) != 0) {
        graft_text_printf(&text, "; locked by version %s, this is %s", lock->host, GRAFT_VERSION);
    }
    differs(lock, &text);
    return conclude(lock, error);
}
