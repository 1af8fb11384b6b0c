/* SPDX-License-Identifier: Apache-2.0 */
/* What came of the process in which a plugin was tried. */
#include "plugin/trial.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/child.h"

/* Far more than opening takes on a busy machine. */
enum { LIMIT_MS = 10000 };

static void refuse(struct graft_trial *trial, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void refuse(struct graft_trial *trial, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    trial->verdict = GRAFT_TRIAL_REFUSED;
    (void)vsnprintf(trial->cause, sizeof trial->cause, format, arguments);
    va_end(arguments);
}

static const char *during(const struct graft_trial_notes *notes) {
    static const char *const stages[] = {"while its constructors ran", "in graft_plugin_entry",
                                         "while its descriptor was read", "while its destructors ran"};
    int32_t stage = notes->stage;
    return stage >= 0 && stage < (int32_t)(sizeof stages / sizeof stages[0]) ? stages[stage] : stages[0];
}

/* What the child works with. */
struct work {
    const char *file;
    struct graft_trial_notes *notes;
};

static void work(void *data) {
    const struct work *given = data;
    graft_trial_child(given->file, given->notes);
}

static void judge(const struct graft_trial_notes *notes, const struct graft_child_end *end, int32_t limit_ms,
                  struct graft_trial *trial) {
    if (end->failed != 0) {
        refuse(trial, "could not be tried: %s", strerror(end->failed));
    } else if (end->timed_out) {
        refuse(trial, "did not come back within %g seconds %s", limit_ms / 1000.0, during(notes));
    } else if (end->signal != 0) {
        refuse(trial, "was killed by signal %d (%s) %s", (int)end->signal, strsignal(end->signal), during(notes));
    } else if (!notes->is_done) {
        refuse(trial, "ended the process (exit status %d) %s", (int)end->exit_status, during(notes));
    } else {
        *trial = notes->trial;
        trial->cause[sizeof trial->cause - 1] = '\0';
    }
    if (end->left && trial->verdict != GRAFT_TRIAL_REFUSED) {
        refuse(trial, "%s", GRAFT_TRIAL_LEFT_PROCESSES);
    }
}

void graft_trial_make(const char *file, int32_t limit_ms, struct graft_trial *trial) {
    struct graft_child_end end;
    struct graft_trial_notes *notes = graft_child_memory(sizeof *notes);
    *trial = (struct graft_trial){0};
    if (notes == NULL) {
        refuse(trial, "could not be tried: %s", strerror(errno));
        return;
    }
    struct work given = {file, notes};
    graft_child_run(work, &given, limit_ms, &end);
    judge(notes, &end, limit_ms, trial);
    graft_child_memory_free(notes, sizeof *notes);
}

void graft_plugins_try(const char *const *files, size_t n, graft_trial_function on_verdict, void *data) {
    for (size_t i = 0; i < n; i++) {
        struct graft_trial trial;
        graft_trial_make(files[i], LIMIT_MS, &trial);
        on_verdict(data, files[i], trial.verdict, trial.cause);
    }
}
