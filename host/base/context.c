/* SPDX-License-Identifier: Apache-2.0 */
#include "base/context.h"

#include <stddef.h>

#include "base/alloc.h"

static struct graft_context process = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local struct graft_context *current; /* NULL: the context of the process */

void graft_context_init(struct graft_context *context) {
    *context = (struct graft_context){0};
    (void)pthread_mutex_init(&context->lock, NULL);
}

void graft_context_finish(struct graft_context *context) {
    graft_free(context->trial_program);
    (void)pthread_mutex_destroy(&context->lock);
}

struct graft_context *graft_context_of_process(void) {
    return &process;
}

struct graft_context *graft_context_enter(struct graft_context *context) {
    struct graft_context *before = current;
    current = context;
    return before;
}

struct graft_context *graft_context(void) {
    return current;
}

int32_t graft_context_threads(void) {
    const int32_t own = current != NULL ? atomic_load(&current->threads) : 0;
    return own > 0 ? own : atomic_load(&process.threads);
}

void graft_context_set_log(struct graft_context *context, graft_log_sink sink, void *data) {
    (void)pthread_mutex_lock(&context->lock);
    context->log = sink;
    context->log_data = data;
    (void)pthread_mutex_unlock(&context->lock);
}

void graft_context_set_progress(struct graft_context *context, graft_progress_sink sink, void *data) {
    (void)pthread_mutex_lock(&context->lock);
    context->progress = sink;
    context->progress_data = data;
    (void)pthread_mutex_unlock(&context->lock);
}

/* Calls the context's sink, if it has one. Returns whether it has. */
static int log_to(struct graft_context *context, const char *sender, const char *text) {
    (void)pthread_mutex_lock(&context->lock);
    const int has_sink = context->log != NULL;
    if (has_sink) {
        context->log(context->log_data, sender, text);
    }
    (void)pthread_mutex_unlock(&context->lock);
    return has_sink;
}

void graft_context_log(const char *sender, const char *text) {
    if (current == NULL || !log_to(current, sender, text)) {
        (void)log_to(&process, sender, text);
    }
}

static int tell(struct graft_context *context, int32_t what, int64_t done, int64_t total) {
    (void)pthread_mutex_lock(&context->lock);
    const int has_sink = context->progress != NULL;
    if (has_sink) {
        context->progress(context->progress_data, what, done, total);
    }
    (void)pthread_mutex_unlock(&context->lock);
    return has_sink;
}

void graft_context_tell(int32_t what, int64_t done, int64_t total) {
    if (current == NULL || !tell(current, what, done, total)) {
        (void)tell(&process, what, done, total);
    }
}

int graft_context_set_trials(struct graft_context *context, int32_t chooses, const char *program, int32_t again) {
    char *copy = program != NULL ? graft_strdup(program) : NULL;
    if (program != NULL && copy == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    (void)pthread_mutex_lock(&context->lock);
    graft_free(context->trial_program);
    context->trial_program = copy;
    context->chooses_trials = chooses;
    context->tries_again = again != 0;
    (void)pthread_mutex_unlock(&context->lock);
    return GRAFT_OK;
}

/* Whether the context says how plugins are tried. Sets `*failed` if memory ran out. */
static int trials_of(struct graft_context *context, char **program, int *again, int *failed) {
    (void)pthread_mutex_lock(&context->lock);
    const int chooses = context == &process || context->chooses_trials;
    if (chooses) {
        *program = context->trial_program != NULL ? graft_strdup(context->trial_program) : NULL;
        *again = context->tries_again;
        *failed = context->trial_program != NULL && *program == NULL;
    }
    (void)pthread_mutex_unlock(&context->lock);
    return chooses;
}

int graft_context_trials(char **program, int *again) {
    int failed = 0;
    if (current == NULL || !trials_of(current, program, again, &failed)) {
        (void)trials_of(&process, program, again, &failed);
    }
    return failed ? GRAFT_ERROR_INTERNAL : GRAFT_OK;
}
