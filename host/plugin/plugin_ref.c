/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/plugin_ref.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crash_context.h"
#include "base/fail.h"
#include "base/text.h"
#include "plugin/family_file.h"
#include "plugin/host_services.h"
#include "plugin/loader.h"
#include "plugin/validate.h"

/* An extension that another plugin offers to this one. */
struct link {
    const char *id;
    const void *extension;
    struct graft_plugin_ref *provider;
};

struct graft_plugin_ref {
    struct graft_plugin_ref *next;
    const void *entry; /* address of its entry function, which identifies the plugin under any file name; NULL: none */
    struct graft_object *object; /* NULL: the descriptor belongs to a program */
    const struct graft_plugin *descriptor;
    /* the family file of the descriptor; NULL: the descriptor is from an object or a program */
    struct graft_family_file *family;
    struct graft_plugin_ref *like;      /* the plugin whose family the file is like; NULL: a family of the host */
    struct graft_option_values *values; /* set before `init` until after `deinit`, like the links */
    struct link *links;
    size_t n_links;
    size_t links_capacity;
    char *file; /* the file; NULL: the descriptor belongs to a program */
    int users;
    int accepted;
    int initialised;
};

/* Guards the list `uses` and its members. It is not plugin.c's lock, because plugins ask for their options at any time,
 * even in `init`, while plugin.c holds its own. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct graft_plugin_ref *uses;

static void add_use(struct graft_plugin_ref *use) {
    (void)pthread_mutex_lock(&list_lock);
    use->next = uses;
    uses = use;
    (void)pthread_mutex_unlock(&list_lock);
}

static void remove_use(struct graft_plugin_ref *use) {
    struct graft_plugin_ref **link = &uses;
    (void)pthread_mutex_lock(&list_lock);
    while (*link != use) {
        link = &(*link)->next;
    }
    *link = use->next;
    (void)pthread_mutex_unlock(&list_lock);
}

/* Finds a use; the caller holds a lock. */
static const struct graft_plugin_ref *find_descriptor(const struct graft_plugin *descriptor) {
    const struct graft_plugin_ref *use = uses;
    while (use != NULL && use->descriptor != descriptor) {
        use = use->next;
    }
    return use;
}

static void set_values(struct graft_plugin_ref *use, struct graft_option_values *values_take) {
    (void)pthread_mutex_lock(&list_lock);
    graft_option_values_release(use->values);
    use->values = values_take;
    (void)pthread_mutex_unlock(&list_lock);
}

/* Passes on the message that a plugin set in `own`, or says that it set none. */
static int plugin_failed(const char *file, const char *what, struct graft_error *own, struct graft_error *error) {
    own->code = GRAFT_ERROR_PLUGIN; /* also if the plugin wrote the struct by hand */
    (void)graft_error_complete(own, GRAFT_ERROR_PLUGIN, NULL, "%s", "");
    int has_words = own->message[0] != '\0';
    int status =
        graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "%s%s%s%s%s", what, has_words ? ": " : "", own->source,
                        own->source[0] != '\0' ? ": " : "", has_words ? own->message : " without giving a reason");
    if (own->hint[0] != '\0') {
        graft_error_hint(error, "%s", own->hint);
    }
    graft_error_hint(error, "the plugin rejected this host");
    return status;
}

static int call_entry(const char *file, void *address, const struct graft_plugin **descriptor,
                      struct graft_error *error) {
    struct graft_error own = graft_error_none();
    graft_plugin_entry_function entry;
    /* ISO C has no cast from object to function pointers; POSIX says that they have the same form */
    memcpy(&entry, &address, sizeof entry);
    const struct graft_plugin_call task = {GRAFT_PLUGIN_ENTRY, NULL, NULL, NULL, file};
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    *descriptor = entry(graft_host_get(), &own);
    graft_crash_context_end(before);
    if (*descriptor == NULL) {
        return plugin_failed(file, GRAFT_PLUGIN_ENTRY " returned NULL", &own, error);
    }
    return graft_plugin_validate_identity(file, *descriptor, error);
}

static struct graft_plugin_ref *find(const void *entry) {
    struct graft_plugin_ref *use = uses;
    while (use != NULL && (entry == NULL || use->entry != entry)) {
        use = use->next;
    }
    return use;
}

