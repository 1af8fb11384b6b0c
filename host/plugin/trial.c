/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the process in which a plugin is tried, and judges its end. */
#define _GNU_SOURCE /* strsignal */

#include "plugin/trial.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/child.h"

/* far more than opening takes */
enum { LIMIT_MS = 10000 };

static void decide(struct graft_trial *trial, int32_t verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void decide(struct graft_trial *trial, int32_t verdict, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    trial->verdict = verdict;
    (void)vsnprintf(trial->cause, sizeof trial->cause, format, arguments);
    va_end(arguments);
}

static const char *during(const struct graft_trial_notes *notes) {
    static const char *const stages[] = {"while its constructors ran", "in graft_plugin_entry",
                                         "while its descriptor was read", "while its destructors ran"};
    int32_t stage = notes->stage;
    return stage >= 0 && stage < (int32_t)(sizeof stages / sizeof stages[0]) ? stages[stage] : stages[0];
}

/* The data of the child. */
struct work {
    const char *file;
    struct graft_trial_notes *notes;
};

static void work(void *data) {
    const struct work *given = data;
    graft_trial_child(given->file, given->notes);
}

/* Signals with which others end a process: the system when memory runs out, a batch system, a user. */
static int is_from_outside(int32_t signal) {
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

/* Takes the child's own verdict if the plugin's code ran to the end, or else judges by how the child ended. */
static void judge(const struct graft_trial_notes *notes, const struct graft_child_end *end, int32_t limit_ms,
                  struct graft_trial *trial) {
    double seconds = limit_ms / 1000.0;
    if (end->failed != 0 || notes->failed != 0) {
        decide(trial, GRAFT_TRIAL_UNTRIED, "%s", strerror(end->failed != 0 ? end->failed : notes->failed));
    } else if (end->timed_out == GRAFT_CHILD_STARVED) {
        decide(trial, GRAFT_TRIAL_UNTRIED, "the machine was too busy to give it %g seconds of processor time", seconds);
    } else if (end->timed_out == GRAFT_CHILD_ASLEEP) {
        decide(trial, GRAFT_TRIAL_REFUSED, "did not come back: it slept for %g seconds %s", seconds, during(notes));
    } else if (end->timed_out != GRAFT_CHILD_IN_TIME) {
        decide(trial, GRAFT_TRIAL_REFUSED, "did not come back: it used %g seconds of processor time %s", seconds,
               during(notes));
    } else if (is_from_outside(end->signal)) {
        decide(trial, GRAFT_TRIAL_UNTRIED, "the process that tried it was ended by signal %d (%s)", (int)end->signal,
               strsignal(end->signal));
    } else if (end->signal != 0) {
        decide(trial, GRAFT_TRIAL_REFUSED, "was killed by signal %d (%s) %s", (int)end->signal, strsignal(end->signal),
               during(notes));
    } else if (!notes->is_done) {
        decide(trial, GRAFT_TRIAL_REFUSED, "ended the process (exit status %d) %s", (int)end->exit_status,
               during(notes));
    } else {
        *trial = notes->trial;
        trial->cause[sizeof trial->cause - 1] = '\0';
    }
    if (end->left && trial->verdict != GRAFT_TRIAL_REFUSED) {
        decide(trial, GRAFT_TRIAL_REFUSED, "%s", GRAFT_TRIAL_LEFT_PROCESSES);
    }
}

/* Tries a plugin once. Returns whether its code was started. */
static int make_once(const char *file, int32_t limit_ms, struct graft_trial *trial) {
    const struct graft_child_limits limits = {.processor_ms = limit_ms, .asleep_ms = limit_ms};
    struct graft_child_end end;
    struct graft_trial_notes *notes = graft_child_memory(sizeof *notes);
    *trial = (struct graft_trial){0};
    if (notes == NULL) {
        decide(trial, GRAFT_TRIAL_UNTRIED, "%s", strerror(errno));
        return 0;
    }
    struct work given = {file, notes};
    graft_child_run(work, &given, &limits, &end);
    judge(notes, &end, limit_ms, trial);
    int begun = end.failed == 0 && notes->failed == 0;
    graft_child_memory_free(notes, sizeof *notes);
    return begun;
}

/* repeated, as what failed for lack of processes or memory may succeed a moment later */
void graft_trial_make(const char *file, int32_t limit_ms, struct graft_trial *trial) {
    enum { TRIES = 3 };
    const struct timespec moment = {0, 100000000};
    for (int i = 1; !make_once(file, limit_ms, trial) && i < TRIES; i++) {
        (void)nanosleep(&moment, NULL);
    }
}

void graft_plugins_try(const char *const *files, size_t n, graft_trial_function on_verdict, void *data) {
    for (size_t i = 0; i < n; i++) {
        struct graft_trial trial;
        graft_trial_make(files[i], LIMIT_MS, &trial);
        on_verdict(data, files[i], trial.verdict, trial.cause);
    }
}
