/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2, environ */

#include "plugin/trials.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/file.h"
#include "base/text.h"
#include "plugin/trial_memory.h"

/* A file with its verdict, from now or from before. */
struct tried {
    const char *file; /* owned by the caller */
    struct graft_trial trial;
};

struct graft_trials {
    struct tried *items;
    size_t n;
};

int graft_trials_set_program(const char *program, int32_t again) {
    return graft_context_set_trials(graft_context_of_process(), 1, program, again);
}

/* --- The program --- */

/* The file as an argument. "./" is added to a name that begins with a dash, which would be an option. */
static char *as_argument(const char *file) {
    return file[0] == '-' ? graft_path_join(".", file) : graft_strdup(file);
}

static void free_arguments(char **arguments, size_t n) {
    for (size_t i = 0; arguments != NULL && i < n; i++) {
        graft_free(arguments[i]);
    }
    graft_free(arguments);
}

/* Makes "PROGRAM try FILE..." for the files that `wanted` lists; NULL if memory ran out. */
static char **make_arguments(const char *name, const struct tried *tried, const size_t *wanted, size_t n) {
    char **arguments = graft_alloc(n + 3, sizeof *arguments);
    int failed = arguments == NULL || (arguments[0] = graft_strdup(name)) == NULL ||
                 (arguments[1] = graft_strdup("try")) == NULL;
    for (size_t i = 0; i < n && !failed; i++) {
        failed = (arguments[i + 2] = as_argument(tried[wanted[i]].file)) == NULL;
    }
    if (failed) {
        free_arguments(arguments, n + 2);
        return NULL;
    }
    return arguments;
}

/* Starts the program, which inherits nothing but the pipe it writes to. Returns 0 or an errno. */
static int start(char *const *arguments, int to, pid_t *child) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int failed = posix_spawn_file_actions_init(&files);
    if (failed != 0) {
        return failed;
    }
    failed = posix_spawnattr_init(&attributes);
    if (failed == 0) {
        failed = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) |
                 posix_spawnattr_setsigmask(&attributes, &none) | posix_spawnattr_setsigdefault(&attributes, &all) |
                 posix_spawn_file_actions_adddup2(&files, to, STDOUT_FILENO) |
                 posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) |
                 posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        failed = failed != 0 ? ENOMEM : posix_spawn(child, arguments[0], &files, &attributes, arguments, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return failed;
}

static void read_all(int from, struct graft_text *answer) {
    char bytes[4096];
    for (;;) {
        ssize_t got = read(from, bytes, sizeof bytes);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return;
        }
        graft_text_add(answer, bytes, got > 0 ? (size_t)got : 0);
    }
}

/* Runs the program and collects its output. Returns 0 or an errno. */
static int ask(char *const *arguments, struct graft_text *answer) {
    int ends[2];
    pid_t child;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return errno;
    }
    int failed = start(arguments, ends[1], &child);
    (void)close(ends[1]);
    if (failed == 0) {
        read_all(ends[0], answer);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    (void)close(ends[0]);
    return failed;
}

/* --- The output of the program: a line for each file, such as "safe FILE" or "refused FILE: CAUSE" --- */

static int read_line(const char *line, const char *file, struct graft_trial *trial) {
    static const char *const words[] = {"safe ", "refused ", "unopened ", "untried "}; /* indexed by GRAFT_TRIAL_... */
    char *shown = graft_strdup(file);
    int known = 0;
    if (shown == NULL) {
        return 0;
    }
    graft_error_clean(shown);
    size_t name = strlen(shown);
    for (int32_t i = 0; i <= GRAFT_TRIAL_UNTRIED && !known; i++) {
        size_t word = strlen(words[i]);
        if (strncmp(line, words[i], word) == 0 && strncmp(line + word, shown, name) == 0) {
            const char *cause = line + word + name;
            size_t length = strcspn(cause, "\n");
            *trial = (struct graft_trial){.verdict = i};
            if (length > 2 && i != GRAFT_TRIAL_SAFE) {
                (void)snprintf(trial->cause, sizeof trial->cause, "%.*s", (int)length - 2, cause + 2);
            }
            known = 1;
        }
    }
    graft_free(shown);
    return known;
}

static int no_answer(const char *name, const char *file, const char *why, struct graft_error *error) {
    int status =
        graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "cannot be tried before it is opened: %s: %s", name, why);
    graft_error_hint(error, "plugins are tried by running that program");
    return status;
}

