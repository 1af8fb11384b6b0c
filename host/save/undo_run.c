/* SPDX-License-Identifier: Apache-2.0 */
#include "save/undo_run.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "kernels/threads.h"
#include "save/stream.h"

/* Each call undoes rows of about this many bytes. */
enum { BYTES_AT_ONCE = 1 << 20 };

struct job {
    const struct journal_use *use;
    char **outputs;    /* [use->n_outputs] the data to undo */
    char **inputs;     /* [use->n_inputs] */
    const void **from; /* [pieces, use->n_outputs] */
    void **to;         /* [pieces, use->n_inputs] */
    int64_t rows;
    int64_t at_once;
    pthread_mutex_t lock;
    int status; /* of the first piece that failed; protected by the lock */
    struct graft_error *error;
};

static int64_t bytes_of(const struct graft_value_info *info) {
    return graft_tensor_view_size(info->dtype, info->rank, info->shape);
}

/* Appends the next bytes of an output. */
static int append(void *data, const void *bytes, size_t size, struct graft_error *error) {
    char **at = data;
    (void)error;
    memcpy(*at, bytes, size);
    *at += size;
    return GRAFT_OK;
}

static void failed(struct job *job, int status, struct graft_error *failure) {
    (void)pthread_mutex_lock(&job->lock);
    if (job->status == GRAFT_OK) {
        status = graft_error_complete(failure, status, NULL, "failed with status %d and recorded no error", status);
        job->status = graft_error_set(job->error, status, job->use->name, "undoing it (plugin %s): %s",
                                      job->use->plugin, failure->message);
    }
    (void)pthread_mutex_unlock(&job->lock);
}

/* Undoes pieces [begin, end). */
static void run_pieces(void *data, int64_t begin, int64_t end) {
    struct job *job = data;
    const struct journal_use *use = job->use;
    for (int64_t piece = begin; piece < end; piece++) {
        struct graft_error error = graft_error_none();
        int64_t first = piece * job->at_once;
        int64_t last = first + job->at_once < job->rows ? first + job->at_once : job->rows;
        struct graft_custom_work work = {
            .struct_size = sizeof work,
            .n_inputs = use->n_inputs,
            .n_outputs = use->n_outputs,
            .inputs = use->inputs,
            .outputs = use->outputs,
            .from = job->from + piece * use->n_outputs,
            .to = job->to + piece * use->n_inputs,
            .begin = first,
            .end = last,
        };
        for (int32_t k = 0; k < use->n_outputs; k++) {
            job->from[piece * use->n_outputs + k] =
                job->outputs[k] + bytes_of(&use->outputs[k]) / use->outputs[k].shape[0] * first;
        }
        for (int32_t k = 0; k < use->n_inputs; k++) {
            job->to[piece * use->n_inputs + k] = job->inputs[k] + bytes_of(&use->inputs[k]) / job->rows * first;
        }
        const struct graft_plugin_call task = graft_journal_use_task(use, "reverse");
        const struct graft_crash_context before = graft_crash_context_begin(&task);
        int status = use->operation->reverse(use->operation, &work, &error);
        graft_crash_context_end(before);
        if (status != GRAFT_OK) {
            failed(job, status, &error);
        }
    }
}

static int64_t rows_at_once(const struct journal_use *use) {
    int64_t rows = use->inputs[0].shape[0], row = 1;
    if ((use->operation->flags & GRAFT_CUSTOM_ROWS) == 0) {
        return rows;
    }
    for (int32_t k = 0; k < use->n_inputs; k++) {
        row = bytes_of(&use->inputs[k]) / rows > row ? bytes_of(&use->inputs[k]) / rows : row;
    }
    return row < BYTES_AT_ONCE ? BYTES_AT_ONCE / row : 1;
}

static int run_job(struct job *job) {
    int64_t pieces = (job->rows + job->at_once - 1) / job->at_once;
    job->from = graft_alloc((size_t)(pieces * job->use->n_outputs), sizeof *job->from);
    job->to = graft_alloc((size_t)(pieces * job->use->n_inputs), sizeof *job->to);
    if (job->from == NULL || job->to == NULL) {
        job->status = graft_fail_memory(job->error, job->use->name);
    } else if (pieces == 1) {
        run_pieces(job, 0, 1); /* on this thread, so that the operation itself may use all threads */
    } else {
        graft_threads_get()->parallel_for(pieces, 1, run_pieces, job);
    }
    graft_free(job->from);
    graft_free(job->to);
    return job->status;
}

/* Gathers each output into contiguous memory, wherever the parameters have its elements. */
static int gather_outputs(struct save_made *made, char **outputs, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t k = 0; k < made->use->n_outputs && status == GRAFT_OK; k++) {
        char *at = outputs[k] = graft_alloc_aligned(64, (size_t)made->outputs[k].bytes);
        status = at != NULL ? graft_save_stream(&made->outputs[k], append, &at, error)
                            : graft_fail_memory(error, made->use->name);
    }
    return status;
}

static int make_room(struct save_made *made, char **inputs, struct graft_error *error) {
    for (int32_t k = 0; k < made->use->n_inputs; k++) {
        inputs[k] = graft_alloc_aligned(64, (size_t)made->inputs[k].bytes);
        made->inputs[k].data = inputs[k];
        if (inputs[k] == NULL) {
            return graft_fail_memory(error, made->use->name);
        }
    }
    return GRAFT_OK;
}

int graft_undo_run(struct save_made *made, struct graft_error *error) {
    const struct journal_use *use = made->use;
    struct job job = {
        .use = use,
        .outputs = graft_alloc((size_t)use->n_outputs, sizeof *job.outputs),
        .inputs = graft_alloc((size_t)use->n_inputs, sizeof *job.inputs),
        .rows = use->inputs[0].shape[0],
        .at_once = rows_at_once(use),
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .error = error,
    };
    int status = job.outputs != NULL && job.inputs != NULL ? gather_outputs(made, job.outputs, error)
                                                           : graft_fail_memory(error, use->name);
    if (status == GRAFT_OK) {
        status = make_room(made, job.inputs, error);
    }
    if (status == GRAFT_OK) {
        status = run_job(&job);
    }
    for (int32_t k = 0; job.outputs != NULL && k < use->n_outputs; k++) {
        graft_free(job.outputs[k]);
    }
    (void)pthread_mutex_destroy(&job.lock);
    graft_free(job.outputs);
    graft_free(job.inputs);
    return status;
}
