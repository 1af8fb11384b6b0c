/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_getaffinity: POSIX has no way to ask which processors a process may use */
#include "kernels/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { MAX_HELPERS = 1023 };

/* How long a thread polls before it sleeps: longer than the usual time between two loops of a forward, and not much
 * longer than waking up takes. */
enum { LOOK_NANOSECONDS = 50000, LOOKS = 64 };

struct job {
    graft_pool_work work;
    void *data;
    int32_t workers; /* the most workers */
};

/* The gate of a job, in one word: the job's number, how many helpers may still join, and how many are working on it. */
#define INSIDE UINT64_C(1)
#define ROOM (UINT64_C(1) << 16)
#define TURN (UINT64_C(1) << 32)

static uint32_t inside(uint64_t gate) {
    return (uint32_t)(gate % ROOM);
}

static uint32_t room(uint64_t gate) {
    return (uint32_t)(gate % TURN / ROOM);
}

static uint32_t turn(uint64_t gate) {
    return (uint32_t)(gate / TURN);
}

/* Joining and leaving touch a single cache line, which threads pass to each other; while memory is busy, each pass
 * takes a good part of a microsecond. The lock is only for threads that sleep, and for the threads that wake them. */
static struct {
    _Alignas(64) _Atomic uint64_t gate;
    struct job job;                 /* changes only while no helper works on a job */
    _Alignas(64) atomic_int asleep; /* helpers that wait for `opened` */
    atomic_int is_awaited;          /* the owner waits for `finished` */
    int32_t helpers;
    pthread_mutex_t lock;
    pthread_cond_t opened;   /* signalled when there is another job */
    pthread_cond_t finished; /* signalled when no helper works on the job any more */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER};

static pthread_mutex_t owner = PTHREAD_MUTEX_INITIALIZER; /* held by the thread whose job it is */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int32_t processors = 1;
static _Thread_local int is_inside;

/* Called in the child of a fork, which has only the thread that called fork. */
static void begin_anew(void) {
    pool.helpers = 0;
    atomic_store(&pool.gate, 0);
    atomic_store(&pool.asleep, 0);
    atomic_store(&pool.is_awaited, 0);
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

/* Tells the processor that this thread is polling. */
static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static int is_next(uint32_t seen) {
    return turn(atomic_load(&pool.gate)) != seen;
}

static int is_empty(uint32_t unused) {
    (void)unused;
    return inside(atomic_load(&pool.gate)) == 0;
}

/* Polls for a while. Returns whether the condition became true. */
static int look(int (*is_so)(uint32_t), uint32_t value) {
    int64_t end = 0, now = 0;
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (is_so(value)) {
                return 1;
            }
            pause_briefly();
        }
        now = nanoseconds();
        end = end == 0 ? now + LOOK_NANOSECONDS : end;
    } while (now < end);
    return 0;
}

/* Sleeps until there is another job. No wake-up is lost: a thread that opens the gate checks `asleep` afterwards, and a
 * thread that falls asleep checks the gate after counting itself in `asleep`. */
static void sleep_until_next(uint32_t seen) {
    (void)pthread_mutex_lock(&pool.lock);
    atomic_fetch_add(&pool.asleep, 1);
    while (!is_next(seen)) {
        (void)pthread_cond_wait(&pool.opened, &pool.lock);
    }
    atomic_fetch_sub(&pool.asleep, 1);
    (void)pthread_mutex_unlock(&pool.lock);
}

/* Waits for the next job and joins it. Returns the thread's worker number, or 0 if the thread came too late. */
static int32_t join_next(uint32_t *seen, struct job *joined) {
    if (!look(is_next, *seen)) {
        sleep_until_next(*seen);
    }
    uint64_t gate = atomic_load(&pool.gate);
    while (room(gate) > 0 && !atomic_compare_exchange_weak(&pool.gate, &gate, gate - ROOM + INSIDE)) {
    }
    *seen = turn(gate);
    if (room(gate) == 0) {
        return 0;
    }
    *joined = pool.job;
    return joined->workers - (int32_t)room(gate);
}

/* Leaves the job. No wake-up is lost, as in sleep_until_next: the last helper to leave checks `is_awaited`, and the
 * owner checks the gate after setting it. */
static void leave(void) {
    const uint64_t gate = atomic_fetch_sub(&pool.gate, INSIDE);
    if (inside(gate) == 1 && atomic_load(&pool.is_awaited)) {
        (void)pthread_mutex_lock(&pool.lock);
        (void)pthread_cond_signal(&pool.finished);
        (void)pthread_mutex_unlock(&pool.lock);
    }
}

static void *help(void *unused) {
    uint32_t seen = 0; /* a job may be open already, as job numbers begin with 1 */
    (void)unused;
    is_inside = 1;
    for (;;) {
        struct job job;
        int32_t worker = join_next(&seen, &job);
        if (worker == 0) {
            continue;
        }
        job.work(job.data, worker);
        leave();
    }
    return NULL;
}

/* Starts helpers. They block all signals, which are for the program's own threads, except those that a helper's own
 * fault raises: if these were blocked, the process would end without a message. */
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
    while (pool.helpers < wanted) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, help, NULL) != 0) {
            break; /* the helpers that exist do the work */
        }
        (void)pthread_detach(thread);
        pool.helpers++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void open_job(const struct job *job) {
    const int32_t others = job->workers - 1;
    add_helpers(others);
    pool.job = *job;
    atomic_store(&pool.gate, (turn(atomic_load(&pool.gate)) + 1) * TURN + (uint64_t)others * ROOM);
    if (atomic_load(&pool.asleep) > 0) {
        (void)pthread_mutex_lock(&pool.lock);
        for (int32_t i = 0; i < atomic_load(&pool.asleep) && i < others; i++) {
            (void)pthread_cond_signal(&pool.opened);
        }
        (void)pthread_mutex_unlock(&pool.lock);
    }
}

/* Closes the job to further helpers, and waits for those that have joined. */
static void close_job(void) {
    const uint64_t gate = atomic_fetch_and(&pool.gate, ~(TURN - ROOM));
    if (inside(gate) == 0 || look(is_empty, 0)) {
        return;
    }
    (void)pthread_mutex_lock(&pool.lock);
    atomic_store(&pool.is_awaited, 1);
    while (!is_empty(0)) {
        (void)pthread_cond_wait(&pool.finished, &pool.lock);
    }
    atomic_store(&pool.is_awaited, 0);
    (void)pthread_mutex_unlock(&pool.lock);
}

void graft_pool_run(int32_t workers, graft_pool_work work, void *data) {
    const struct job job = {work, data, workers <= MAX_HELPERS ? workers : 1 + MAX_HELPERS};
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
