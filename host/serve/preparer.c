/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/preparer.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "serve/server.h"

struct graft_preparer {
    struct graft_server *server;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Under the mutex. */
    struct graft_job *first; /* submitted jobs, in order */
    struct graft_job *last;
    int is_stopping;
};

/* Waits for the next job. Returns NULL if the preparer stops and none is left. */
static struct graft_job *take(struct graft_preparer *preparer) {
    (void)pthread_mutex_lock(&preparer->mutex);
    while (preparer->first == NULL && !preparer->is_stopping) {
        (void)pthread_cond_wait(&preparer->changed, &preparer->mutex);
    }
    struct graft_job *job = preparer->first;
    if (job != NULL) {
        preparer->first = job->next;
        preparer->last = job->next != NULL ? preparer->last : NULL;
    }
    (void)pthread_mutex_unlock(&preparer->mutex);
    return job;
}

static void *work(void *data) {
    struct graft_preparer *preparer = data;
    for (struct graft_job *job = take(preparer); job != NULL; job = take(preparer)) {
        struct graft_event *event = job->read;
        if (!atomic_load(&job->is_cancelled)) {
            (void)graft_server_encode(preparer->server, &job->request, &job->read_prompts, &job->n_read_prompts,
                                      &job->fault);
        }
        job->read = NULL;
        graft_engine_post(preparer->server->engine, event);
    }
    return NULL;
}

int graft_preparer_start(struct graft_server *server, struct graft_preparer **preparer, struct graft_error *error) {
    struct graft_preparer *result = graft_alloc(1, sizeof *result);
    if (result == NULL) {
        return graft_fail_memory(error, "serve");
    }
    result->server = server;
    (void)pthread_mutex_init(&result->mutex, NULL);
    (void)pthread_cond_init(&result->changed, NULL);
    const int number = pthread_create(&result->thread, NULL, work, result);
    if (number != 0) {
        (void)pthread_cond_destroy(&result->changed);
        (void)pthread_mutex_destroy(&result->mutex);
        graft_free(result);
        return graft_fail_errno(error, GRAFT_ERROR_INTERNAL, "serve", "a thread", number);
    }
    *preparer = result;
    return GRAFT_OK;
}

void graft_preparer_stop(struct graft_preparer *preparer) {
    if (preparer == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&preparer->mutex);
    preparer->is_stopping = 1;
    (void)pthread_cond_signal(&preparer->changed);
    (void)pthread_mutex_unlock(&preparer->mutex);
    (void)pthread_join(preparer->thread, NULL);
    (void)pthread_cond_destroy(&preparer->changed);
    (void)pthread_mutex_destroy(&preparer->mutex);
    graft_free(preparer);
}

void graft_preparer_submit(struct graft_preparer *preparer, struct graft_job *job) {
    (void)pthread_mutex_lock(&preparer->mutex);
    job->next = NULL;
    if (preparer->last != NULL) {
        preparer->last->next = job;
    } else {
        preparer->first = job;
    }
    preparer->last = job;
    (void)pthread_cond_signal(&preparer->changed);
    (void)pthread_mutex_unlock(&preparer->mutex);
}
