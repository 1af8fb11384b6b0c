/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/plugin.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "plugin/choose.h"
#include "plugin/family_file.h"
#include "plugin/known_families.h"
#include "plugin/plugin_ref.h"
#include "plugin/search.h"
#include "plugin/start.h"
#include "plugin/trials.h"

/* The files to load. */
struct wanted {
    const char *const *files;
    size_t n;
    const char *const *empty; /* directories without plugins */
    size_t n_empty;
    const char *const *left_out; /* files that must not be opened */
    size_t n_left_out;
};

/* A load in progress. */
struct loading {
    const struct graft_plugin_options *options;
    struct graft_plugin_set *set;
    struct graft_trials *trials;
    struct graft_text known_ids; /* ids met so far: "a, b" */
    char *found;                 /* [n_allow]: whether the id was found */
    size_t plugin_capacity;
    size_t note_capacity;
    size_t left_out_capacity;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Adds a note, which is consumed; NULL means that memory ran out. */
static int add_note(struct loading *loading, char *note_take, struct graft_error *error) {
    struct graft_plugin_set *set = loading->set;
    if (note_take == NULL || graft_grow(&set->notes, &loading->note_capacity, set->n_notes, sizeof *set->notes) != 0) {
        graft_free(note_take);
        return graft_fail_memory(error, NULL);
    }
    graft_error_clean(note_take);
    set->notes[set->n_notes++] = note_take;
    return GRAFT_OK;
}

/* Turns `cause` into a note if `may_note` is set and a plugin is at fault; otherwise passes the error on. */
static int note_or_fail(struct loading *loading, int may_note, const struct graft_error *cause,
                        struct graft_error *error) {
    if (may_note && cause->code == GRAFT_ERROR_PLUGIN) {
        return add_note(loading, graft_format("%s: skipped: %s", cause->source, cause->message), error);
    }
    int status = graft_error_set(error, cause->code, cause->source, "%s", cause->message);
    if (cause->hint[0] != '\0') {
        graft_error_hint(error, "%s", cause->hint);
    }
    return status;
}

/* The place of an id in the allow list, from 1. For any other id: 0 if it is loaded as well, else -1. */
static int rank_of(const struct graft_plugin_options *options, const char *id) {
    for (int i = 0; i < options->n_allow; i++) {
        if (strcmp(options->allow[i], id) == 0) {
            return i + 1;
        }
    }
    return options->n_allow > 0 && !options->with_others ? -1 : 0;
}

/* Fails if the plugin offers an extension that a plugin of the set offers too, and no order decides between them. */
static int check_offers(const struct graft_plugin_set *set, const char *file, const struct graft_plugin *descriptor,
                        struct graft_error *error) {
    const char *const *ids = descriptor->offers_extensions;
    for (int32_t i = 0; ids != NULL && ids[i] != NULL; i++) {
        const struct graft_loaded_plugin *other = graft_plugin_offering(set, ids[i], NULL);
        if (other != NULL && other->file != NULL) {
            int status =
                graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "offers_extensions[%d]: \"%s\" is also offered by %s",
                                (int)i, ids[i], other->file);
            graft_error_hint(error, "load the one that should win first, or leave one out");
            return status;
        }
    }
    return GRAFT_OK;
}

/* Fails if a plugin of the set that comes from a file has the same id. */
static int check_id(const struct graft_plugin_set *set, const char *file, const struct graft_plugin *descriptor,
                    struct graft_error *error) {
    for (size_t i = 0; i < set->n; i++) {
        const struct graft_loaded_plugin *other = &set->plugins[i];
        if (other->file != NULL && strcmp(other->descriptor->id, descriptor->id) == 0) {
            int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "the plugin id \"%s\" is already used by %s",
                                         descriptor->id, other->file);
            graft_error_hint(error, "remove one of them");
            return status;
        }
    }
    return GRAFT_OK;
}

/* Set number `i` of those against which a plugin is checked: the sets of earlier loads, and last the one being
 * loaded. */
static const struct graft_plugin_set *set_beside(const struct loading *loading, size_t i) {
    return i < loading->options->n_others ? loading->options->others[i] : loading->set;
}

