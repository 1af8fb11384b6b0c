/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "graft/host/process.h"

/* How often the line is drawn, and how long an activity must have taken before it is. */
enum { INTERVAL_NANOSECONDS = 250000000 };
/* Bytes of one block as getrusage counts them; bytes that must have been read from disk before the line mentions it. */
enum { BLOCK = 512, LEAST_READ = 32 << 20 };
static const double patience = 1.0; /* seconds */

static struct {
    pthread_mutex_t lock; /* protects all members below */
    pthread_cond_t changed;
    pthread_t drawer;
    int is_open;
    int has_drawer;
    int is_closing;
    const char *what; /* NULL: nothing */
    double start;     /* seconds */
    double drawn;     /* when the line was drawn, seconds */
    int64_t done;
    int64_t total;
    const char *unit; /* NULL: nothing is counted */
    int32_t counted;  /* progress of the library that is shown: GRAFT_PROGRESS_... */
    int width;        /* columns of the line on the terminal; 0: none */
    int64_t before;   /* bytes that the process had read from disk at the start */
} screen = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* The following functions require the lock. */

static void erase(void) {
    if (screen.width > 0) {
        (void)fprintf(stderr, "\r%*s\r", screen.width, "");
        (void)fflush(stderr);
        screen.width = 0;
    }
}

/* What the process has read from disk. Weights are mapped, so the first activity that uses them reads them. */
static int64_t read_from_disk(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_inblock * BLOCK : 0;
}

static void draw(void) {
    char line[192];
    char count[64] = "", disk[64] = "";
    const int64_t bytes = read_from_disk() - screen.before;
    int seconds = (int)(graft_seconds() - screen.start);
    if (screen.unit != NULL && screen.total > 0) {
        (void)snprintf(count, sizeof count, " %" PRId64 " of %" PRId64 " %s,", screen.done, screen.total, screen.unit);
    } else if (screen.unit != NULL) {
        (void)snprintf(count, sizeof count, " %" PRId64 " %s,", screen.done, screen.unit);
    }
    if (bytes >= LEAST_READ && (screen.unit == NULL || strcmp(screen.unit, "MB") != 0)) {
        (void)snprintf(disk, sizeof disk, " %" PRId64 " MB from disk,", bytes / 1000000);
    }
    int width = snprintf(line, sizeof line, "%.40s:%s%s %d s", screen.what, count, disk, seconds);
    (void)fprintf(stderr, "\r%s%*s", line, screen.width > width ? screen.width - width : 0, "");
    (void)fflush(stderr);
    screen.width = width > screen.width ? width : screen.width;
    screen.drawn = graft_seconds();
}

static void draw_if_late(void) {
    if (screen.what != NULL && graft_seconds() - screen.start >= patience) {
        draw();
    }
}

static void *draw_until_closed(void *data) {
    (void)data;
    (void)pthread_mutex_lock(&screen.lock);
    while (!screen.is_closing) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += INTERVAL_NANOSECONDS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (screen.what == NULL) {
            (void)pthread_cond_wait(&screen.changed, &screen.lock);
        } else if (pthread_cond_timedwait(&screen.changed, &screen.lock, &until) == ETIMEDOUT) {
            draw_if_late();
        }
    }
    (void)pthread_mutex_unlock(&screen.lock);
    return NULL;
}

/* Receives progress from the library, on the thread that begins activities. */
static void hear(void *data, int32_t what, int64_t done, int64_t total) {
    (void)data;
    if (what == screen.counted && what == GRAFT_PROGRESS_LOAD) {
        graft_screen_count(done / 1000000, total / 1000000, "MB");
    } else if (what == screen.counted) {
        graft_screen_count(done, total, "tokens");
    }
}

static int is_wanted(const struct graft_options *options) {
    return !options->quiet && isatty(STDERR_FILENO) && graft_parallel_get()->rank == 0;
}

void graft_screen_open(const struct graft_options *options) {
    sigset_t all, before;
    if (!is_wanted(options)) {
        return;
    }
    /* The drawing thread blocks all signals, so that the working thread handles them. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    screen.has_drawer = pthread_create(&screen.drawer, NULL, draw_until_closed, NULL) == 0;
    screen.is_open = screen.has_drawer;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (screen.is_open) {
        graft_progress_set_sink(hear, NULL);
    }
}

void graft_screen_open_threadless(const struct graft_options *options) {
    screen.is_open = is_wanted(options);
}

void graft_screen_close(void) {
    if (!screen.is_open) {
        return;
    }
    graft_progress_set_sink(NULL, NULL);
    (void)pthread_mutex_lock(&screen.lock);
    erase();
    screen.is_closing = 1;
    (void)pthread_cond_signal(&screen.changed);
    (void)pthread_mutex_unlock(&screen.lock);
    if (screen.has_drawer) {
        (void)pthread_join(screen.drawer, NULL);
    }
    screen.has_drawer = 0;
    screen.is_open = 0;
}

static void set_activity(const char *what, int32_t counted) {
    if (!screen.is_open) {
        return;
    }
    (void)pthread_mutex_lock(&screen.lock);
    erase();
    screen.what = what;
    screen.start = graft_seconds();
    screen.unit = NULL;
    screen.counted = counted;
    screen.before = read_from_disk();
    (void)pthread_cond_signal(&screen.changed);
    (void)pthread_mutex_unlock(&screen.lock);
}

void graft_screen_begin(const char *what, int32_t counted) {
    set_activity(what, counted);
}

void graft_screen_name(const char *what) {
    if (!screen.is_open) {
        return;
    }
    (void)pthread_mutex_lock(&screen.lock);
    screen.what = what;
    (void)pthread_mutex_unlock(&screen.lock);
}

void graft_screen_tick(void) {
    if (!screen.is_open) {
        return;
    }
    (void)pthread_mutex_lock(&screen.lock);
    if (graft_seconds() - screen.drawn >= INTERVAL_NANOSECONDS / 1e9) {
        draw_if_late();
    }
    (void)pthread_mutex_unlock(&screen.lock);
}

void graft_screen_end(void) {
    set_activity(NULL, 0);
}

void graft_screen_count(int64_t done, int64_t total, const char *unit) {
    if (!screen.is_open) {
        return;
    }
    (void)pthread_mutex_lock(&screen.lock);
    screen.done = done;
    screen.total = total;
    screen.unit = unit;
    (void)pthread_mutex_unlock(&screen.lock);
}

void graft_screen_clear(void) {
    if (!screen.is_open) {
        return;
    }
    (void)pthread_mutex_lock(&screen.lock);
    erase();
    (void)pthread_mutex_unlock(&screen.lock);
}
