/* SPDX-License-Identifier: Apache-2.0 */
#include "made.h"

#include <stdio.h>

#include "stored.h"

const char *const lora_method_types[LORA_METHODS] = {"LORA", "LOHA", "LOKR", "VERA"};

/* --- Operations, on f32 --- */

enum {
    BY_ROWS,    /* [rows, a], [rows, b] -> [rows, a * b]: in each row the products of all pairs of numbers */
    BY_COLUMNS, /* [a, columns], [b, columns] -> [a * b, columns]: the same in each column */
    KRONECKER, /* [a, b], [c, d] -> [a * c, b * d]; with a single input, the other one is a unit matrix of `size`, after
                  or before it */
    SCALED_A,  /* [rank, ..], [rank] -> [rank, size]: the first columns, each row multiplied by its number */
    SCALED_B   /* [.., rank], [rows] -> [rows, rank]: the first rows, each multiplied by its number */
};

struct making {
    struct graft_custom_operation operation; /* its `data` points to this struct */
    int32_t kind;
    int32_t unit_first; /* KRONECKER with a single input: the unit matrix is the first factor */
    int64_t size;
};

static const struct graft_value_info *input_of(const struct graft_value_info *inputs, uint32_t stride, int32_t i) {
    return graft_value_info_at(inputs, stride, i);
}

/* Finds the shape of the result; returns 0 if the inputs do not fit. */
static int find_shape(const struct making *making, const struct graft_value_info *a, const struct graft_value_info *b,
                      int64_t shape[2]) {
    const int64_t size = making->size;
    if (a->rank != 2 || (b != NULL && b->rank != (making->kind >= SCALED_A ? 1 : 2))) {
        return 0;
    }
    switch (making->kind) {
    case BY_ROWS:
        shape[0] = a->shape[0];
        shape[1] = a->shape[1] * b->shape[1];
        return a->shape[0] == b->shape[0];
    case BY_COLUMNS:
        shape[0] = a->shape[0] * b->shape[0];
        shape[1] = a->shape[1];
        return a->shape[1] == b->shape[1];
    case KRONECKER:
        shape[0] = a->shape[0] * (b != NULL ? b->shape[0] : size);
        shape[1] = a->shape[1] * (b != NULL ? b->shape[1] : size);
        return 1;
    case SCALED_A:
        shape[0] = a->shape[0];
        shape[1] = size;
        return a->shape[0] == b->shape[0] && a->shape[1] >= size;
    default:
        shape[0] = b->shape[0];
        shape[1] = a->shape[1];
        return a->shape[0] >= b->shape[0];
    }
}

static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    const struct making *making = self->data;
    const struct graft_value_info *a = input_of(shapes->inputs, shapes->info_stride, 0);
    const struct graft_value_info *b = shapes->n_inputs > 1 ? input_of(shapes->inputs, shapes->info_stride, 1) : NULL;
    struct graft_value_info *output = graft_custom_output(shapes, 0);
    if (!find_shape(making, a, b, output->shape)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, self->name, "the shapes of its tensors do not fit");
    }
    output->dtype = GRAFT_DTYPE_F32;
    output->rank = 2;
    for (int i = 2; i < GRAFT_MAX_RANK; i++) {
        output->shape[i] = 1;
    }
    return GRAFT_OK;
}

/* Computes element [row, column] of the result. */
static float number(const struct making *making, const struct graft_custom_work *work, int64_t row, int64_t column) {
    const struct graft_value_info *a = input_of(work->inputs, work->info_stride, 0);
    const float *x = work->from[0], *y = work->n_inputs > 1 ? work->from[1] : NULL;
    const int64_t columns = a->shape[1];
    const struct graft_value_info *b = y != NULL ? input_of(work->inputs, work->info_stride, 1) : NULL;
    switch (making->kind) {
    case BY_ROWS:
        return x[row * columns + column / b->shape[1]] * y[row * b->shape[1] + column % b->shape[1]];
    case BY_COLUMNS:
        return x[row / b->shape[0] * columns + column] * y[row % b->shape[0] * columns + column];
    case KRONECKER:
        if (y != NULL) {
            return x[row / b->shape[0] * columns + column / b->shape[1]] *
                   y[row % b->shape[0] * b->shape[1] + column % b->shape[1]];
        }
        if (making->unit_first) {
            return row / a->shape[0] == column / columns ? x[row % a->shape[0] * columns + column % columns] : 0.0F;
        }
        return row % making->size == column % making->size ? x[row / making->size * columns + column / making->size]
                                                           : 0.0F;
    default:
        return x[row * columns + column] * y[row];
    }
}

static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    const int64_t *shape = graft_value_info_at(work->outputs, work->info_stride, 0)->shape;
    float *to = work->to[0];
    (void)error;
    for (int64_t row = 0; row < shape[0]; row++) {
        for (int64_t column = 0; column < shape[1]; column++) {
            to[row * shape[1] + column] = number(self->data, work, row, column);
        }
    }
    return GRAFT_OK;
}

/* --- An adapter's tensors --- */

enum { MAX_NAME = 640 };