int graft_plugin_ref_open(const char *file, struct graft_plugin_ref **use, struct graft_error *error) {
    struct graft_object *object = NULL;
    struct graft_plugin_ref *made = NULL;
    *use = NULL;
    const struct graft_plugin_call task = {"dlopen", NULL, NULL, NULL, file}; /* runs constructors */
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int status = graft_object_open(file, GRAFT_PLUGIN_ENTRY, &object, error);
    graft_crash_context_end(before);
    if (status != GRAFT_OK || object == NULL) {
        return status;
    }
    void *address = graft_object_symbol(object, GRAFT_PLUGIN_ENTRY);
    struct graft_plugin_ref *found = find(address);
    if (address == NULL || found != NULL) {
        if (found != NULL) {
            found->users++;
        }
        *use = found;
        goto close;
    }
    made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        status = graft_fail_memory(error, file);
        goto close;
    }
    status = call_entry(file, address, &made->descriptor, error);
    if (status != GRAFT_OK) {
        goto close;
    }
    made->entry = address;
    made->file = graft_strdup(file);
    if (made->file == NULL) {
        status = graft_fail_memory(error, file);
        goto close;
    }
    made->object = object;
    made->users = 1;
    add_use(made);
    *use = made;
    return GRAFT_OK;

close:
    graft_free(made);
    graft_object_close(object);
    return status;
}

int graft_plugin_ref_take(const struct graft_plugin *descriptor, struct graft_plugin_ref **use,
                          struct graft_error *error) {
    struct graft_plugin_ref *made = uses;
    *use = NULL;
    while (made != NULL && made->descriptor != descriptor) {
        made = made->next;
    }
    if (made == NULL) {
        int status = graft_plugin_validate_identity("plugin", descriptor, error);
        if (status != GRAFT_OK) {
            return status;
        }
        made = graft_alloc(1, sizeof *made);
        if (made == NULL) {
            return graft_fail_memory(error, descriptor->id);
        }
        made->descriptor = descriptor;
        add_use(made);
    }
    made->users++;
    *use = made;
    return GRAFT_OK;
}

int graft_plugin_ref_open_family(const char *file, const struct graft_family_finder *finder,
                                 struct graft_plugin_ref **use, struct graft_error *error) {
    struct graft_plugin_ref *made = graft_alloc(1, sizeof *made);
    *use = NULL;
    if (made == NULL) {
        return graft_fail_memory(error, file);
    }
    int status = graft_family_file_read(file, finder, &made->family, error);
    if (status == GRAFT_OK) {
        made->descriptor = graft_family_file_plugin(made->family);
        status = graft_plugin_validate_identity(file, made->descriptor, error);
    }
    if (status != GRAFT_OK) {
        graft_family_file_free(made->family);
        graft_free(made);
        return status;
    }
    made->users = 1;
    add_use(made);
    *use = made;
    return GRAFT_OK;
}

const struct graft_family *graft_plugin_ref_like(const struct graft_plugin_ref *use) {
    return use->family != NULL ? graft_family_file_like(use->family) : NULL;
}

void graft_plugin_ref_hold(struct graft_plugin_ref *use, struct graft_plugin_ref *like) {
    use->like = like;
    like->users++;
}

const struct graft_plugin *graft_plugin_ref_descriptor(const struct graft_plugin_ref *use) {
    return use->descriptor;
}

int graft_plugin_ref_accept(struct graft_plugin_ref *use, const char *file, struct graft_error *error) {
    int status = use->accepted ? GRAFT_OK : graft_plugin_validate_content(file, use->descriptor, error);
    if (status == GRAFT_OK) {
        if (use->object != NULL) {
            graft_object_keep(use->object);
        }
        use->accepted = 1;
    }
    return status;
}

/* Checks the option values against those of another library of the process, since libraries share the plugin and its
 * options. */
static int check_values(const struct graft_plugin_ref *use, const char *file, const struct graft_option_values *values,
                        struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < use->descriptor->n_options && status == GRAFT_OK; i++) {
        if (strcmp(use->values->texts[i], values->texts[i]) != 0) {
            status =
                graft_error_set(error, GRAFT_ERROR_USAGE, file,
                                "option %s: another library in this process set it to %s, this one to %s",
                                graft_plugin_option(use->descriptor, i)->name, use->values->texts[i], values->texts[i]);
        }
    }
    return status;
}

static const void *ask_for_extension(const struct graft_plugin_ref *use, const char *id) {
    const struct graft_plugin_call task = {"get_extension", NULL, NULL, use->descriptor->id, NULL};
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    const void *extension = use->descriptor->get_extension(id);
    graft_crash_context_end(before);
    return extension;
}