static int add_plugin(struct loading *loading, const char *file, int rank, struct graft_plugin_ref *use,
                      struct graft_error *error) {
    struct graft_plugin_set *set = loading->set;
    const struct graft_plugin *descriptor = graft_plugin_ref_descriptor(use);
    int status = GRAFT_OK;
    for (size_t i = 0; i <= loading->options->n_others && status == GRAFT_OK; i++) {
        status = check_id(set_beside(loading, i), file, descriptor, error);
    }
    if (status == GRAFT_OK) {
        status = graft_plugin_ref_accept(use, file, error);
    }
    for (size_t i = 0; i <= loading->options->n_others && rank == 0 && status == GRAFT_OK; i++) {
        status = check_offers(set_beside(loading, i), file, descriptor, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    rank += rank > 0 ? loading->options->first_rank : 0;
    char *name = graft_strdup(file);
    if (name == NULL || graft_grow(&set->plugins, &loading->plugin_capacity, set->n, sizeof *set->plugins) != 0) {
        graft_free(name);
        return graft_fail_memory(error, file);
    }
    set->plugins[set->n++] = (struct graft_loaded_plugin){
        .descriptor = descriptor,
        .file = name,
        .rank = rank,
        .use = use,
        .info = {.struct_size = sizeof(struct graft_plugin_info), .rank = rank, .descriptor = descriptor, .file = name},
    };
    return GRAFT_OK;
}

/* Opens a family file, which may be like a family of the host or of a plugin loaded before. */
static int open_family(struct loading *loading, const char *file, struct graft_plugin_ref **use,
                       struct graft_error *error) {
    struct graft_known_families known = {loading->options, loading->set};
    const struct graft_family_finder finder = graft_known_families_finder(&known);
    int status = graft_plugin_ref_open_family(file, &finder, use, error);
    struct graft_plugin_ref *like =
        status == GRAFT_OK ? graft_known_families_use(&known, graft_plugin_ref_like(*use)) : NULL;
    if (like != NULL) {
        graft_plugin_ref_hold(*use, like);
    }
    return status;
}

static int is_named(const struct loading *loading, const char *file) {
    return loading->options->file != NULL && strcmp(file, loading->options->file) == 0;
}

/* Whether an unusable file becomes a note instead of an error. */
static int may_skip(const struct loading *loading, const char *file) {
    return loading->options->skip_bad && !is_named(loading, file);
}

static int open_file(struct loading *loading, const char *file, struct graft_plugin_ref **use,
                     struct graft_error *error) {
    if (graft_family_file_is(file)) {
        return open_family(loading, file, use, error);
    }
    int status = graft_trials_check(loading->trials, file, error);
    return status == GRAFT_OK ? graft_plugin_ref_open(file, use, error) : status;
}

static int load_file(struct loading *loading, const char *file, struct graft_error *error) {
    struct graft_error cause = graft_error_none();
    struct graft_plugin_ref *use = NULL;
    int status = open_file(loading, file, &use, &cause);
    if (status == GRAFT_OK && use == NULL && is_named(loading, file)) {
        status = graft_error_set(&cause, GRAFT_ERROR_PLUGIN, file, "not a plugin: it exports no graft_plugin_entry");
    }
    if (status != GRAFT_OK) {
        /* If only some plugins are wanted, this file may be none of them; a wanted plugin that is missing is reported
         * later. */
        const int may_be_other = loading->options->n_allow > 0 && !loading->options->with_others;
        return note_or_fail(loading, may_skip(loading, file) || may_be_other, &cause, error);
    }
    if (use == NULL) {
        return add_note(loading, graft_format("%s: not a plugin: it exports no graft_plugin_entry", file), error);
    }
    const char *id = graft_plugin_ref_descriptor(use)->id;
    int rank = rank_of(loading->options, id);
    graft_text_printf(&loading->known_ids, "%s%s", loading->known_ids.length > 0 ? ", " : "", id);
    if (rank >= 0) {
        if (rank > 0) {
            loading->found[rank - 1] = 1;
        }
        status = add_plugin(loading, file, rank, use, &cause);
    }
    if (rank < 0 && graft_left_out_add(&loading->set->left_out, &loading->set->n_left_out, &loading->left_out_capacity,
                                       graft_plugin_ref_descriptor(use)) != 0) {
        status = graft_fail_memory(&cause, file);
    }
    if (rank < 0 || status != GRAFT_OK) {
        graft_plugin_ref_close(use);
    }
    return status == GRAFT_OK ? GRAFT_OK : note_or_fail(loading, may_skip(loading, file), &cause, error);
}

static int check_options(const struct graft_plugin_options *options, struct graft_error *error) {
    for (int i = 0; i < options->n_allow; i++) {
        if (rank_of(options, options->allow[i]) != i + 1) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, NULL, "the plugin id \"%s\" is listed twice",
                                   options->allow[i]);
        }
    }
    return GRAFT_OK;
}

