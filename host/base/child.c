/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "base/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process like any other, which dies with the one that watches it. */
static void become_child(void) {
    sigset_t none;
    struct rlimit core;
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int number = 1; number < NSIG; number++) {
        (void)signal(number, SIG_DFL);
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (getrlimit(RLIMIT_CORE, &core) == 0) {
        core.rlim_cur = 0; /* a crash is expected, and nobody looks for its core */
        (void)setrlimit(RLIMIT_CORE, &core);
    }
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

static void watch(pid_t child, int32_t limit_ms, struct graft_child_end *end) {
    sigset_t ends;
    int status = 0;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGCHLD);
    (void)setpgid(child, child); /* as it does itself: whoever comes first */
    if (!wait_for(child, &ends, limit_ms, &status)) {
        end->timed_out = 1;
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
    } else if (WIFSIGNALED(status)) {
        end->signal = WTERMSIG(status);
    } else {
        end->exit_status = WEXITSTATUS(status);
    }
    end->left = clear(child);
}

void graft_child_run(void (*work)(void *data), void *data, int32_t limit_ms, struct graft_child_end *end) {
    sigset_t ends, before;
    *end = (struct graft_child_end){0};
    (void)signal(SIGCHLD, SIG_DFL); /* where it is ignored, nobody learns how a child ended */
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &ends, &before);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fork();
    if (child == 0) {
        become_child();
        work(data);
        _exit(0);
    }
    if (child > 0) {
        watch(child, limit_ms, end);
    } else {
        end->failed = errno;
    }
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

void *graft_child_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void graft_child_memory_free(void *memory, size_t bytes) {
    (void)munmap(memory, bytes);
}
