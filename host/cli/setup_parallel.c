/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as one of several processes: connects them, checks that they agree, and lets only one report. */
#define _POSIX_C_SOURCE 200809L /* nanosleep, sysconf */

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "graft/host/process.h"

/* Sets the number of threads: the processors that this process may use, divided by the ranks of the machine if all may
 * use the same ones. */
static void share_threads(const struct graft_options *options, const struct graft_parallel *parallel) {
    int32_t mine = graft_threads_count();
    int32_t all = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (options->threads == 0 && mine == all) {
        graft_threads_set_count(mine / parallel->local_size > 1 ? mine / parallel->local_size : 1);
    }
    if (parallel->rank == 0 && mine == 1 && all > parallel->local_size && !options->quiet) {
        graft_output_line(stderr, "each process may use one core of %ld; mpirun's --bind-to none gives it more",
                          (long)all);
    }
}

static int agree(const char *what, struct graft_text *lines, struct graft_error *error) {
    int status = lines->failed ? graft_fail_memory(error, "parallel")
                               : graft_parallel_agree(what, lines->bytes != NULL ? lines->bytes : "", 0, error);
    graft_text_free(lines);
    return status;
}

static int agree_on_options(const struct graft_options *options, struct graft_error *error) {
    struct graft_text lines = {0};
    graft_text_printf(&lines, "the program\tversion %s\n", GRAFT_VERSION);
    graft_options_shared(options, &lines);
    return agree("the options", &lines, error);
}

int graft_setup_parallel(struct graft_options *options, struct graft_error *error) {
    struct graft_directories directories;
    if (options->parallel == NULL) {
        return GRAFT_OK;
    }
    int status = graft_setup_directories(&options->plugins_dirs, &directories, error);
    if (status == GRAFT_OK) {
        status = graft_parallel_start(directories.items, (int32_t)directories.n, options->parallel, error);
    }
    graft_directories_finish(&directories);
    if (status != GRAFT_OK) {
        return status;
    }
    share_threads(options, graft_parallel_get());
    status = agree_on_options(options, error);
    if (status == GRAFT_OK && graft_parallel_get()->rank > 0) {
        options->quiet = 1;
        graft_log_set_sink(NULL, NULL);
        if (freopen("/dev/null", "w", stdout) == NULL) {
            status = graft_error_set(error, GRAFT_ERROR_IO, "/dev/null", "cannot be opened");
        }
    }
    return status;
}

/* Adds a plugin by its file's hash, since builds of one version may behave differently. */
static int add_plugin(const struct graft_library *library, size_t i, struct graft_text *lines,
                      struct graft_error *error) {
    const struct graft_plugin *descriptor = graft_library_plugin(library, i)->descriptor;
    char digits[GRAFT_SHA256_LENGTH + 1];
    int status = graft_library_plugin_sha256(library, i, digits, error);
    graft_text_printf(lines, "%s\tversion %s (file %.16s)\n", descriptor->id, descriptor->version, digits);
    return status;
}

int graft_setup_agree_plugins(const struct graft_library *library, struct graft_error *error) {
    struct graft_text lines = {0};
    int status = GRAFT_OK;
    if (graft_parallel_get()->size == 1) {
        return GRAFT_OK;
    }
    for (size_t i = 0; status == GRAFT_OK && graft_library_plugin(library, i) != NULL; i++) {
        status = add_plugin(library, i, &lines, error);
    }
    if (status != GRAFT_OK) {
        graft_text_free(&lines);
        return status;
    }
    return agree("the plugins", &lines, error);
}

void graft_setup_fail_together(int status) {
    const struct graft_parallel *parallel = graft_parallel_get();
    if (parallel->size > 1) {
        (void)fflush(stdout);
        parallel->abort(status);
    }
}

/* Waits longer the higher the rank, so that a lower rank can report and end the others first; for providers without
 * claim_abort. It counts short sleeps, which take longer on a busy or suspended machine, as everything does. */
static void wait_turn(int32_t rank) {
    enum { FIRST = 75, MORE = 5, MOST_RANKS = 8 };
    const struct timespec moment = {0, 20000000L};
    int32_t moments = rank > 0 ? FIRST + MORE * (rank < MOST_RANKS ? rank : MOST_RANKS) : 0;
    for (int32_t i = 0; i < moments; i++) {
        (void)nanosleep(&moment, NULL);
    }
}

void graft_setup_claim_abort(void) {
    const struct graft_parallel *parallel = graft_parallel_get();
    if (GRAFT_HAS(parallel, struct graft_parallel, claim_abort) && parallel->claim_abort != NULL) {
        parallel->claim_abort();
    } else {
        wait_turn(parallel->rank);
    }
}