/* Whether the adapter has a tensor, and its shape, of one or two dimensions. */
static int has(const struct graft_sink *sink, const char *child, const char *tensor, int64_t shape[2]) {
    struct graft_value_info info = {.struct_size = sizeof info};
    char name[MAX_NAME];
    (void)snprintf(name, sizeof name, "%.511s.%s", child, tensor);
    const int found = sink->adapter_tensor(sink->data, name, &info) && info.rank >= 1 && info.rank <= 2;
    shape[0] = found ? info.shape[0] : 0;
    shape[1] = found && info.rank == 2 ? info.shape[1] : 0;
    return found;
}

static const char *find_loha(const struct graft_sink *sink, const char *child, struct lora_made *made) {
    int64_t first[2], second[2];
    if (!has(sink, child, "hada_w1_a", first)) {
        return NULL;
    }
    (void)has(sink, child, "hada_w2_a", second);
    made->method = LORA_METHOD_LOHA;
    made->stored_rank = first[1];
    made->rank = first[1] * second[1];
    return "hada_w1_a";
}

static const char *find_lokr(const struct graft_sink *sink, const char *child, struct lora_made *made) {
    int64_t w1[2], w1_b[2], w2[2], w2_b[2];
    const int is_whole = has(sink, child, "lokr_w1", w1);
    if (!is_whole && !has(sink, child, "lokr_w1_b", w1_b)) {
        return NULL;
    }
    made->method = LORA_METHOD_LOKR;
    made->unit[0] = is_whole ? w1[1] : 0;
    made->unit[1] = has(sink, child, "lokr_w2", w2) ? w2[0] : 0;
    (void)has(sink, child, "lokr_w2_b", w2_b);
    made->stored_rank = !is_whole ? w1_b[0] : w2_b[0];
    made->rank = (is_whole ? w1[1] : w1_b[0]) * (made->unit[1] > 0 ? w2[0] : w2_b[0]);
    return is_whole ? "lokr_w1" : "lokr_w1_b";
}

static const char *find_vera(const struct graft_sink *sink, const char *child, struct lora_made *made) {
    int64_t lambda[2];
    if (!has(sink, child, "vera_lambda_d", lambda)) {
        return NULL;
    }
    made->method = LORA_METHOD_VERA;
    made->rank = made->stored_rank = lambda[0];
    return "vera_lambda_d";
}

const char *lora_made_find(const struct graft_sink *sink, const char *child, struct lora_made *made) {
    *made = (struct lora_made){.method = LORA_METHOD_LORA};
    const char *tensor = find_loha(sink, child, made);
    tensor = tensor != NULL ? tensor : find_lokr(sink, child, made);
    return tensor != NULL ? tensor : find_vera(sink, child, made);
}

/* --- Conversions --- */

static int describe_one(const struct graft_sink *sink, struct making *making, const char *const *sources,
                        int32_t n_sources, const char *target, struct graft_error *error) {
    making->operation = (struct graft_custom_operation){.struct_size = sizeof making->operation,
                                                        .flags = GRAFT_CUSTOM_SEES_F32,
                                                        .name = "low_rank",
                                                        .data = making,
                                                        .infer = infer,
                                                        .apply = apply};
    return lora_describe_operation(sink, sources, n_sources, target, &making->operation, error);
}

int lora_describe_made(const struct graft_sink *sink, const struct lora_made *made, int64_t in_features,
                       struct graft_error *error) {
    static const char *const loha_a[] = {"hada_w1_b", "hada_w2_b"}, *const loha_b[] = {"hada_w1_a", "hada_w2_a"};
    static const char *const vera_a[] = {"vera_A", "vera_lambda_d"}, *const vera_b[] = {"vera_B", "vera_lambda_b"};
    const int whole_1 = made->unit[0] > 0, whole_2 = made->unit[1] > 0;
    const char *const lokr_a[] = {"lokr_w1_b", whole_2 ? "lokr_w2" : "lokr_w2_b"};
    const char *const lokr_b[] = {whole_1 ? "lokr_w1" : "lokr_w1_a", "lokr_w2_a"};
    struct making *makings = sink->keep(sink->data, 2 * (int64_t)sizeof *makings, error); /* for lora_A and lora_B */
    if (makings == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const char *const *a = loha_a, *const *b = loha_b;
    int32_t n_a = 2, n_b = 2;
    makings[0] = (struct making){.kind = BY_COLUMNS};
    makings[1] = (struct making){.kind = BY_ROWS};
    if (made->method == LORA_METHOD_VERA) {
        makings[0] = (struct making){.kind = SCALED_A, .size = in_features};
        makings[1] = (struct making){.kind = SCALED_B};
        a = vera_a;
        b = vera_b;
    } else if (made->method == LORA_METHOD_LOKR) {
        makings[0] = (struct making){.kind = KRONECKER, .unit_first = 1, .size = made->unit[0]};
        makings[1] = (struct making){.kind = KRONECKER, .size = made->unit[1]};
        a = whole_1 ? lokr_a + 1 : lokr_a;
        b = lokr_b;
        n_a = whole_1 ? 1 : 2;
        n_b = whole_2 ? 1 : 2;
    }
    describe_one(sink, &makings[0], a, n_a, "lora_A.weight", error);
    describe_one(sink, &makings[1], b, n_b, "lora_B.weight", error);
    return error->code;
}
