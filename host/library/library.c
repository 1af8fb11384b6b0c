/* SPDX-License-Identifier: Apache-2.0 */
/* The library handle: registers built-in classes and plugins. */
#include "library/library.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "kernels/attention.h"
#include "registry/mapping.h"

/* Registers the host's own implementations, which users can choose by name. */
static int add_built_in_offers(struct graft_registry *registry, struct graft_error *error) {
    const struct graft_attention_implementation *const attention[] = {&graft_attention_sdpa, &graft_attention_eager};
    const struct graft_experts_implementation *const *experts = graft_experts_implementations();
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof attention / sizeof attention[0] && status == GRAFT_OK; i++) {
        status = graft_registry_add_implementation(registry, GRAFT_IMPLEMENTATION_ATTENTION, attention[i]->name,
                                                   attention[i], NULL, error);
    }
    for (; *experts != NULL && status == GRAFT_OK; experts++) {
        status = graft_registry_add_implementation(registry, GRAFT_IMPLEMENTATION_EXPERTS, (*experts)->name, *experts,
                                                   NULL, error);
    }
    return status;
}

static int add_built_in(struct graft_registry *registry, struct graft_error *error) {
    int status = add_built_in_offers(registry, error);
    for (size_t i = 0; graft_basic_class(i) != NULL && status == GRAFT_OK; i++) {
        status = graft_registry_add_class(registry, graft_basic_class(i), NULL, 0, error);
    }
    return status;
}

int graft_library_create(struct graft_library **library, struct graft_error *error) {
    struct graft_library *result = graft_alloc(1, sizeof *result);
    if (result == NULL || graft_built_in_hold(&result->built_in, error) != GRAFT_OK ||
        (result->registry = graft_registry_create(result->built_in)) == NULL) {
        graft_built_in_release(result != NULL ? result->built_in : NULL);
        graft_free(result);
        return graft_fail_memory(error, "library");
    }
    (void)pthread_mutex_init(&result->lock, NULL);
    graft_context_init(&result->context);
    int status = add_built_in(result->registry, error);
    if (status != GRAFT_OK) {
        graft_library_free(result);
        return status;
    }
    *library = result;
    return GRAFT_OK;
}

void graft_library_free(struct graft_library *library) {
    if (library != NULL) {
        struct graft_context *before = graft_library_begin(library);
        graft_registry_free(library->registry);
        while (library->n_called > 0) {
            graft_plugin_set_free(library->called[--library->n_called]);
        }
        while (library->n_loaded > 0) {
            graft_plugin_set_free(library->loaded[--library->n_loaded]);
        }
        graft_free(library->called);
        graft_free(library->loaded);
        graft_built_in_release(library->built_in);
        (void)graft_context_enter(before);
        graft_context_finish(&library->context);
        (void)pthread_mutex_destroy(&library->lock);
        graft_free(library);
    }
}

const struct graft_plugin_set **graft_library_sets(const struct graft_library *library, size_t *n) {
    const struct graft_plugin_set **sets = graft_alloc(library->n_called + library->n_loaded, sizeof *sets);
    *n = 0;
    for (size_t i = 0; sets != NULL && i < library->n_called; i++) {
        sets[(*n)++] = library->called[i];
    }
    for (size_t i = 0; sets != NULL && i < library->n_loaded; i++) {
        sets[(*n)++] = library->loaded[i];
    }
    return sets;
}

/* Registers all plugins of a set. The one from `file`, if any, precedes the others. */
static int register_plugins(struct graft_library *library, const struct graft_plugin_set *set, const char *file,
                            struct graft_error *error) {
    struct graft_known_plugin *added = graft_alloc(set->n, sizeof *added);
    for (size_t i = 0; added != NULL && i < set->n; i++) {
        const struct graft_loaded_plugin *plugin = &set->plugins[i];
        int is_named = file != NULL && strcmp(plugin->file, file) == 0;
        added[i] = (struct graft_known_plugin){
            plugin->descriptor,
            {plugin->descriptor->id, plugin->file, is_named ? library->ranks + 1 : plugin->rank},
            plugin->info.options};
    }
    int status = added != NULL ? graft_registry_add_plugins(library->registry, added, set->n, error)
                               : graft_fail_memory(error, "plugins");
    graft_free(added);
    return status;
}

/* Refuses to load plugins while models are open, because these keep the plugins they were planned with. */
static int check_models(const struct graft_library *library, struct graft_error *error) {
    if (library->n_models == 0) {
        return GRAFT_OK;
    }
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, "library", "plugins cannot be loaded while models are open (%zu)",
                          library->n_models);
    graft_error_hint(error, "load all plugins first, or free the models");
    return GRAFT_ERROR_USAGE;
}

