/* SPDX-License-Identifier: Apache-2.0 */
/* Watching the process in which a plugin is tried. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, strsignal */

#include "plugin/trial.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static int64_t now_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether `child` ended in time. SIGCHLD is blocked, so that its end wakes us. */
static int wait_for(pid_t child, const sigset_t *ends, int32_t limit_ms, int *status) {
    int64_t end = now_ms() + limit_ms;
    for (;;) {
        pid_t ended = waitpid(child, status, WNOHANG);
        int64_t left = end - now_ms();
        if (ended != 0 || left <= 0) {
            return ended == child;
        }
        const struct timespec rest = {left / 1000, (long)(left % 1000) * 1000000};
        (void)sigtimedwait(ends, NULL, &rest);
    }
}

/* Kills children that are in other groups, as far as the system lists them. */
static void kill_listed(void) {
    char name[64];
    long child;
    (void)snprintf(name, sizeof name, "/proc/self/task/%ld/children", (long)getpid());
    FILE *list = fopen(name, "r");
    while (list != NULL && fscanf(list, "%ld", &child) == 1) {
        (void)kill((pid_t)child, SIGKILL);
    }
    if (list != NULL) {
        (void)fclose(list);
    }
}

/* What the child leaves becomes ours, as we are a subreaper. Returns whether some of it was still running. */
static int clear(pid_t group) {
    enum { TRIES = 200 };
    const struct timespec step = {0, 5000000};
    pid_t ended;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) {
    }
    int left = ended == 0;
    for (int i = 0; i < TRIES && ended == 0; i++) {
        (void)kill(-group, SIGKILL);
        kill_listed();
        (void)nanosleep(&step, NULL);
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) {
        }
    }
    return left;
}

static void judge(const struct graft_trial_notes *notes, int status, struct graft_trial *trial) {
    if (WIFSIGNALED(status)) {
        refuse(trial, "was killed by signal %d (%s) %s", WTERMSIG(status), strsignal(WTERMSIG(status)), during(notes));
    } else if (!notes->is_done) {
        refuse(trial, "ended the process (exit status %d) %s", WEXITSTATUS(status), during(notes));
    } else {
        *trial = notes->trial;
        trial->cause[sizeof trial->cause - 1] = '\0';
    }
}

static void watch(pid_t child, const struct graft_trial_notes *notes, int32_t limit_ms, struct graft_trial *trial) {
    sigset_t ends;
    int status = 0;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGCHLD);
    (void)setpgid(child, child); /* as it does itself: whoever comes first */
    if (wait_for(child, &ends, limit_ms, &status)) {
        judge(notes, status, trial);
    } else {
        refuse(trial, "did not come back within %g seconds %s", limit_ms / 1000.0, during(notes));
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
    }
    if (clear(child) && trial->verdict != GRAFT_TRIAL_REFUSED) {
        refuse(trial, "%s", GRAFT_TRIAL_LEFT_PROCESSES);
    }
}

void graft_trial_make(const char *file, int32_t limit_ms, struct graft_trial *trial) {
    sigset_t ends, before;
    *trial = (struct graft_trial){0};
    struct graft_trial_notes *notes =
        mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (notes == MAP_FAILED) {
        refuse(trial, "could not be tried: %s", strerror(errno));
        return;
    }
    (void)signal(SIGCHLD, SIG_DFL); /* where it is ignored, nobody learns how a child ended */
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &ends, &before);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fork();
    if (child == 0) {
        graft_trial_child(file, notes);
    }
    if (child > 0) {
        watch(child, notes, limit_ms, trial);
    } else {
        refuse(trial, "could not be tried: %s", strerror(errno));
    }
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    (void)munmap(notes, sizeof *notes);
}

void graft_plugins_try(const char *const *files, size_t n, graft_trial_function on_verdict, void *data) {
    for (size_t i = 0; i < n; i++) {
        struct graft_trial trial;
        graft_trial_make(files[i], LIMIT_MS, &trial);
        on_verdict(data, files[i], trial.verdict, trial.cause);
    }
}
