/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a forward, over rows such as the tokens of a batch. Errors are latched in `error`: a step does nothing
 * once one is recorded, and arrays may then be NULL. So a class looks at error->code before a loop of its own, and
 * returns it at its end. All functions are [forward]; arrays that they make are in scratch memory.
 */
#ifndef GRAFT_ARCH_PASS_H
#define GRAFT_ARCH_PASS_H

#include "graft/call.h"
#include "graft/module.h"
#include "graft/tensor.h"

struct graft_pass {
    const struct graft_call *call;
    int64_t rows;
    struct graft_error *error;
};

/* Uninitialised memory, [rows, columns]. */
float *graft_pass_floats(const struct graft_pass *pass, int64_t columns);

/* A copy of the columns [first, first + columns) of x, whose rows are `stride` floats apart: [rows, columns]. */
float *graft_pass_columns(const struct graft_pass *pass, const float *x, int64_t stride, int64_t first,
                          int64_t columns);

/* The numbers of a weight as f32, [its rows, its columns]; NULL if it is NULL. */
float *graft_pass_widen(const struct graft_pass *pass, const struct graft_weight *weight);

/* y [rows, out] = linear(x [rows, in]). The second makes y, with `columns` numbers in a row. */
void graft_pass_linear(const struct graft_pass *pass, const struct graft_module *linear, const float *x, float *y);
float *graft_pass_product(const struct graft_pass *pass, const struct graft_module *linear, const float *x,
                          int64_t columns);

/* ys[i] = linears[i](x), up to GRAFT_LINEAR_ALL of them, which run together. */
void graft_pass_linears(const struct graft_pass *pass, const struct graft_module *const *linears, const float *x,
                        float *const *ys, int32_t n);

/* x += residual, unless that is NULL; then y = norm(x). */
void graft_pass_norm(const struct graft_pass *pass, const struct graft_module *norm, float *x, const float *residual,
                     float *y);

/* norm(x) in memory of its own, [rows, columns]; x itself where `norm` is NULL. */
float *graft_pass_normed(const struct graft_pass *pass, const struct graft_module *norm, float *x, int64_t columns);

/* x [rows, columns] = act(x), by a module; or by a kernel, GRAFT_ACTIVATION_.... */
void graft_pass_activate(const struct graft_pass *pass, const struct graft_module *act, float *x, int64_t columns);
void graft_pass_activation(const struct graft_pass *pass, int32_t kernel, float *x, int64_t columns);

/* gate [rows, columns] = act(gate) * x, by a kernel; or by a module. */
void graft_pass_gate(const struct graft_pass *pass, int32_t kernel, float *gate, const float *x, int64_t columns);
void graft_pass_gate_by(const struct graft_pass *pass, const struct graft_module *act, float *gate, const float *x,
                        int64_t columns);

/* sum [rows, columns] += x */
void graft_pass_add(const struct graft_pass *pass, float *sum, const float *x, int64_t columns);

/* x [rows, columns] *= factor, which changes nothing if it is 1; or numbers [rows] for the rows, or a vector [columns]
 * or [1] for all of them. */
void graft_pass_scale(const struct graft_pass *pass, float *x, int64_t columns, float factor);
void graft_pass_scale_rows(const struct graft_pass *pass, float *x, int64_t columns, const float *numbers);
void graft_pass_multiply(const struct graft_pass *pass, float *x, int64_t columns, const struct graft_weight *vector);

#endif
