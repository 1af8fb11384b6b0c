/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */

#include "plugin/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <ltdl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "plugin/object_file.h"

struct graft_object {
    struct graft_object *next; /* next kept object */
    lt_dlhandle handle;
    char *name; /* absolute path */
    int kept;
};

/* What this host's loader is asked to open, and the dynamic linker's message if it fails. */
struct request {
    const char *name;
    int failed;
    char words[sizeof((struct graft_error *)0)->message];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int started;
static struct graft_object *kept_objects;

/* libltdl asks the loader about every object that anything in this process opens. It handles only the one that this
 * thread requests here. */
static _Thread_local struct request *current;

/* Represents an object that did not open. If the loader failed, libltdl would try its other loaders, which bind lazily,
 * so that a missing symbol goes unnoticed, and overwrite the message. */
static char no_module;

static lt_module module_open(lt_user_data data, const char *name, lt_dladvise advise) {
    struct request *request = current;
    (void)data;
    (void)name;
    (void)advise;
    if (request == NULL) {
        return NULL;
    }
    current = NULL; /* constructors may use libltdl as well */
    void *module = dlopen(request->name, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL) {
        const char *words = dlerror();
        request->failed = 1;
        (void)snprintf(request->words, sizeof request->words, "%s", words != NULL ? words : "no reason given");
        return &no_module;
    }
    return module;
}

static int module_close(lt_user_data data, lt_module module) {
    (void)data;
    return module != &no_module && dlclose(module) != 0;
}

static void *find_symbol(lt_user_data data, lt_module module, const char *name) {
    (void)data;
    return module != &no_module ? dlsym(module, name) : NULL;
}

/* libltdl keeps the address and would free it on shutdown, which never happens */
static lt_dlvtable loader = {
    .name = "graft",
    .module_open = module_open,
    .module_close = module_close,
    .find_sym = find_symbol,
    .priority = LT_DLLOADER_PREPEND,
};

/* Starts libltdl. The caller holds the lock. */
static int start(const char *file, struct graft_error *error) {
    if (started) {
        return GRAFT_OK;
    }
    if (lt_dlinit() != 0) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, file, "libltdl does not start: %s", lt_dlerror());
    }
    if (lt_dlloader_add(&loader) != 0) {
        (void)lt_dlexit();
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, file, "libltdl takes no loader");
    }
    started = 1;
    return GRAFT_OK;
}

/* The absolute name of a file, as libltdl searches its path for names without a slash and remembers objects by name. A
 * link in the last component is kept, since its target may not end in ".so". */
static int absolute_name(const char *file, char **name, struct graft_error *error) {
    const char *slash = strrchr(file, '/');
    const char *last = slash != NULL ? slash + 1 : file;
    char *folder = slash == NULL ? graft_strdup(".") : graft_strndup(file, slash == file ? 1 : (size_t)(slash - file));
    if (folder == NULL) {
        return graft_fail_memory(error, file);
    }
    char *real = realpath(folder, NULL);
    int number = errno;
    graft_free(folder);
    if (real == NULL) {
        return graft_fail_errno(error, GRAFT_ERROR_PLUGIN, file, "cannot be opened", number);
    }
    *name = graft_path_join(real, last);
    free(real); /* allocated by the C library */
    return *name != NULL ? GRAFT_OK : graft_fail_memory(error, file);
}

static int open_failed(const char *file, const struct request *request, struct graft_error *error) {
    /* the message starts with the object at fault; if that is the file itself, the error names it already */
    size_t length = strlen(request->name);
    const char *words = request->words;
    if (strncmp(words, request->name, length) == 0 && strncmp(words + length, ": ", 2) == 0) {
        words += length + 2;
    }
    int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "cannot be loaded: %s", words);
    if (strstr(words, "undefined symbol") != NULL || strstr(words, "cannot open shared object") != NULL) {
        graft_error_hint(error, "`ldd -r` lists the libraries and symbols that it lacks");
    } else {
        graft_error_hint(error, "expected a shared object built for this machine");
    }
    return status;
}

/* Opens an object. The caller holds the lock; `name` is consumed on success. */
static int open_new(const char *file, char *name, struct graft_object **object, struct graft_error *error) {
    struct request request = {.name = name};
    struct graft_object *made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, file);
    }
    current = &request;
    made->handle = lt_dlopen(name);
    current = NULL;
    if (made->handle != NULL && !request.failed) {
        made->name = name;
        *object = made;
        return GRAFT_OK;
    }
    int status = made->handle != NULL
                     ? open_failed(file, &request, error)
                     : graft_error_set(error, GRAFT_ERROR_INTERNAL, file, "libltdl did not open it: %s", lt_dlerror());
    if (made->handle != NULL) {
        (void)lt_dlclose(made->handle);
    }
    graft_free(made);
    return status;
}

int graft_object_open(const char *file, const char *entry, struct graft_object **object, struct graft_error *error) {
    size_t length = strlen(file);
    char *name = NULL;
    int has_entry = 0;
    *object = NULL;
    if (length < 4 || strcmp(file + length - 3, ".so") != 0) {
        /* libltdl would read *.la as a text file that says where the object is */
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "expected a name that ends in .so");
    }
    int status = graft_object_file_check(file, entry, &has_entry, error);
    if (status == GRAFT_OK && has_entry) {
        status = absolute_name(file, &name, error);
    }
    if (status != GRAFT_OK || !has_entry) {
        return status;
    }
    (void)pthread_mutex_lock(&lock);
    struct graft_object *found = kept_objects;
    while (found != NULL && strcmp(found->name, name) != 0) {
        found = found->next;
    }
    if (found != NULL) {
        *object = found;
        graft_free(name);
    } else {
        status = start(file, error);
        status = status == GRAFT_OK ? open_new(file, name, object, error) : status;
        if (status != GRAFT_OK) {
            graft_free(name);
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}

void *graft_object_symbol(const struct graft_object *object, const char *name) {
    (void)pthread_mutex_lock(&lock);
    void *address = lt_dlsym(object->handle, name);
    (void)pthread_mutex_unlock(&lock);
    return address;
}

void graft_object_keep(struct graft_object *object) {
    (void)pthread_mutex_lock(&lock);
    if (!object->kept) {
        (void)lt_dlmakeresident(object->handle);
        object->kept = 1;
        object->next = kept_objects;
        kept_objects = object;
    }
    (void)pthread_mutex_unlock(&lock);
}

void graft_object_close(struct graft_object *object) {
    if (object == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&lock);
    int kept = object->kept;
    if (!kept) {
        (void)lt_dlclose(object->handle);
    }
    (void)pthread_mutex_unlock(&lock);
    if (!kept) {
        graft_free(object->name);
        graft_free(object);
    }
}