static int check_found(const struct loading *loading, struct graft_error *error) {
    for (int i = 0; i < loading->options->n_allow; i++) {
        if (!loading->found[i]) {
            const struct graft_plugin_set *set = loading->set;
            int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, NULL, "no plugin has the id \"%s\"; known ids: %s",
                                         loading->options->allow[i],
                                         loading->known_ids.length > 0 ? loading->known_ids.bytes : "none");
            if (set->n_notes > 0) {
                graft_error_hint(error, "fix or remove the files that could not be used: %s", set->notes[0]);
            }
            return status;
        }
    }
    return loading->known_ids.failed ? graft_fail_memory(error, NULL) : GRAFT_OK;
}

static void finish_plugin(struct graft_loaded_plugin *plugin) {
    graft_plugin_ref_close(plugin->use);
    graft_option_values_release(plugin->values);
    graft_free(plugin->file);
}

static int set_values(struct graft_loaded_plugin *plugin, const struct graft_given_options *given,
                      struct graft_error *error) {
    int status = graft_option_values_create(plugin->descriptor, given, &plugin->values, error);
    if (status == GRAFT_OK) {
        plugin->info.options = (const char *const *)plugin->values->texts;
    }
    return status;
}

/* Sets the options of all plugins. An option for a plugin that was left out is an error. */
static int set_options(const struct loading *loading, struct graft_error *error) {
    const struct graft_plugin_set *set = loading->set;
    const struct graft_given_options *given = &loading->options->given;
    const struct graft_plugin **descriptors = graft_alloc(set->n, sizeof *descriptors);
    if (descriptors == NULL) {
        return graft_fail_memory(error, NULL);
    }
    for (size_t i = 0; i < set->n; i++) {
        descriptors[i] = set->plugins[i].descriptor;
    }
    int status = graft_given_options_check(given, descriptors, set->n, error);
    for (size_t i = 0; i < set->n && status == GRAFT_OK; i++) {
        status = set_values(&set->plugins[i], given, error);
    }
    graft_free(descriptors);
    return status;
}

/* Starts all plugins, at the end of a load, so that a load that fails earlier initialises nothing. */
static int start_all(struct loading *loading, struct graft_error *error) {
    struct graft_plugin_set *set = loading->set;
    const struct graft_plugin_scope scope = {set, loading->options->others, loading->options->n_others};
    struct graft_loaded_plugin *plugin;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && (plugin = graft_plugin_next(&scope)) != NULL) {
        struct graft_error cause = graft_error_none();
        if (graft_plugin_start(&scope, plugin, &cause) != GRAFT_OK) {
            status = note_or_fail(loading, may_skip(loading, plugin->file), &cause, error);
            finish_plugin(plugin);
            set->n--;
            memmove(plugin, plugin + 1, (size_t)(set->plugins + set->n - plugin) * sizeof *plugin);
        }
    }
    return status;
}

/* The caller holds the lock. */
static void free_set(struct graft_plugin_set *set) {
    while (set->n > 0) {
        finish_plugin(&set->plugins[--set->n]);
    }
    for (size_t i = 0; i < set->n_notes; i++) {
        graft_free(set->notes[i]);
    }
    graft_left_out_free(set->left_out, set->n_left_out);
    graft_free(set->plugins);
    graft_free(set->notes);
    graft_free(set);
}

static int load_all(struct loading *loading, const struct wanted *wanted, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < wanted->n_empty && status == GRAFT_OK; i++) {
        status = add_note(loading,
                          graft_format("%s: contains no plugins; expected NAME.so or NAME/NAME.so", wanted->empty[i]),
                          error);
    }
    for (size_t i = 0; i < wanted->n_left_out && status == GRAFT_OK; i++) {
        status = add_note(loading, graft_format("%s: left out", wanted->left_out[i]), error);
    }
    /* family files come second, as they may be like a family of any object */
    for (int families = 0; families < 2; families++) {
        for (size_t i = 0; i < wanted->n && status == GRAFT_OK; i++) {
            if (graft_family_file_is(wanted->files[i]) == families) {
                status = load_file(loading, wanted->files[i], error);
            }
        }
    }
    return status;
}

