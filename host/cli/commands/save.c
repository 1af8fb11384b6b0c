/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "graft/host/save.h"

/* Set by a signal that asks to end: what is half written has to be removed first. */
static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    stopped = number;
}

/* The bar is drawn when it has grown: on a terminal, with nothing else in between. */
enum { BAR = 40 };

struct screen {
    int bar;   /* 1: draws a bar */
    int drawn; /* of BAR, so far; -1: nothing */
    int quiet;
};

static int on_progress(void *data, int64_t done, int64_t total, struct graft_error *error) {
    struct screen *screen = data;
    int length = total > 0 ? (int)((double)done / (double)total * BAR) : BAR;
    if (stopped != 0) {
        return graft_error_set(error, GRAFT_ERROR_IO, "save", "stopped by signal %d; the partial output was removed",
                               (int)stopped);
    }
    if (screen->bar && length > screen->drawn) {
        screen->drawn = length;
        (void)fprintf(stderr, "\rsaving [%.*s%*s] %" PRId64 " of %" PRId64 " MB", length,
                      "========================================", BAR - length, "", done / 1000000, total / 1000000);
    }
    return GRAFT_OK;
}

static void end_bar(struct screen *screen) {
    if (screen->drawn >= 0) {
        (void)fputc('\n', stderr);
        screen->drawn = -1;
    }
}

static void on_note(void *data, const char *text) {
    struct screen *screen = data;
    end_bar(screen);
    if (!screen->quiet) {
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
    struct screen screen = {.bar = !options->quiet && isatty(STDERR_FILENO), .drawn = -1, .quiet = options->quiet};
    const struct graft_save_options wanted = {
        .struct_size = sizeof wanted,
        .runtime_layout = options->runtime_layout,
        .max_shard_bytes = options->max_shard_bytes,
        .on_progress = on_progress,
        .on_note = on_note,
        .data = &screen,
    };
    catch_signals();
    int status = graft_model_save(model, options->output, &wanted, error);
    end_bar(&screen);
    return status;
}