static int read_answer(char *const *arguments, const struct graft_text *answer, struct tried *tried,
                       const size_t *wanted, size_t n, struct graft_error *error) {
    const char *line = answer->bytes != NULL ? answer->bytes : "";
    struct graft_trial_memory memory;
    int status = GRAFT_OK;
    graft_trial_memory_open(&memory);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        struct tried *one = &tried[wanted[i]];
        if (read_line(line, arguments[i + 2], &one->trial)) {
            graft_trial_remember(&memory, one->file, &one->trial);
        } else {
            status = no_answer(arguments[0], one->file, "it gave no answer", error);
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    graft_trial_memory_finish(&memory);
    return status;
}

/* Tries the files that `wanted` lists. */
static int try_all(const char *name, struct tried *tried, const size_t *wanted, size_t n, struct graft_error *error) {
    struct graft_text answer = {0};
    char **arguments = make_arguments(name, tried, wanted, n);
    if (arguments == NULL) {
        return graft_fail_memory(error, "plugins");
    }
    int failed = ask(arguments, &answer);
    int status = failed != 0     ? no_answer(name, tried[wanted[0]].file, strerror(failed), error)
                 : answer.failed ? graft_fail_memory(error, "plugins")
                                 : read_answer(arguments, &answer, tried, wanted, n, error);
    graft_text_free(&answer);
    free_arguments(arguments, n + 2);
    return status;
}

/* --- All trials of a load --- */

/* Lists the files without a remembered verdict. */
static size_t list_unknown(struct graft_trials *trials, int again, size_t *wanted) {
    struct graft_trial_memory memory;
    size_t n = 0;
    graft_trial_memory_open(&memory);
    for (size_t i = 0; i < trials->n; i++) {
        if (again || !graft_trial_recall(&memory, trials->items[i].file, &trials->items[i].trial)) {
            wanted[n++] = i;
        }
    }
    graft_trial_memory_finish(&memory);
    return n;
}

static int make(const char *name, int again, const char *const *files, size_t n, struct graft_trials *made,
                struct graft_error *error) {
    size_t *wanted = graft_alloc(n, sizeof *wanted);
    made->items = graft_alloc(n, sizeof *made->items);
    if (made->items == NULL || wanted == NULL) {
        graft_free(wanted);
        return graft_fail_memory(error, "plugins");
    }
    for (size_t i = 0; i < n; i++) {
        if (graft_ends_with(files[i], ".so")) {
            made->items[made->n++].file = files[i];
        }
    }
    size_t n_wanted = list_unknown(made, again, wanted);
    int status = n_wanted > 0 ? try_all(name, made->items, wanted, n_wanted, error) : GRAFT_OK;
    graft_free(wanted);
    return status;
}

int graft_trials_make(const char *const *files, size_t n, struct graft_trials **trials, struct graft_error *error) {
    char *name = NULL;
    int again = 0;
    *trials = NULL;
    if (graft_context_trials(&name, &again) != GRAFT_OK) {
        return graft_fail_memory(error, "plugins");
    }
    if (name == NULL) {
        return GRAFT_OK;
    }
    struct graft_trials *made = graft_alloc(1, sizeof *made);
    int status = made != NULL ? make(name, again, files, n, made, error) : graft_fail_memory(error, "plugins");
    if (status == GRAFT_OK) {
        *trials = made;
    } else {
        graft_trials_free(made);
    }
    graft_free(name);
    return status;
}

int graft_trials_check(const struct graft_trials *trials, const char *file, struct graft_error *error) {
    for (size_t i = 0; trials != NULL && i < trials->n; i++) {
        const struct tried *tried = &trials->items[i];
        const int is_untried = tried->trial.verdict == GRAFT_TRIAL_UNTRIED;
        if ((is_untried || tried->trial.verdict == GRAFT_TRIAL_REFUSED) && strcmp(tried->file, file) == 0) {
            int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, file,
                                         is_untried ? "not opened: it could not be tried in a process of its own: %s"
                                                    : "not opened: when it was tried in a process of its own, it %s",
                                         tried->trial.cause);
            graft_error_hint(error, "%s",
                             is_untried ? "that is not the plugin's fault: it is tried again the next time"
                                        : "it is not tried again until its file changes");
            return status;
        }
    }
    return GRAFT_OK;
}

void graft_trials_free(struct graft_trials *trials) {
    if (trials != NULL) {
        graft_free(trials->items);
        graft_free(trials);
    }
}
