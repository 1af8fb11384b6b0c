/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* sigaltstack */
/* Writes the last line of a process that crashes, or that a plugin ends. Most of this runs in a signal handler: no
 * locks, no allocation, no stdio. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crash_context.h"
#include "base/mapped_file.h"
#include "graft/error.h"
#include "graft/host/process.h"
#include "plugin/plugin_ref.h"

enum { LINE = 1024, STACK = 64 * 1024 };

static const struct watched {
    int number;
    const char *name;
} signals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"},
};

enum { SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction earlier[SIGNALS];
static atomic_int stage; /* 1: a thread has crashed and is writing the line; 2: the line is written; else 0 */
static const char *program_name;

struct line {
    char text[LINE];
    size_t length;
};

/* Appends text, as far as there is room before the line's end. */
static void add(struct line *line, const char *text) {
    for (; *text != '\0' && line->length < LINE - 1; text++) {
        line->text[line->length++] = *text;
    }
}

/* "forward of model.layers.0.mlp (MyMLP of plugin mine, plugins/mine.so)" */
static void add_subject(struct line *line, const char *path, const char *class_name, const char *plugin,
                        const char *file) {
    if (path != NULL) {
        add(line, " of ");
        add(line, path[0] != '\0' ? path : "the model");
    }
    if (class_name == NULL && plugin == NULL && file == NULL) {
        return;
    }
    file = file == NULL && plugin != NULL ? graft_plugin_ref_file(plugin) : file;
    add(line, " (");
    add(line, class_name != NULL ? class_name : "");
    add(line, class_name != NULL && plugin != NULL ? " of " : "");
    add(line, plugin != NULL ? "plugin " : "");
    add(line, plugin != NULL ? plugin : "");
    add(line, file != NULL && (class_name != NULL || plugin != NULL) ? ", " : "");
    add(line, file != NULL ? file : "");
    add(line, ")");
}

/* A plugin's text, or NULL if it is in the file that was truncated: reading it would crash again. */
static const char *readable(const char *text, const char *gone_file) {
    char file[LINE / 2];
    return text != NULL && gone_file != NULL && graft_mapped_file(text, file, sizeof file) &&
                   strcmp(file, gone_file) == 0
               ? NULL
               : text;
}

/* Writes "PROGRAM: SIGSEGV in forward of ...", with what this thread was running. `gone` is the address of a page that
 * a mapped file no longer has; or NULL. */
static void report(const char *what, const void *gone) {
    const struct graft_crash_context *now = graft_crash_context();
    char bytes[LINE / 2];
    const char *file = gone != NULL && graft_mapped_file(gone, bytes, sizeof bytes) ? bytes : NULL;
    struct line line = {.length = 0};
    add(&line, program_name);
    add(&line, ": ");
    add(&line, what);
    if (now->module != NULL) {
        add(&line, " in forward");
        add_subject(&line, now->module->path, readable(now->module->class_name, file),
                    readable(now->module->plugin, file), NULL);
    } else if (now->task != NULL) {
        add(&line, " in ");
        add(&line, now->task->what);
        add_subject(&line, now->task->path, readable(now->task->class_name, file), readable(now->task->plugin, file),
                    now->task->file);
    } else {
        add(&line, " in the host itself, outside all plugins and modules");
    }
    if (file != NULL) {
        add(&line, ": ");
        add(&line, file);
        add(&line, " was overwritten or cut while it was in use");
    }
    line.text[line.length] = '\0';
    graft_error_clean(line.text); /* names of plugins and files are untrusted */
    line.text[line.length++] = '\n';
    (void)!write(STDERR_FILENO, line.text, line.length);
}

/* Reports the first thread that crashes. Other threads, which often crash in the same function at the same time, wait:
 * they would end the process before the line is written. */
static void report_once(const char *signal_name, const void *gone) {
    int nobody = 0;
    if (atomic_compare_exchange_strong(&stage, &nobody, 1)) {
        report(signal_name, gone);
        atomic_store(&stage, 2);
    }
    while (atomic_load(&stage) == 1) {
        (void)poll(NULL, 0, 1);
    }
}

/* A fault of the processor occurs again when the handler returns, and then has its default effect. A signal that was
 * sent has to be sent again, and so has an abort, for handlers that wait for it after a longjmp. */
static void on_signal(int number, siginfo_t *info, void *context) {
    int saved = errno;
    (void)context;
    for (size_t i = 0; i < SIGNALS; i++) {
        if (signals[i].number == number) {
            report_once(signals[i].name, number == SIGBUS && info->si_code > 0 ? info->si_addr : NULL);
            (void)sigaction(number, &earlier[i], NULL);
        }
    }
    if (info->si_code <= 0) {
        (void)raise(number);
    }
    errno = saved;
}

void graft_watch_crashes(const char *program) {
    static char stack[STACK]; /* used by the calling thread, whose own stack may have overflowed */
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++) {
        (void)sigaddset(&action.sa_mask,
                        signals[i].number); /* a crash of the handler itself ends the process at once */
    }
    program_name = program;
    atomic_store(&stage, 0);
    (void)sigaltstack(&other, NULL);
    for (size_t i = 0; i < SIGNALS; i++) {
        (void)sigaction(signals[i].number, &action, &earlier[i]);
    }
}

static atomic_int exit_is_expected;

static void on_exit_unexpected(void) {
    if (!atomic_load(&exit_is_expected)) {
        report("exit() was called", NULL);
        _exit(GRAFT_ERROR_PLUGIN);
    }
}

int graft_watch_exit(const char *program) {
    program_name = program;
    return atexit(on_exit_unexpected) == 0 ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

void graft_expect_exit(void) {
    atomic_store(&exit_is_expected, 1);
}
