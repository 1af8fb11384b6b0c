/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include "graft/kernels.h"
#include "graft/threads.h"

int lora_chooses_rows(const struct graft_call *call) {
    return call->row_adapters != NULL;
}

int lora_rows_of(const struct graft_call *call, int64_t rows, int32_t adapter, struct lora_rows *found,
                 struct graft_error *error) {
    const struct graft_row_adapters *chosen = call->row_adapters;
    int32_t of_all = chosen != NULL && chosen->adapters == NULL ? chosen->adapter : GRAFT_ADAPTER_ALL;
    *found = (struct lora_rows){of_all == GRAFT_ADAPTER_ALL || of_all == adapter ? rows : 0, NULL};
    if (chosen == NULL || chosen->adapters == NULL) {
        return GRAFT_OK;
    }
    if (chosen->rows != rows) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, "",
                               "given %lld rows and adapters of %lld: a class above it takes rows out without "
                               "graft_call_gather or graft_call_route",
                               (long long)rows, (long long)chosen->rows);
    }
    *found = (struct lora_rows){0, graft_scratch_ints(call, rows, error)};
    if (found->index == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < rows; i++) {
        if (chosen->adapters[i] == adapter || chosen->adapters[i] == GRAFT_ADAPTER_ALL) {
            found->index[found->n++] = (int32_t)i;
        }
    }
    found->index = found->n < rows ? found->index : NULL;
    return GRAFT_OK;
}

struct put {
    const struct lora_rows *rows;
    const float *from;
    int64_t width;
    int64_t stride;
    int adds;
    float *to;
};

static void put_rows(void *data, int64_t begin, int64_t end) {
    const struct put *put = data;
    for (int64_t i = begin; i < end; i++) {
        const float *from = put->from + i * put->width;
        float *to = put->to + (put->rows->index != NULL ? put->rows->index[i] : i) * put->stride;
        for (int64_t k = 0; k < put->width; k++) {
            to[k] = put->adds ? to[k] + from[k] : from[k];
        }
    }
}

void lora_rows_put(const struct lora_rows *rows, const struct graft_call *call, const float *from, int64_t width,
                   int64_t stride, int adds, float *to) {
    enum { RUN = 1 << 14 }; /* for fewer numbers another thread is not worth starting */
    struct put put = {rows, from, width, stride, adds, to};
    call->threads->parallel_for(rows->n, 1 + RUN / (width + 1), put_rows, &put);
}

int lora_rows_run(const struct lora_rows *rows, const struct graft_call *call, const struct graft_module *linear,
                  const struct graft_linear_args *args, const struct lora_sizes *sizes, int adds,
                  struct graft_error *error) {
    float *x = rows->index != NULL ? graft_scratch_floats(call, rows->n, sizes->in, error) : NULL;
    float *y = graft_scratch_floats(call, rows->n, sizes->out, error);
    int status = y != NULL && (x != NULL || rows->index == NULL) ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && x != NULL) {
        status = call->kernels->gather_rows(call, args->x, rows->index, rows->n, sizes->in, x, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_linear_args own = {
            .struct_size = sizeof own, .tokens = rows->n, .x = x != NULL ? x : args->x, .y = y};
        status = graft_linear_forward(linear, call, &own, error);
    }
    if (status == GRAFT_OK) {
        lora_rows_put(rows, call, y, sizes->out, sizes->stride, adds, args->y);
    }
    return status;
}
