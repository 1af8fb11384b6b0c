/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_getaffinity: POSIX has no way to ask which processors a process may use */
#include "kernels/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { MAX_HELPERS = 1023 };

/* How long a thread looks before it sleeps. Longer than what mostly lies between two loops of a forward, and not much
 * longer than it takes to wake up. */
enum { LOOK_NANOSECONDS = 50000, LOOKS = 64 };

struct job {
    graft_pool_work work;
    void *data;
    int32_t workers; /* that may take part */
    int32_t joined;  /* so far, with the one that asked */
};

/* `turn` and `active` are atomic, so that threads can look at them without the lock; they change under it. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t opened;   /* there is another job */
    pthread_cond_t finished; /* `active` is 0 */
    struct job *job;         /* that can be joined; or NULL */
    atomic_uint turn;        /* changes with each job */
    atomic_int active;       /* helpers within the job */
    int32_t asleep;          /* helpers that wait for `opened` */
    int32_t helpers;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER};

static pthread_mutex_t owner = PTHREAD_MUTEX_INITIALIZER; /* held by the thread whose job it is */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int32_t processors = 1;
static _Thread_local int is_inside;

/* A child of fork has no threads but the one that called it. */
static void begin_anew(void) {
    pool.job = NULL;
    pool.asleep = pool.helpers = 0;
    atomic_store(&pool.active, 0);
    (void)pthread_mutex_init(&pool.lock, NULL);
    (void)pthread_cond_init(&pool.opened, NULL);
    (void)pthread_cond_init(&pool.finished, NULL);
    (void)pthread_mutex_init(&owner, NULL);
}

static void start(void) {
    cpu_set_t set;
    (void)pthread_atfork(NULL, NULL, begin_anew);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
        processors = (int32_t)CPU_COUNT(&set);
    }
}

int32_t graft_pool_processors(void) {
    (void)pthread_once(&once, start);
    return processors;
}

int graft_pool_is_inside(void) {
    return is_inside;
}

static int64_t nanoseconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The processor's hint that this thread only looks. */
static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static int is_next(unsigned seen) {
    return atomic_load_explicit(&pool.turn, memory_order_acquire) != seen;
}

static int is_idle(unsigned unused) {
    (void)unused;
    return atomic_load_explicit(&pool.active, memory_order_acquire) == 0;
}

/* Looks for a while whether it is so. */
static void look(int (*is_so)(unsigned), unsigned value) {
    int64_t end = nanoseconds() + LOOK_NANOSECONDS;
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (is_so(value)) {
                return;
            }
            pause_briefly();
        }
    } while (nanoseconds() < end);
}

/* Waits for a job that the thread may join, or for one that it came too late for. Returns its number there, or 0. */
static int32_t join_next(unsigned *seen, struct job *joined) {
    int32_t worker = 0;
    look(is_next, *seen);
    (void)pthread_mutex_lock(&pool.lock);
    while (!is_next(*seen)) {
        pool.asleep++;
        (void)pthread_cond_wait(&pool.opened, &pool.lock);
        pool.asleep--;
    }
    *seen = atomic_load(&pool.turn);
    if (pool.job != NULL && pool.job->joined < pool.job->workers) {
        worker = pool.job->joined++;
        *joined = *pool.job;
        atomic_fetch_add(&pool.active, 1);
    }
    (void)pthread_mutex_unlock(&pool.lock);
    return worker;
}

static void *help(void *unused) {
    unsigned seen = 0; /* a job may be open already: turns begin with 1 */
    (void)unused;
    is_inside = 1;
    for (;;) {
        struct job job;
        int32_t worker = join_next(&seen, &job);
        if (worker == 0) {
            continue;
        }
        job.work(job.data, worker);
        (void)pthread_mutex_lock(&pool.lock);
        if (atomic_fetch_sub(&pool.active, 1) == 1) {
            (void)pthread_cond_signal(&pool.finished);
        }
        (void)pthread_mutex_unlock(&pool.lock);
    }
    return NULL;
}

/* Signals are for the threads of the program, but for those that say what a helper itself has done: blocked, they would
 * end the process without a word. Under the lock. */
static void add_helpers(int32_t wanted) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t all, before;
    if (pool.helpers >= wanted) {
        return;
    }
    (void)sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        (void)sigdelset(&all, own[i]);
    }
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.helpers < wanted && pool.helpers < MAX_HELPERS) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, help, NULL) != 0) {
            break; /* those there are do it */
        }
        (void)pthread_detach(thread);
        pool.helpers++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void open_job(struct job *job) {
    (void)pthread_mutex_lock(&pool.lock);
    add_helpers(job->workers - 1);
    pool.job = job;
    atomic_fetch_add(&pool.turn, 1);
    int32_t asleep = pool.asleep;
    (void)pthread_mutex_unlock(&pool.lock);
    for (int32_t i = 0; i < asleep && i < job->workers - 1; i++) {
        (void)pthread_cond_signal(&pool.opened);
    }
}

/* Nobody joins any more; those who have are waited for. */
static void close_job(void) {
    (void)pthread_mutex_lock(&pool.lock);
    pool.job = NULL;
    (void)pthread_mutex_unlock(&pool.lock);
    look(is_idle, 0);
    if (!is_idle(0)) {
        (void)pthread_mutex_lock(&pool.lock);
        while (!is_idle(0)) {
            (void)pthread_cond_wait(&pool.finished, &pool.lock);
        }
        (void)pthread_mutex_unlock(&pool.lock);
    }
}

void graft_pool_run(int32_t workers, graft_pool_work work, void *data) {
    struct job job = {work, data, workers, 1};
    (void)pthread_once(&once, start);
    int has_pool = workers > 1 && pthread_mutex_trylock(&owner) == 0;
    if (has_pool) {
        open_job(&job);
    }
    is_inside = 1;
    work(data, 0);
    is_inside = 0;
    if (has_pool) {
        close_job();
        (void)pthread_mutex_unlock(&owner);
    }
}
