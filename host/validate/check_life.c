/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops the plugin, more than once. */
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "base/alloc.h"
#include "plugin/process_state.h"
#include "validate/validation.h"

static int check_start(struct graft_validation *validation, struct graft_error *error) {
    struct graft_library *library = NULL;
    int status = graft_validation_library(validation, NULL, 0, &library, error);
    graft_library_free(library);
    return status;
}

/* Checks what `init` changes in the process; a trial (graft/host/validate.h) does not run `init`, which may open
 * connections. */
static int check_harmless(struct graft_validation *validation, struct graft_error *error) {
    struct graft_process_state before;
    graft_process_look(&before);
    int status = check_start(validation, error);
    const char *change = status == GRAFT_OK ? graft_process_change(&before) : NULL;
    return change != NULL ? graft_validation_fault(validation, error, "its init or deinit %s", change) : status;
}

static int check_again(struct graft_validation *validation, struct graft_error *error) {
    enum { TIMES = 3 };
    int status = GRAFT_OK;
    for (int i = 0; i < TIMES && status == GRAFT_OK; i++) {
        status = check_start(validation, error);
    }
    return status;
}

static size_t count_same(const char *a, const void *b, size_t bytes) {
    size_t same = 0;
    while (same < bytes && a[same] == ((const char *)b)[same]) {
        same++;
    }
    return same;
}

/* Checks that the descriptor and its lists stay the same while the plugin is in use. */
static int check_const(struct graft_validation *validation, struct graft_error *error) {
    const struct graft_plugin *plugin = NULL;
    struct graft_library *library = NULL;
    int status = graft_validation_descriptor(validation, &plugin, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_plugin before = graft_validation_copy(plugin);
    size_t bytes = (size_t)plugin->n_replacements * plugin->replacement_stride;
    char *list = graft_alloc(bytes, 1);
    if (list == NULL) {
        return graft_fail_memory(error, validation->file);
    }
    memcpy(list, plugin->replacements != NULL ? (const char *)plugin->replacements : list, bytes);
    status = graft_validation_library(validation, NULL, 0, &library, error);
    const size_t same = status == GRAFT_OK ? count_same(list, plugin->replacements, bytes) : bytes;
    const struct graft_plugin after = graft_validation_copy(plugin);
    if (status == GRAFT_OK && memcmp(&before, &after, sizeof before) != 0) {
        status = graft_validation_fault(validation, error, "init changes the descriptor");
    } else if (same < bytes) {
        status = graft_validation_fault(validation, error, "init changes the descriptor: replacements[%zu]",
                                        same / plugin->replacement_stride);
    }
    graft_library_free(library);
    graft_free(list);
    return status;
}

static const char *get_unknown(const struct graft_plugin *plugin) {
    return plugin->get_extension != NULL && plugin->get_extension("graft.validation/1") != NULL ? "graft.validation/1"
                                                                                                : NULL;
}

static int check_extensions(struct graft_validation *validation, struct graft_error *error) {
    struct graft_library *library = NULL;
    int status = graft_validation_library(validation, NULL, 0, &library, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_plugin *plugin = graft_library_plugin(library, 0)->descriptor;
    if (plugin->offers_extensions == NULL) {
        graft_library_free(library);
        return graft_validation_skip(validation, "it offers no extensions");
    }
    if (get_unknown(plugin) != NULL) {
        status = graft_validation_fault(validation, error, "get_extension gives something for an id it does not offer");
    }
    graft_library_free(library);
    return status;
}

/* The number of threads of this process; 0 if unknown. */
static long count_threads(void) {
    char line[128];
    long n = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "Threads: %ld", &n) == 1) {
            break;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return n;
}

static int check_threads(struct graft_validation *validation, struct graft_error *error) {
    long before = count_threads();
    int status = check_start(validation, error);
    return status == GRAFT_OK && count_threads() > before
               ? graft_validation_fault(validation, error, "after deinit %ld of its threads are still running",
                                        count_threads() - before)
               : status;
}

const struct graft_validation_check graft_life_checks[] = {
    GRAFT_OBJECT_CHECK("life.starts", "init and deinit do their work", check_start),
    GRAFT_OBJECT_CHECK("life.harmless",
                       "init and deinit do not close others' files, change the directory or limits, or leave processes",
                       check_harmless),
    GRAFT_OBJECT_CHECK("life.starts_again", "after deinit it can be started again", check_again),
    GRAFT_OBJECT_CHECK("life.constant", "init does not change the descriptor", check_const),
    GRAFT_OBJECT_CHECK("life.extensions", "it returns no extension that it does not offer", check_extensions),
    GRAFT_OBJECT_CHECK("life.threads", "deinit ends the threads that init starts", check_threads),
    {{0}, NULL, 0},
};
