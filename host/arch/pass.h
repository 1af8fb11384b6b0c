/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a forward, over rows such as the tokens of a batch. Errors are latched in `error`: a step does nothing
 * once one is recorded, and arrays may then be NULL. So a class asks graft_pass_ok before a loop of its own, and
 * returns error->code at its end. All functions are [forward]; arrays that they make are in scratch memory.
 */
#ifndef GRAFT_ARCH_PASS_H
#define GRAFT_ARCH_PASS_H

#include <string.h>

#include "graft/activation.h"
#include "graft/call.h"
#include "graft/embedding.h"
#include "graft/kernels.h"
#include "graft/linear.h"
#include "graft/norm.h"

struct graft_pass {
    const struct graft_call *call;
    int64_t rows;
    struct graft_error *error;
};

/* Whether no error has been recorded. */
static inline int graft_pass_ok(const struct graft_pass *pass) {
    return pass->error->code == GRAFT_OK;
}

/* Uninitialised memory, [rows, columns]. */
static inline float *graft_pass_floats(const struct graft_pass *pass, int64_t columns) {
    return graft_scratch_floats(pass->call, pass->rows, columns, pass->error);
}

/* A copy of the columns [first, first + columns) of x, whose rows are `stride` floats apart: [rows, columns]. */
static inline float *graft_pass_columns(const struct graft_pass *pass, const float *x, int64_t stride, int64_t first,
                                        int64_t columns) {
    float *y = graft_pass_floats(pass, columns);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows; i++) {
        memcpy(y + i * columns, x + i * stride + first, (size_t)columns * sizeof *y);
    }
    return y;
}

/* The numbers of a weight as f32, [its rows, its columns]; NULL if it is NULL. */
static inline float *graft_pass_widen(const struct graft_pass *pass, const struct graft_weight *weight) {
    return weight != NULL && graft_pass_ok(pass) ? graft_scratch_widened(pass->call, weight, pass->error) : NULL;
}

/* y [rows, out] = linear(x [rows, in]). The second makes y, with `columns` numbers in a row. */
static inline void graft_pass_linear(const struct graft_pass *pass, const struct graft_module *linear, const float *x,
                                     float *y) {
    const struct graft_linear_args args = {sizeof args, 0, pass->rows, x, y};
    if (graft_pass_ok(pass)) {
        (void)graft_linear_forward(linear, pass->call, &args, pass->error);
    }
}

static inline float *graft_pass_product(const struct graft_pass *pass, const struct graft_module *linear,
                                        const float *x, int64_t columns) {
    float *y = graft_pass_floats(pass, columns);
    graft_pass_linear(pass, linear, x, y);
    return y;
}

/* y [rows, width] = the rows `ids` [rows] of an embedding. */
static inline void graft_pass_embed(const struct graft_pass *pass, const struct graft_module *embedding,
                                    const int32_t *ids, float *y) {
    const struct graft_embedding_args args = {sizeof args, 0, pass->rows, ids, y};
    if (graft_pass_ok(pass)) {
        (void)graft_embedding_forward(embedding, pass->call, &args, pass->error);
    }
}

/* All rows of an embedding, [rows, width]. */
static inline float *graft_pass_table(const struct graft_pass *pass, const struct graft_module *embedding,
                                      int64_t width) {
    int32_t *ids = graft_scratch_ints(pass->call, pass->rows, pass->error);
    float *table = graft_pass_floats(pass, width);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows; i++) {
        ids[i] = (int32_t)i;
    }
    graft_pass_embed(pass, embedding, ids, table);
    return table;
}

/* ys[i] = linears[i](x) for up to GRAFT_LINEAR_ALL of them, which run together; those that are NULL are left out. */
static inline void graft_pass_linears(const struct graft_pass *pass, const struct graft_module *const *linears,
                                      const float *x, float *const *ys, int32_t n) {
    const struct graft_module *there[GRAFT_LINEAR_ALL];
    struct graft_linear_args args[GRAFT_LINEAR_ALL];
    int32_t n_there = 0;
    for (int32_t i = 0; i < n; i++) {
        if (linears[i] != NULL) {
            there[n_there] = linears[i];
            args[n_there++] = (struct graft_linear_args){sizeof args[0], 0, pass->rows, x, ys[i]};
        }
    }
    if (graft_pass_ok(pass)) {
        (void)graft_linear_forward_all(there, pass->call, args, n_there, pass->error);
    }
}

