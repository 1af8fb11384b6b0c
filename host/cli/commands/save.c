/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>

#include "cli/commands/commands.h"
#include "cli/screen.h"
#include "graft/host/model.h"
#include "graft/host/process.h"

/* Set by SIGINT and the like: saving stops and removes what it has written. */
static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    stopped = number;
}

static int on_progress(void *data, int64_t done, int64_t total, struct graft_error *error) {
    (void)data;
    if (stopped != 0) {
        return graft_error_set(error, GRAFT_ERROR_IO, "save", "stopped by signal %d; the partial output was removed",
                               (int)stopped);
    }
    graft_screen_name("saving");
    graft_screen_count(done / 1000000, total / 1000000, "MB");
    return GRAFT_OK;
}

static void on_note(void *data, const char *text) {
    const struct graft_options *options = data;
    if (!options->quiet) {
        graft_screen_clear();
        (void)fprintf(stderr, "note: %s\n", text);
    }
}

static void catch_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND}; /* a second one ends at once */
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}

int graft_command_save(const struct graft_options *options, struct graft_model *model, struct graft_error *error) {
    const struct graft_save_options wanted = {
        .struct_size = sizeof wanted,
        .runtime_layout = options->runtime_layout,
        .max_shard_bytes = options->max_shard_bytes,
        .on_progress = on_progress,
        .on_note = on_note,
        .data = (void *)(uintptr_t)options, /* only read */
    };
    catch_signals();
    graft_screen_begin("preparing", GRAFT_PROGRESS_LOAD);
    int status = graft_model_save(model, options->output, &wanted, error);
    graft_screen_end();
    return status;
}
