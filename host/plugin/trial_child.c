/* SPDX-License-Identifier: Apache-2.0 */
/* The process in which a plugin is tried: it holds nothing of the host, and compares its state before and after. */
#define _GNU_SOURCE /* close_range */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "plugin/host_services.h"
#include "plugin/loader.h"
#include "plugin/plugin_ref.h"
#include "plugin/process_state.h"
#include "plugin/trial.h"
#include "plugin/validate.h"

/* Closes all files of the host. */
static int close_files(void) {
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < GRAFT_PROCESS_FILES; i++) {
        if (null < 0 || (null != i && dup2(null, i) < 0)) {
            return -1;
        }
    }
    return close_range(GRAFT_PROCESS_FILES, ~0U, 0);
}

/* Ends copies of this process: a plugin that forks and returns in both processes continues here twice, and only the
 * watched process may report. */
static void end_copies(pid_t original) {
    if (getpid() != original) {
        _exit(0);
    }
}

static int open_plugin(const char *file, struct graft_trial_notes *notes, struct graft_object **object,
                       struct graft_error *error) {
    graft_plugin_entry_function entry;
    const pid_t self = getpid();
    int status = graft_object_open(file, GRAFT_PLUGIN_ENTRY, object, error);
    end_copies(self);
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
    end_copies(self);
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
    struct graft_process_state before;
    const pid_t self = getpid();
    if (close_files() != 0) {
        notes->failed = errno;
        _exit(1);
    }
    graft_process_look(&before);
    trial->verdict = open_plugin(file, notes, &object, &error) == GRAFT_OK ? GRAFT_TRIAL_SAFE : GRAFT_TRIAL_UNOPENED;
    notes->stage = GRAFT_TRIAL_DESTRUCTORS;
    graft_object_close(object);
    end_copies(self);
    const char *change = graft_process_change(&before);
    if (change != NULL) {
        trial->verdict = GRAFT_TRIAL_REFUSED;
    }
    (void)snprintf(trial->cause, sizeof trial->cause, "%s", change != NULL ? change : error.message);
    notes->is_done = 1;
    _exit(0);
}
