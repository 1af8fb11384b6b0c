/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "base/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Sets a child up as an ordinary process that dies with the process watching it. */
static void become_child(void) {
    sigset_t none;
    struct rlimit core;
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int number = 1; number < NSIG; number++) {
        (void)signal(number, number == SIGXFSZ ? SIG_IGN : SIG_DFL); /* a file that gets too large is an error */
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (getrlimit(RLIMIT_CORE, &core) == 0) {
        core.rlim_cur = 0; /* a crash is expected, and its core is of no use */
        (void)setrlimit(RLIMIT_CORE, &core);
    }
}

static int64_t now_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The processor time that all threads of `child` have used, in milliseconds; 0 if the system does not provide it. */
static int64_t processor_ms(pid_t child) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &used) != 0) {
        return 0;
    }
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* Whether `child` waits for something, so that it neither runs nor is stopped. The state follows the name in
 * parentheses. */
static int is_asleep(pid_t child) {
    char name[64], text[512];
    (void)snprintf(name, sizeof name, "/proc/%ld/stat", (long)child);
    FILE *file = fopen(name, "re");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    text[length] = '\0';
    const char *after = strrchr(text, ')');
    return after != NULL && after[1] == ' ' && after[2] == 'S';
}

/* How much of its limits a child has used up. */
struct taken {
    int64_t then;      /* when the counts were last updated */
    int64_t all;       /* milliseconds in which this process watched it */
    int64_t asleep;    /* the part of `all` in which the child was asleep */
    int64_t processor; /* processor time of its threads when the counts began */
    int32_t steps;
};

enum { TICK_MS = 100 };

/* Counts the time since the last call, but at most two ticks: over a longer time this process itself did not run. */
static int32_t count(struct taken *taken, pid_t child, const struct graft_child_limits *limits) {
    int64_t now = now_ms();
    int64_t passed = now - taken->then < 2 * TICK_MS ? now - taken->then : 2 * TICK_MS;
    int64_t processor = processor_ms(child);
    taken->then = now;
    taken->all += passed;
    taken->asleep += is_asleep(child) ? passed : 0;
    if (limits->steps != NULL && *limits->steps != taken->steps) {
        *taken = (struct taken){.then = now, .processor = processor, .steps = *limits->steps};
    }
    return processor - taken->processor >= limits->processor_ms ? GRAFT_CHILD_BUSY
           : taken->asleep >= limits->asleep_ms                 ? GRAFT_CHILD_ASLEEP
           : taken->all >= GRAFT_CHILD_PATIENCE_MS              ? GRAFT_CHILD_STARVED
                                                                : GRAFT_CHILD_IN_TIME;
}

/* Waits until `child` ends or reaches a limit, and returns which. SIGCHLD is blocked, so that the child's end wakes the
 * wait. */
static int32_t wait_for(pid_t child, const sigset_t *ends, const struct graft_child_limits *limits, int *status) {
    const struct timespec tick = {0, TICK_MS * 1000000L};
    struct taken taken = {.then = now_ms(), .steps = limits->steps != NULL ? *limits->steps : 0};
    int32_t timed_out = GRAFT_CHILD_IN_TIME;
    while (waitpid(child, status, WNOHANG) == 0) {
        if (timed_out != GRAFT_CHILD_IN_TIME) {
            return timed_out;
        }
        (void)sigtimedwait(ends, NULL, &tick);
        if (limits->on_tick != NULL) {
            limits->on_tick(limits->data);
        }
        timed_out = count(&taken, child, limits);
    }
    return GRAFT_CHILD_IN_TIME;
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

/* Kills and reaps processes that the child left behind, which this process inherits as a subreaper. Returns whether
 * there were any, including those that have ended by now, since whether they still run is chance. */
static int clear(pid_t group) {
    enum { TRIES = 200 };
    const struct timespec step = {0, 5000000};
    int left = 0;
    pid_t ended;
    for (int i = 0; i < TRIES; i++) {
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) {
            left = 1;
        }
        if (ended != 0) {
            break;
        }
        left = 1;
        (void)kill(-group, SIGKILL);
        kill_listed();
        (void)nanosleep(&step, NULL);
    }
    return left;
}

static void watch(pid_t child, const struct graft_child_limits *limits, struct graft_child_end *end) {
    sigset_t ends;
    int status = 0;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGCHLD);
    (void)setpgid(child, child); /* the child calls this too; whichever comes first counts */
    end->timed_out = wait_for(child, &ends, limits, &status);
    if (end->timed_out != GRAFT_CHILD_IN_TIME) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
    } else if (WIFSIGNALED(status)) {
        end->signal = WTERMSIG(status);
    } else {
        end->exit_status = WEXITSTATUS(status);
    }
    end->left = clear(child);
}

void graft_child_run(void (*work)(void *data), void *data, const struct graft_child_limits *limits,
                     struct graft_child_end *end) {
    sigset_t ends, before;
    *end = (struct graft_child_end){0};
    (void)signal(SIGCHLD, SIG_DFL); /* if SIGCHLD were ignored, a child's exit status would be lost */
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
        watch(child, limits, end);
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