int graft_plugin_ref_link(struct graft_plugin_ref *use, const char *id, struct graft_plugin_ref *provider,
                          struct graft_error *error) {
    const struct link link = {id, ask_for_extension(provider, id), provider};
    (void)pthread_mutex_lock(&list_lock);
    int failed = graft_grow(&use->links, &use->links_capacity, use->n_links, sizeof link) != 0;
    if (!failed) {
        use->links[use->n_links++] = link;
        provider->users++;
    }
    (void)pthread_mutex_unlock(&list_lock);
    return failed ? graft_fail_memory(error, use->descriptor->id) : GRAFT_OK;
}

void graft_plugin_ref_forget(struct graft_plugin_ref *use) {
    (void)pthread_mutex_lock(&list_lock);
    struct link *links = use->links;
    size_t n = use->n_links;
    use->links = NULL;
    use->n_links = use->links_capacity = 0;
    (void)pthread_mutex_unlock(&list_lock);
    set_values(use, NULL);
    while (n > 0) {
        graft_plugin_ref_close(links[--n].provider);
    }
    graft_free(links);
}

static int check_offers(const struct graft_plugin_ref *use, const char *file, struct graft_error *error) {
    const char *const *ids = use->descriptor->offers_extensions;
    for (int32_t i = 0; ids != NULL && ids[i] != NULL; i++) {
        if (ask_for_extension(use, ids[i]) == NULL) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, file,
                                   "get_extension: expected \"%s\", which the plugin offers, got NULL", ids[i]);
        }
    }
    return GRAFT_OK;
}

int graft_plugin_ref_init(struct graft_plugin_ref *use, const char *file, struct graft_option_values *values,
                          struct graft_error *error) {
    if (use->initialised) {
        int status = check_values(use, file, values, error);
        return status == GRAFT_OK ? check_offers(use, file, error) : status;
    }
    set_values(use, graft_option_values_retain(values));
    if (use->descriptor->init != NULL) {
        struct graft_error own = graft_error_none();
        const struct graft_plugin_call task = {"init", NULL, NULL, use->descriptor->id, file};
        const struct graft_crash_context before = graft_crash_context_begin(&task);
        int status = use->descriptor->init(&own);
        graft_crash_context_end(before);
        if (status != GRAFT_OK) {
            return plugin_failed(file, "init failed", &own, error);
        }
    }
    use->initialised = 1;
    return check_offers(use, file, error);
}

int graft_plugin_ref_is_started(const struct graft_plugin_ref *use) {
    return use->initialised;
}

void graft_plugin_ref_close(struct graft_plugin_ref *use) {
    if (use == NULL || --use->users > 0) {
        return;
    }
    if (use->initialised && use->descriptor->deinit != NULL) {
        const struct graft_plugin_call task = {"deinit", NULL, NULL, use->descriptor->id, NULL};
        const struct graft_crash_context before = graft_crash_context_begin(&task);
        use->descriptor->deinit();
        graft_crash_context_end(before);
    }
    graft_plugin_ref_forget(use);
    remove_use(use);
    graft_object_close(use->object);
    graft_family_file_free(use->family);
    graft_free(use->file);
    graft_plugin_ref_close(use->like);
    graft_free(use);
}

const struct graft_args *graft_plugin_ref_options(const struct graft_plugin *descriptor) {
    (void)pthread_mutex_lock(&list_lock);
    const struct graft_plugin_ref *use = find_descriptor(descriptor);
    const struct graft_args *args = use != NULL && use->values != NULL ? &use->values->args : NULL;
    (void)pthread_mutex_unlock(&list_lock);
    return args;
}

const void *graft_plugin_ref_extension(const struct graft_plugin *descriptor, const char *id) {
    const void *extension = NULL;
    (void)pthread_mutex_lock(&list_lock);
    const struct graft_plugin_ref *use = find_descriptor(descriptor);
    for (size_t i = 0; use != NULL && id != NULL && i < use->n_links && extension == NULL; i++) {
        extension = strcmp(use->links[i].id, id) == 0 ? use->links[i].extension : NULL;
    }
    (void)pthread_mutex_unlock(&list_lock);
    return extension;
}

const char *graft_plugin_ref_file(const char *id) {
    const struct graft_plugin_ref *use = uses;
    while (use != NULL && strcmp(use->descriptor->id, id) != 0) {
        use = use->next;
    }
    return use != NULL ? use->file : NULL;
}
