/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* __rlimit_resource_t, RLIM_NLIMITS, environ */
#include "plugin/process_state.h"

#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/float_environment.h"
#include "base/text.h"
#include "plugin/trial.h"

_Static_assert((int)RLIM_NLIMITS <= (int)GRAFT_PROCESS_LIMITS, "room for each");

static int same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static uint64_t hash_variables(void) {
    uint64_t hash = 0;
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        hash = graft_text_hash(hash, *variable);
    }
    return hash;
}

static void look_at_signals(struct graft_process_state *state) {
    for (int number = 1; number < GRAFT_PROCESS_SIGNALS; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0) {
            state->handlers[number] = action.sa_handler;
        }
    }
    (void)pthread_sigmask(SIG_BLOCK, NULL, &state->blocked);
}

/* Counts timers, each of which is a line that begins with "ID:". */
static int32_t count_posix_timers(void) {
    char line[256];
    int32_t n = 0;
    FILE *list = fopen("/proc/self/timers", "re");
    while (list != NULL && fgets(line, sizeof line, list) != NULL) {
        n += strncmp(line, "ID:", 3) == 0;
    }
    if (list != NULL) {
        (void)fclose(list);
    }
    return n;
}

static int32_t count_threads(void) {
    int32_t n = 0;
    DIR *list = opendir("/proc/self/task");
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        n += entry->d_name[0] != '.';
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return n;
}

static void look_at_timers(struct graft_process_state *state) {
    static const int which[GRAFT_PROCESS_TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    for (int i = 0; i < GRAFT_PROCESS_TIMERS; i++) {
        (void)getitimer((__itimer_which_t)which[i], &state->timers[i]);
    }
    state->posix_timers = count_posix_timers();
}

/* state that cannot be read stays 0, before and after */
void graft_process_look(struct graft_process_state *state) {
    memset(state, 0, sizeof *state);
    state->floating_point = graft_float_environment();
    for (int i = 0; i < GRAFT_PROCESS_FILES; i++) {
        (void)fstat(i, &state->files[i]);
    }
    (void)stat(".", &state->folder);
    for (int i = 0; i < (int)RLIM_NLIMITS; i++) {
        (void)getrlimit((__rlimit_resource_t)i, &state->limits[i]);
    }
    state->mask = umask(0);
    (void)umask(state->mask);
    look_at_signals(state);
    look_at_timers(state);
    state->threads = count_threads();
    const char *locale = setlocale(LC_ALL, NULL);
    state->locale = locale != NULL ? graft_text_hash(0, locale) : 0;
    state->variables = hash_variables();
}

static const char *change_of_files(const struct graft_process_state *before, const struct graft_process_state *now) {
    for (int i = 0; i < GRAFT_PROCESS_FILES; i++) {
        if (!same_file(&before->files[i], &now->files[i])) {
            return "closed files that it had not opened";
        }
    }
    return same_file(&before->folder, &now->folder) ? NULL : "changed the working directory";
}

static const char *change_of_limits(const struct graft_process_state *before, const struct graft_process_state *now) {
    for (int i = 0; i < (int)RLIM_NLIMITS; i++) {
        if (before->limits[i].rlim_cur != now->limits[i].rlim_cur ||
            before->limits[i].rlim_max != now->limits[i].rlim_max) {
            return "changed a resource limit (setrlimit)";
        }
    }
    return before->mask == now->mask ? NULL : "changed the file mode mask (umask)";
}

static const char *change_of_signals(const struct graft_process_state *before, const struct graft_process_state *now) {
    for (int number = 1; number < GRAFT_PROCESS_SIGNALS; number++) {
        if (sigismember(&before->blocked, number) != sigismember(&now->blocked, number)) {
            return "changed the signal mask";
        }
        if (before->handlers[number] != now->handlers[number]) {
            return "changed a signal handler";
        }
    }
    for (int i = 0; i < GRAFT_PROCESS_TIMERS; i++) {
        if (memcmp(&before->timers[i].it_interval, &now->timers[i].it_interval, sizeof now->timers[i].it_interval) !=
                0 ||
            (before->timers[i].it_value.tv_sec == 0 && before->timers[i].it_value.tv_usec == 0) !=
                (now->timers[i].it_value.tv_sec == 0 && now->timers[i].it_value.tv_usec == 0)) {
            return "left a timer running (setitimer)";
        }
    }
    return before->posix_timers == now->posix_timers ? NULL : "left a timer running (timer_create)";
}

static const char *change_of_arithmetic(const struct graft_process_state *before,
                                        const struct graft_process_state *now) {
    static _Thread_local char text[128];
    if (before->floating_point == now->floating_point) {
        return NULL;
    }
    (void)snprintf(text, sizeof text, "changed the floating-point environment: %s (was it linked with -ffast-math?)",
                   graft_float_environment_change(before->floating_point, now->floating_point));
    return text;
}

const char *graft_process_change(const struct graft_process_state *before) {
    enum { TRIES = 50 };
    const struct timespec moment = {0, 10000000};
    struct graft_process_state now;
    const char *(*const changes[])(const struct graft_process_state *, const struct graft_process_state *) = {
        change_of_files, change_of_limits, change_of_signals, change_of_arithmetic};
    graft_process_look(&now);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *change = changes[i](before, &now);
        if (change != NULL) {
            return change;
        }
    }
    if (before->locale != now.locale) {
        return "changed the locale (setlocale)";
    }
    if (before->variables != now.variables) {
        return "changed environment variables (setenv)";
    }
    /* a thread that is ending may take a moment */
    for (int i = 0; i < TRIES && count_threads() > before->threads; i++) {
        (void)nanosleep(&moment, NULL);
    }
    if (count_threads() > before->threads) {
        return "left threads behind";
    }
    /* any child that was not waited for counts, as whether it has ended by now is chance */
    return waitpid(-1, NULL, WNOHANG) >= 0 ? GRAFT_TRIAL_LEFT_PROCESSES : NULL;
}
