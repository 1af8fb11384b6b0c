/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/engine.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "graft/host/encode.h"
#include "graft/host/model.h"
#include "serve/engine_parts.h"

int graft_engine_create(const struct graft_engine_options *options, struct graft_engine **engine,
                        struct graft_error *error) {
    struct graft_engine *result = graft_alloc(1, sizeof *result);
    const struct graft_sequences_options wanted = {
        .struct_size = sizeof wanted, .max_running = options->max_running, .max_cache_bytes = options->max_cache_bytes};
    if (result == NULL) {
        return graft_fail_memory(error, "serve");
    }
    result->options = *options;
    (void)pthread_mutex_init(&result->mutex, NULL);
    (void)pthread_cond_init(&result->changed, NULL);
    int status = graft_model_task(options->model) == GRAFT_TASK_CAUSAL_LM
                     ? graft_sequences_create(options->model, &wanted, &result->sequences, error)
                     : GRAFT_OK;
    if (status == GRAFT_OK) {
        status = graft_engine_check_sessions(result, error);
    }
    if (status != GRAFT_OK) {
        graft_engine_free(result);
        return status;
    }
    *engine = result;
    return GRAFT_OK;
}

void graft_engine_free(struct graft_engine *engine) {
    if (engine != NULL) {
        graft_sequences_free(engine->sequences);
        (void)pthread_cond_destroy(&engine->changed);
        (void)pthread_mutex_destroy(&engine->mutex);
        graft_free(engine);
    }
}

/* --- Calls from other threads --- */

static void wake(struct graft_engine *engine) {
    engine->is_changed = 1;
    (void)pthread_cond_signal(&engine->changed);
    (void)pthread_mutex_unlock(&engine->mutex);
}

void graft_engine_submit(struct graft_engine *engine, struct graft_job *job) {
    (void)pthread_mutex_lock(&engine->mutex);
    job->next = NULL;
    if (engine->last_submitted != NULL) {
        engine->last_submitted->next = job;
    } else {
        engine->submitted = job;
    }
    engine->last_submitted = job;
    wake(engine);
}

void graft_engine_cancel(struct graft_engine *engine, struct graft_job *job) {
    atomic_store(&job->is_cancelled, 1);
    (void)pthread_mutex_lock(&engine->mutex);
    wake(engine);
}

void graft_engine_post(struct graft_engine *engine, struct graft_event *event) {
    const uint64_t one = 1;
    (void)pthread_mutex_lock(&engine->mutex);
    const int was_empty = engine->events == NULL;
    event->next = NULL;
    if (engine->last_event != NULL) {
        engine->last_event->next = event;
    } else {
        engine->events = event;
    }
    engine->last_event = event;
    (void)pthread_mutex_unlock(&engine->mutex);
    if (was_empty) {
        ssize_t n = write(engine->options.wake, &one, sizeof one); /* fails only if the eventfd is set already */
        (void)n;
    }
}

struct graft_event *graft_engine_take_events(struct graft_engine *engine) {
    (void)pthread_mutex_lock(&engine->mutex);
    struct graft_event *events = engine->events;
    engine->events = engine->last_event = NULL;
    (void)pthread_mutex_unlock(&engine->mutex);
    return events;
}

void graft_engine_get_counts(struct graft_engine *engine, struct graft_engine_counts *counts) {
    (void)pthread_mutex_lock(&engine->mutex);
    *counts = engine->counts;
    (void)pthread_mutex_unlock(&engine->mutex);
}

/* --- The engine's thread --- */

/* Posts the last event of a job, which returns it to the loop. */
static void give_back(struct graft_engine *engine, struct graft_job *job) {
    struct graft_event *done = job->done;
    job->done = NULL;
    graft_engine_remove(engine, job);
    graft_engine_post(engine, done);
}

static void take_in(struct graft_engine *engine, struct graft_job *job) {
    const int is_cancelled = atomic_load(&job->is_cancelled);
    const int failed = is_cancelled || graft_engine_begin(engine, job) != 0;
    if (failed || job->n_running == 0) {
        give_back(engine, job);
        return;
    }
    job->next = engine->running;
    engine->running = job;
}

/* Removes jobs that are complete, failed or cancelled. */
static void drop(struct graft_engine *engine, int all) {
    struct graft_job **at = &engine->running;
    while (*at != NULL) {
        struct graft_job *job = *at;
        if (all || job->n_running == 0 || job->error.code != GRAFT_OK || atomic_load(&job->is_cancelled)) {
            *at = job->next;
            give_back(engine, job);
        } else {
            at = &job->next;
        }
    }
}