/* x += residual, unless that is NULL; then y = norm(x). */
static inline void graft_pass_norm(const struct graft_pass *pass, const struct graft_module *norm, float *x,
                                   const float *residual, float *y) {
    const struct graft_norm_args args = {sizeof args, 0, pass->rows, x, residual, y};
    if (graft_pass_ok(pass)) {
        (void)graft_norm_forward(norm, pass->call, &args, pass->error);
    }
}

/* norm(x) in memory of its own, [rows, columns]; x itself where `norm` is NULL. */
static inline float *graft_pass_normed(const struct graft_pass *pass, const struct graft_module *norm, float *x,
                                       int64_t columns) {
    if (norm == NULL) {
        return x;
    }
    float *y = graft_pass_floats(pass, columns);
    graft_pass_norm(pass, norm, x, NULL, y);
    return y;
}

/* x [rows, columns] = act(x), by a module; or by a kernel, GRAFT_ACTIVATION_.... */
static inline void graft_pass_activate(const struct graft_pass *pass, const struct graft_module *act, float *x,
                                       int64_t columns) {
    const struct graft_activation_args args = {sizeof args, 0, pass->rows * columns, x, x};
    if (graft_pass_ok(pass)) {
        (void)graft_activation_forward(act, pass->call, &args, pass->error);
    }
}

static inline void graft_pass_activation(const struct graft_pass *pass, int32_t kernel, float *x, int64_t columns) {
    if (graft_pass_ok(pass)) {
        (void)pass->call->kernels->activation(pass->call, kernel, x, pass->rows * columns, x, pass->error);
    }
}

/* gate [rows, columns] = act(gate) * x, by a kernel; or by a module. */
static inline void graft_pass_gate(const struct graft_pass *pass, int32_t kernel, float *gate, const float *x,
                                   int64_t columns) {
    if (graft_pass_ok(pass)) {
        (void)pass->call->kernels->gated_activation(pass->call, kernel, gate, columns, x, columns, pass->rows, columns,
                                                    pass->error);
    }
}

static inline void graft_pass_gate_by(const struct graft_pass *pass, const struct graft_module *act, float *gate,
                                      const float *x, int64_t columns) {
    if (graft_pass_ok(pass)) {
        (void)graft_activation_gate(act, pass->call, gate, x, pass->rows, columns, pass->error);
    }
}

/* sum [rows, columns] += x */
static inline void graft_pass_add(const struct graft_pass *pass, float *sum, const float *x, int64_t columns) {
    if (graft_pass_ok(pass)) {
        (void)pass->call->kernels->add(pass->call, sum, x, pass->rows * columns, pass->error);
    }
}

/* x [rows, columns] *= factor, which changes nothing if it is 1; or numbers [rows] for the rows, or a vector [columns]
 * or [1] for all of them. */
static inline void graft_pass_scale(const struct graft_pass *pass, float *x, int64_t columns, float factor) {
    for (int64_t i = 0; factor != 1.0f && graft_pass_ok(pass) && i < pass->rows * columns; i++) {
        x[i] *= factor;
    }
}

static inline void graft_pass_scale_rows(const struct graft_pass *pass, float *x, int64_t columns,
                                         const float *numbers) {
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows; i++) {
        for (int64_t c = 0; c < columns; c++) {
            x[i * columns + c] *= numbers[i];
        }
    }
}

static inline void graft_pass_multiply(const struct graft_pass *pass, float *x, int64_t columns,
                                       const struct graft_weight *vector) {
    const float *numbers = graft_pass_widen(pass, vector);
    const int is_one = vector != NULL && vector->rows * vector->columns == 1;
    for (int64_t i = 0; numbers != NULL && i < pass->rows; i++) {
        for (int64_t c = 0; c < columns; c++) {
            x[i * columns + c] *= numbers[is_one ? 0 : c];
        }
    }
}

#endif
