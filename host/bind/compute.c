/* SPDX-License-Identifier: Apache-2.0 */
#include "bind/compute.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/crash_context.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "bind/copy.h"
#include "kernels/threads.h"

struct job {
    const struct graft_computed *computed;
    int64_t rows;
    int64_t at_once;
    atomic_int status; /* status of the first piece that failed */
    pthread_mutex_t lock;
    struct graft_error *error; /* guarded by the lock */
};

/* A piece of the work, with its inputs one after another in a buffer. */
struct piece {
    char *scratch;
    const void **from;
    void **to;
};

static int64_t row_bytes(const struct graft_value_info *info) {
    return graft_tensor_view_size(info->dtype, info->rank, info->shape) / info->shape[0];
}

static int64_t padded(int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

static int piece_init(struct piece *piece, const struct graft_computed *computed, int64_t rows) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < computed->n_inputs; i++) {
        bytes += padded(row_bytes(&computed->input_infos[i]) * graft_computed_input_rows(computed, i, rows));
    }
    *piece = (struct piece){
        .scratch = graft_alloc_aligned(64, (size_t)bytes),
        .from = graft_alloc((size_t)computed->n_inputs, sizeof *piece->from),
        .to = graft_alloc((size_t)computed->n_outputs, sizeof *piece->to),
    };
    return piece->scratch != NULL && piece->from != NULL && piece->to != NULL ? 0 : -1;
}

static void piece_finish(struct piece *piece) {
    graft_free(piece->scratch);
    graft_free(piece->from);
    graft_free(piece->to);
}

static int run_piece(const struct graft_computed *computed, struct piece *piece, int64_t begin, int64_t end,
                     struct graft_error *error) {
    char *scratch = piece->scratch;
    for (int32_t i = 0; i < computed->n_inputs; i++) {
        const struct graft_value_info *info = &computed->input_infos[i];
        int64_t rows = graft_computed_input_rows(computed, i, end - begin);
        int64_t row = row_bytes(info), elements = row / graft_dtype_size(info->dtype);
        graft_copy_elements(&computed->inputs[i], info->dtype, begin * elements, (begin + rows) * elements, scratch);
        piece->from[i] = scratch;
        scratch += padded(row * rows);
    }
    for (int32_t i = 0; i < computed->n_outputs; i++) {
        piece->to[i] = (char *)(uintptr_t)computed->outputs[i].data + begin * row_bytes(&computed->output_infos[i]);
    }
    const struct graft_custom_work work = {
        .struct_size = sizeof work,
        .n_inputs = computed->n_inputs,
        .n_outputs = computed->n_outputs,
        .info_stride = sizeof *computed->input_infos,
        .inputs = computed->input_infos,
        .outputs = computed->output_infos,
        .from = piece->from,
        .to = piece->to,
        .begin = begin,
        .end = end,
    };
    const struct graft_plugin_call task = {"apply", computed->place, computed->operation->name, computed->plugin, NULL};
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int status = computed->operation->apply(computed->operation, &work, error);
    graft_crash_context_end(before);
    return status;
}

static void failed(struct job *job, int status, struct graft_error *failure) {
    (void)pthread_mutex_lock(&job->lock);
    if (atomic_load(&job->status) == GRAFT_OK) {
        const struct graft_computed *computed = job->computed;
        status = graft_error_complete(failure, status, NULL, "failed with status %d and recorded no error", status);
        (void)graft_error_set(job->error, status, computed->place, "%s of plugin %s: %s", computed->operation->name,
                              computed->plugin != NULL ? computed->plugin : "(none)", failure->message);
        atomic_store(&job->status, status);
    }
    (void)pthread_mutex_unlock(&job->lock);
}

/* Runs pieces [begin, end). */
static void run_pieces(void *data, int64_t begin, int64_t end) {
    struct job *job = data;
    struct graft_error error = graft_error_none();
    struct piece piece;
    if (piece_init(&piece, job->computed, job->at_once) != 0) {
        (void)graft_fail_memory(&error, "");
        failed(job, GRAFT_ERROR_INTERNAL, &error);
        begin = end;
    }
    for (; begin < end && atomic_load(&job->status) == GRAFT_OK; begin++) {
        int64_t first = begin * job->at_once;
        int64_t last = first + job->at_once < job->rows ? first + job->at_once : job->rows;
        int status = run_piece(job->computed, &piece, first, last, &error);
        if (status != GRAFT_OK) {
            failed(job, status, &error);
        }
    }
    piece_finish(&piece);
}

int graft_compute(const struct graft_computed *computed, struct graft_error *error) {
    struct job job = {
        .computed = computed,
        .rows = computed->input_infos[0].shape[0],
        .at_once = graft_computed_rows_at_once(computed),
        .status = GRAFT_OK,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .error = error,
    };
    int64_t pieces = (job.rows + job.at_once - 1) / job.at_once;
    if (pieces == 1) {
        run_pieces(&job, 0, 1); /* on this thread, so that the operation can use all threads itself */
    } else {
        graft_threads_get()->parallel_for(pieces, 1, run_pieces, &job);
    }
    (void)pthread_mutex_destroy(&job.lock);
    return atomic_load(&job.status);
}