static void count(struct graft_engine *engine, size_t tokens, int is_step) {
    struct graft_sequences_counts all = {.struct_size = sizeof all};
    if (engine->sequences == NULL) {
        return;
    }
    graft_sequences_get_counts(engine->sequences, &all);
    (void)pthread_mutex_lock(&engine->mutex);
    engine->counts.forwards = all.forwards;
    engine->counts.prompt_tokens = all.prompt_tokens;
    engine->counts.shared_tokens = all.shared_tokens;
    engine->counts.cache_bytes = all.cache_bytes;
    engine->counts.new_tokens += (int64_t)tokens;
    engine->counts.steps += is_step;
    (void)pthread_mutex_unlock(&engine->mutex);
}

static void hand_out(struct graft_engine *engine, const struct graft_sequence_token *token) {
    for (struct graft_job *job = engine->running; job != NULL; job = job->next) {
        for (size_t i = 0; i < job->n_choices; i++) {
            if (job->making[i].is_running && job->making[i].number == token->sequence) {
                (void)graft_engine_take_token(engine, job, i, token);
                return;
            }
        }
    }
}

/* Handles a failed step: the job of the sequence at fault fails, or all jobs if no sequence is at fault. */
static void blame(struct graft_engine *engine, const struct graft_error *error) {
    struct graft_sequences_counts all = {.struct_size = sizeof all};
    graft_sequences_get_counts(engine->sequences, &all);
    for (struct graft_job *job = engine->running; job != NULL; job = job->next) {
        int is_it = all.failed < 0;
        for (size_t i = 0; i < job->n_choices && !is_it; i++) {
            is_it = job->making[i].is_running && job->making[i].number == all.failed;
        }
        if (is_it && job->error.code == GRAFT_OK) {
            job->error = *error;
        }
    }
}

static void step(struct graft_engine *engine) {
    const struct graft_sequence_token *tokens = NULL;
    struct graft_error error = graft_error_none();
    size_t n = 0;
    int status = graft_sequences_step(engine->sequences, &tokens, &n, &error);
    count(engine, n, 1);
    for (size_t i = 0; i < n; i++) {
        hand_out(engine, graft_struct_at(tokens, i));
    }
    if (status != GRAFT_OK) {
        blame(engine, &error);
    }
}

/* Takes the jobs submitted since the last step. If no job runs, waits for one. */
static struct graft_job *take_submitted(struct graft_engine *engine, int *is_stopping) {
    (void)pthread_mutex_lock(&engine->mutex);
    while (engine->running == NULL && !engine->is_changed) {
        (void)pthread_cond_wait(&engine->changed, &engine->mutex);
    }
    struct graft_job *jobs = engine->submitted;
    engine->submitted = engine->last_submitted = NULL;
    engine->is_changed = 0;
    *is_stopping = engine->is_stopping;
    (void)pthread_mutex_unlock(&engine->mutex);
    return jobs;
}

static int is_idle(struct graft_engine *engine) {
    (void)pthread_mutex_lock(&engine->mutex);
    const int is_changed = engine->is_changed;
    (void)pthread_mutex_unlock(&engine->mutex);
    return engine->running == NULL && !is_changed;
}

static void *work(void *data) {
    struct graft_engine *engine = data;
    int is_stopping = 0;
    while (!is_stopping) {
        if (is_idle(engine)) {
            graft_engine_save_sessions(engine);
        }
        struct graft_job *jobs = take_submitted(engine, &is_stopping);
        while (jobs != NULL) {
            struct graft_job *job = jobs;
            jobs = job->next;
            if (is_stopping) {
                give_back(engine, job);
            } else {
                take_in(engine, job);
            }
        }
        drop(engine, is_stopping);
        if (engine->running != NULL) {
            step(engine);
            drop(engine, 0);
        }
        count(engine, 0, 0);
    }
    graft_engine_save_sessions(engine);
    return NULL;
}

int graft_engine_start(struct graft_engine *engine, struct graft_error *error) {
    int number = pthread_create(&engine->thread, NULL, work, engine);
    engine->has_thread = number == 0;
    return number == 0 ? GRAFT_OK : graft_fail_errno(error, GRAFT_ERROR_INTERNAL, "serve", "a thread", number);
}

void graft_engine_stop(struct graft_engine *engine) {
    if (engine->has_thread) {
        (void)pthread_mutex_lock(&engine->mutex);
        engine->is_stopping = 1;
        wake(engine);
        (void)pthread_join(engine->thread, NULL);
        engine->has_thread = 0;
    }
}