static int load_files(const struct wanted *wanted, const struct graft_plugin_options *options,
                      struct graft_plugin_set **set, struct graft_error *error) {
    static const struct graft_plugin_options defaults;
    struct loading loading = {.options = options != NULL ? options : &defaults};
    int status = check_options(loading.options, error);
    if (status != GRAFT_OK) {
        return status;
    }
    loading.set = graft_alloc(1, sizeof *loading.set);
    loading.found = graft_alloc((size_t)loading.options->n_allow, 1);
    if (loading.set == NULL || loading.found == NULL) {
        graft_free(loading.set);
        graft_free(loading.found);
        return graft_fail_memory(error, NULL);
    }
    (void)pthread_mutex_lock(&lock);
    status = graft_trials_make(wanted->files, wanted->n, &loading.trials, error);
    if (status == GRAFT_OK) {
        status = load_all(&loading, wanted, error);
    }
    if (status == GRAFT_OK) {
        status = check_found(&loading, error);
    }
    if (status == GRAFT_OK) {
        status = set_options(&loading, error);
    }
    if (status == GRAFT_OK && !loading.options->leave_idle) {
        status = start_all(&loading, error);
    }
    if (status == GRAFT_OK) {
        *set = loading.set;
    } else {
        free_set(loading.set);
    }
    (void)pthread_mutex_unlock(&lock);
    graft_trials_free(loading.trials);
    graft_text_free(&loading.known_ids);
    graft_free(loading.found);
    return status;
}

int graft_plugins_load(const char *const *directories, int n, const struct graft_plugin_options *options,
                       struct graft_plugin_set **set, struct graft_error *error) {
    struct graft_plugin_files files = {0};
    struct graft_chosen_files chosen = {0};
    int status =
        options != NULL && options->file != NULL ? graft_plugin_files_name(options->file, &files, error) : GRAFT_OK;
    if (status == GRAFT_OK) {
        status = graft_plugin_files_find(directories, n, &files, error);
    }
    if (status == GRAFT_OK) {
        status = graft_plugin_files_choose(&files, options != NULL ? options->on_file : NULL,
                                           options != NULL ? options->on_file_data : NULL, &chosen, error);
    }
    if (status == GRAFT_OK) {
        const struct wanted wanted = {.files = chosen.names,
                                      .n = chosen.n,
                                      .empty = files.empty,
                                      .n_empty = files.n_empty,
                                      .left_out = chosen.left_out,
                                      .n_left_out = chosen.n_left_out};
        status = load_files(&wanted, options, set, error);
    }
    graft_chosen_files_free(&chosen);
    graft_plugin_files_free(&files);
    return status;
}

/* The caller holds the lock. */
static int take(const struct graft_plugin *descriptor, const struct graft_plugin_scope *scope,
                struct graft_error *error) {
    static const struct graft_given_options none;
    struct graft_loaded_plugin *plugin = &scope->set->plugins[0];
    int status = graft_plugin_ref_take(descriptor, &plugin->use, error);
    if (status != GRAFT_OK) {
        return status;
    }
    scope->set->n = 1;
    plugin->descriptor = descriptor;
    plugin->info = (struct graft_plugin_info){.struct_size = sizeof plugin->info, .descriptor = descriptor};
    status = graft_plugin_ref_accept(plugin->use, descriptor->id, error);
    if (status == GRAFT_OK) {
        status = set_values(plugin, &none, error);
    }
    return status == GRAFT_OK ? graft_plugin_start(scope, plugin, error) : status;
}

int graft_plugins_take(const struct graft_plugin *descriptor, const struct graft_plugin_set *const *others,
                       size_t n_others, struct graft_plugin_set **set, struct graft_error *error) {
    struct graft_plugin_set *made = graft_alloc(1, sizeof *made);
    if (made == NULL || (made->plugins = graft_alloc(1, sizeof *made->plugins)) == NULL) {
        graft_free(made);
        return graft_fail_memory(error, "plugin");
    }
    (void)pthread_mutex_lock(&lock);
    const struct graft_plugin_scope scope = {made, others, n_others};
    int status = take(descriptor, &scope, error);
    if (status != GRAFT_OK) {
        free_set(made);
        made = NULL;
    }
    (void)pthread_mutex_unlock(&lock);
    if (status == GRAFT_OK) {
        *set = made;
    }
    return status;
}

void graft_plugin_set_free(struct graft_plugin_set *set) {
    if (set != NULL) {
        (void)pthread_mutex_lock(&lock);
        free_set(set);
        (void)pthread_mutex_unlock(&lock);
    }
}
