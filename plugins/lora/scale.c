/* SPDX-License-Identifier: Apache-2.0 */
/* LoraScale: ia3_l [out, 1], or [1, in] for inputs; with the adapter's scale s the factor is 1 + s * (l - 1). */
#include "scale.h"

#include <stdlib.h>

#include "graft/convert.h"
#include "graft/describe.h"
#include "graft/threads.h"
#include "lora.h"
#include "rows.h"
#include "stored.h"
#include "sums.h"

static const char VECTOR[] = "ia3_l";

struct scale {
    int64_t n;
    float numbers[]; /* [n] */
};

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const int64_t n = graft_args_int(args, "features", 0);
    const int64_t shape[2] = {graft_args_int(args, "of_inputs", 0) ? 1 : n,
                              graft_args_int(args, "of_inputs", 0) ? n : 1};
    (void)cls;
    (void)config;
    graft_describe_parameter(sink, VECTOR, 2, shape, 0, GRAFT_INIT_NONE, error);
    lora_describe_stored(sink, VECTOR, VECTOR, 0, error);
    return error->code;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    const struct graft_weight *l = graft_build_weight(build, VECTOR, error);
    (void)cls;
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    const double strength = graft_args_real(build->args, "factor", 1.0);
    const int64_t n = l->rows * l->columns;
    struct scale *self = malloc(sizeof *self + (size_t)n * sizeof self->numbers[0]);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->n = n;
    for (int64_t r = 0; r < l->rows; r++) {
        lora_read_row(l, r, self->numbers + r * l->columns);
    }
    for (int64_t i = 0; i < n; i++) {
        self->numbers[i] = (float)(1.0 + strength * ((double)self->numbers[i] - 1.0));
    }
    *instance = self;
    return GRAFT_OK;
}

struct work {
    const struct scale *scale;
    const struct lora_scale_args *args;
};

static void multiply(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    const struct lora_rows *rows = work->args->rows;
    for (int64_t i = begin; i < end; i++) {
        float *row = work->args->values + (rows->index != NULL ? rows->index[i] : i) * work->args->stride;
        for (int64_t k = 0; k < work->scale->n; k++) {
            row[k] *= work->scale->numbers[k];
        }
    }
}

static int forward(void *instance, const struct graft_call *call, const void *args, struct graft_error *error) {
    enum { RUN = 1 << 14 }; /* for fewer numbers another thread is not worth starting */
    struct work work = {instance, args};
    (void)error;
    call->threads->parallel_for(work.args->rows->n, 1 + RUN / (work.scale->n + 1), multiply, &work);
    return GRAFT_OK;
}

static const struct graft_vtable vtable = {.struct_size = sizeof vtable, .forward = forward};

const struct graft_class lora_scale_class = {
    .struct_size = sizeof lora_scale_class,
    .name = "LoraScale",
    .interface_id = LORA_INTERFACE_SCALE,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
};