/* Loads the plugins of a file (or NULL) and of directories. The lock must be held. */
static int load(struct graft_library *library, const char *file, const char *const *directories, int32_t n,
                const struct graft_library_options *options, struct graft_error *error) {
    struct graft_plugin_set *set = NULL;
    size_t n_others;
    const struct graft_plugin_set **others = graft_library_sets(library, &n_others);
    if (others == NULL ||
        graft_grow(&library->loaded, &library->loaded_capacity, library->n_loaded, sizeof *library->loaded) != 0) {
        graft_free(others);
        return graft_fail_memory(error, "plugins");
    }
    const struct graft_plugin_options wanted = {
        .file = file,
        .allow = options->allow,
        .n_allow = options->n_allow,
        .with_others = options->with_others,
        .first_rank = library->ranks,
        .skip_bad = options->skip_bad_plugins,
        .leave_idle = options->inspect_only,
        .given = {options->plugin_options, options->n_plugin_options},
        .others = others,
        .n_others = n_others,
        .families = graft_built_in_finder(library->built_in),
        .on_file = options->on_file,
        .on_file_data = options->on_file_data,
    };
    int status = graft_plugins_load(directories, n, &wanted, &set, error);
    graft_free(others);
    if (status == GRAFT_OK && !wanted.leave_idle) {
        status = register_plugins(library, set, file, error);
    }
    if (status != GRAFT_OK) {
        graft_plugin_set_free(set);
        return status;
    }
    library->skip_bad_plugins = wanted.skip_bad && (library->n_loaded == 0 || library->skip_bad_plugins);
    library->ranks += wanted.n_allow > 0 ? wanted.n_allow : file != NULL;
    library->loaded[library->n_loaded++] = set;
    return GRAFT_OK;
}

static int load_checked(struct graft_library *library, const char *file, const char *const *directories, int32_t n,
                        const struct graft_library_options *options, struct graft_error *error) {
    static const struct graft_library_options none = {.struct_size = sizeof none};
    struct graft_context *before = graft_library_begin(library);
    (void)pthread_mutex_lock(&library->lock);
    int status = check_models(library, error);
    if (status == GRAFT_OK) {
        status = load(library, file, directories, n, options != NULL ? options : &none, error);
    }
    (void)pthread_mutex_unlock(&library->lock);
    (void)graft_context_enter(before);
    return status;
}

int graft_library_load_plugins(struct graft_library *library, const char *const *directories, int32_t n,
                               const struct graft_library_options *options, struct graft_error *error) {
    int status = graft_check_given(options, GRAFT_LIBRARY_OPTIONS_SIZE_1_0, "struct graft_library_options", error);
    return status == GRAFT_OK ? load_checked(library, NULL, directories, n, options, error) : status;
}

int graft_library_load_plugin(struct graft_library *library, const char *file,
                              const struct graft_library_options *options, struct graft_error *error) {
    int status = graft_check_given(options, GRAFT_LIBRARY_OPTIONS_SIZE_1_0, "struct graft_library_options", error);
    return status == GRAFT_OK ? load_checked(library, file, options != NULL ? options->directories : NULL,
                                             options != NULL ? options->n_directories : 0, options, error)
                              : status;
}

int graft_library_register(struct graft_library *library, const struct graft_patch *patches, size_t n, int overwrite,
                           struct graft_error *error) {
    return graft_registry_register(library->registry, patches, n, overwrite, error);
}

int graft_library_unregister(struct graft_library *library, const char *const *keys, size_t n,
                             struct graft_error *error) {
    return graft_registry_unregister(library->registry, keys, n, error);
}

int graft_library_clear(struct graft_library *library, struct graft_error *error) {
    return graft_registry_clear(library->registry, error);
}

int graft_library_patches(struct graft_library *library, struct graft_patch **patches, size_t *n,
                          struct graft_error *error) {
    return graft_registry_patches(library->registry, patches, n, error);
}

int graft_library_enter(struct graft_library *library, struct graft_scope **scope, struct graft_error *error) {
    return graft_registry_enter(library->registry, scope, error);
}

void graft_library_leave(struct graft_library *library, struct graft_scope *scope_take) {
    graft_registry_leave(library->registry, scope_take);
}

int graft_library_class(struct graft_library *library, const char *name, const struct graft_class **cls,
                        struct graft_error *error) {
    return graft_registry_look_up(library->registry, name, NULL, cls, error);
}

const char *graft_library_note(const struct graft_library *library, size_t i) {
    for (size_t k = 0; k < library->n_loaded; k++) {
        const struct graft_plugin_set *set = library->loaded[k];
        if (i < set->n_notes) {
            return set->notes[i];
        }
        i -= set->n_notes;
    }
    return graft_registry_note(library->registry, i);
}
