/* SPDX-License-Identifier: Apache-2.0 */
/* The process in which a plugin is tried: it has nothing of ours, and looks at itself before and after. */
#define _GNU_SOURCE /* close_range, RLIM_NLIMITS */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/host_services.h"
#include "plugin/loader.h"
#include "plugin/trial.h"
#include "plugin/use.h"
#include "plugin/validate.h"

/* Standard input, output and error, and one more: a plugin that closes what it did not open may start at 3. */
enum { N_FILES = 4 };

/* What a plugin has to leave as it was. */
struct state {
    struct stat files[N_FILES];
    struct stat folder;
    struct rlimit limits[RLIM_NLIMITS];
};

static int same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What cannot be told stays 0, as it was. */
static void look(struct state *state) {
    memset(state, 0, sizeof *state);
    for (int i = 0; i < N_FILES; i++) {
        (void)fstat(i, &state->files[i]);
    }
    (void)stat(".", &state->folder);
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        (void)getrlimit((__rlimit_resource_t)i, &state->limits[i]);
    }
}

/* What the plugin did to the process, or NULL. */
static const char *find_change(const struct state *before) {
    struct state now;
    look(&now);
    for (int i = 0; i < N_FILES; i++) {
        if (!same_file(&before->files[i], &now.files[i])) {
            return "closed files that it had not opened";
        }
    }
    if (!same_file(&before->folder, &now.folder)) {
        return "changed the working directory";
    }
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        if (before->limits[i].rlim_cur != now.limits[i].rlim_cur ||
            before->limits[i].rlim_max != now.limits[i].rlim_max) {
            return "changed a resource limit (setrlimit)";
        }
    }
    return waitpid(-1, NULL, WNOHANG) == 0 ? GRAFT_TRIAL_LEFT_PROCESSES : NULL;
}

/* Nothing of ours is open in it. */
static int close_files(void) {
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < N_FILES; i++) {
        if (null < 0 || (null != i && dup2(null, i) < 0)) {
            return -1;
        }
    }
    return close_range(N_FILES, ~0U, 0);
}

static int open_plugin(const char *file, struct graft_trial_notes *notes, struct graft_object **object,
                       struct graft_error *error) {
    graft_plugin_entry_function entry;
    int status = graft_object_open(file, GRAFT_PLUGIN_ENTRY, object, error);
    if (status == GRAFT_OK && *object == NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "exports no " GRAFT_PLUGIN_ENTRY);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    void *address = graft_object_symbol(*object, GRAFT_PLUGIN_ENTRY);
    notes->stage = GRAFT_TRIAL_ENTRY;
    memcpy(&entry, &address, sizeof entry);
    const struct graft_plugin *descriptor = address != NULL ? entry(graft_host_get(), error) : NULL;
    notes->stage = GRAFT_TRIAL_DESCRIPTOR;
    if (descriptor == NULL) {
        return graft_error_complete(error, GRAFT_ERROR_PLUGIN, file, GRAFT_PLUGIN_ENTRY " returned NULL");
    }
    status = graft_plugin_validate_identity(file, descriptor, error);
    return status == GRAFT_OK ? graft_plugin_validate_content(file, descriptor, error) : status;
}

_Noreturn void graft_trial_child(const char *file, struct graft_trial_notes *notes) {
    struct graft_error error = graft_error_none();
    struct graft_trial *trial = &notes->trial;
    struct graft_object *object = NULL;
    struct state before;
    if (close_files() != 0) {
        _exit(errno);
    }
    look(&before);
    trial->verdict = open_plugin(file, notes, &object, &error) == GRAFT_OK ? GRAFT_TRIAL_SAFE : GRAFT_TRIAL_UNOPENED;
    notes->stage = GRAFT_TRIAL_DESTRUCTORS;
    graft_object_close(object);
    const char *change = find_change(&before);
    if (change != NULL) {
        trial->verdict = GRAFT_TRIAL_REFUSED;
    }
    (void)snprintf(trial->cause, sizeof trial->cause, "%s", change != NULL ? change : error.message);
    notes->is_done = 1;
    _exit(0);
}
