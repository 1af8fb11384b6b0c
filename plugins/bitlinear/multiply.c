/* SPDX-License-Identifier: Apache-2.0 */
/* y = W x: rounds inputs to integers, multiplies, then applies the scales. The same way for any number of tokens. */
#include <math.h>
#include <string.h>

#include "graft/norm.h"
#include "linear.h"

/* Rows of codes that one thread processes together, and bytes of codes below which another thread does not pay. */
enum { PANEL = 16, GRAIN = 1 << 16 };

/* What is kept of a token, besides its rounded inputs. */
struct token {
    float factor; /* number by which its inputs were multiplied; NaN: an input is infinite or NaN */
    int32_t sum;  /* sum of its integers; subtracted, as each code is its weight plus 1 */
};

/* Arguments of the parallel loops' bodies. */
struct work {
    const struct bitlinear *self;
    const float *x;     /* [tokens, in_features] */
    const float *bias;  /* [out_features]; NULL: no bias */
    float *y;           /* [tokens, out_features] */
    int8_t *integers;   /* [tokens, stride] */
    struct token *each; /* [tokens] */
    int64_t tokens;
    int64_t stride;
};

/* Rounds as transformers does: the largest input becomes 127, unless all inputs are tiny. */
static void round_token(const struct work *work, int64_t t) {
    const struct bitlinear *self = work->self;
    const int64_t n = self->in_features;
    const float *x = work->x + t * n;
    const float largest = self->loops->largest(x, n), least = 1e-5F;
    const float factor = 127.0F / (largest < least ? least : largest);
    int8_t *integers = work->integers + t * work->stride;
    memset(integers + n, 0, (size_t)(work->stride - n));
    if (isfinite(largest)) {
        work->each[t] = (struct token){factor, self->loops->round(x, n, factor, integers)};
    } else {
        memset(integers, 0, (size_t)n);
        work->each[t] = (struct token){NAN, 0};
    }
}

/* A parallel body: rounds tokens [begin, end). */
static void round_tokens(void *data, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; t++) {
        round_token(data, t);
    }
}

static void add_bias(const float *bias, int64_t n, float *y) {
    for (int64_t i = 0; i < n; i++) {
        y[i] += bias[i];
    }
}

/* Computes y [n] for adjacent outputs; `bias` is that of these outputs, or NULL. */
static void scale(const struct bitlinear *self, const struct token *token, const int32_t *sums, int64_t n,
                  const float *bias, float *y) {
    const float both = self->weight_scale * token->factor;
    for (int64_t i = 0; i < n; i++) {
        const float sum = (float)(sums[i] - token->sum);
        y[i] = self->kind == BITLINEAR_DIVIDES ? sum / both : sum / token->factor;
    }
    if (bias != NULL && self->kind == BITLINEAR_MULTIPLIES) {
        add_bias(bias, n, y);
    }
    for (int64_t i = 0; i < n && self->kind != BITLINEAR_DIVIDES; i++) {
        y[i] *= self->weight_scale;
    }
    if (bias != NULL && self->kind != BITLINEAR_MULTIPLIES) {
        add_bias(bias, n, y);
    }
}

/* Multiplies rows [first, first + rows) of codes by tokens [t, t + n). */
static void multiply_block(const struct work *work, int64_t first, int64_t rows, int64_t t, int64_t n) {
    const struct bitlinear *self = work->self;
    const struct bitlinear_inputs inputs = {work->integers + t * work->stride, work->stride, self->in_features};
    int32_t sums[BITLINEAR_TOKENS * BITLINEAR_PARTS * PANEL];
    self->loops->multiply(self->codes + first * self->in_features, rows, &inputs, n, sums);
    for (int64_t i = 0; i < n * BITLINEAR_PARTS; i++) {
        const int64_t at = i / BITLINEAR_PARTS, output = i % BITLINEAR_PARTS * self->rows + first;
        scale(self, &work->each[t + at], sums + i * rows, rows, work->bias != NULL ? work->bias + output : NULL,
              work->y + (t + at) * self->rows * BITLINEAR_PARTS + output);
    }
}

/* A parallel body: multiplies panels [begin, end) by all tokens. */
static void multiply_panels(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (int64_t first = begin * PANEL; first < end * PANEL && first < work->self->rows; first += PANEL) {
        const int64_t left = work->self->rows - first, rows = left < PANEL ? left : PANEL;
        for (int64_t t = 0; t < work->tokens; t += BITLINEAR_TOKENS) {
            const int64_t n = work->tokens - t;
            multiply_block(work, first, rows, t, n < BITLINEAR_TOKENS ? n : BITLINEAR_TOKENS);
        }
    }
}

/* Returns the inputs, after the norm if there is one. */
static int find_inputs(const struct bitlinear *self, const struct graft_call *call,
                       const struct graft_linear_args *args, const float **x, struct graft_error *error) {
    *x = args->x;
    if (self->rms_norm == NULL) {
        return GRAFT_OK;
    }
    float *normed = graft_scratch_floats(call, args->tokens, self->in_features, error);
    /* Without a residual the norm does not write to its input, so the cast is safe. */
    const struct graft_norm_args norm_args = {
        sizeof norm_args, 0, args->tokens, (float *)(uintptr_t)args->x, NULL, normed};
    *x = normed;
    return normed != NULL ? graft_norm_forward(self->rms_norm, call, &norm_args, error) : GRAFT_ERROR_INTERNAL;
}

static int make_work(const struct bitlinear *self, const struct graft_call *call, const struct graft_linear_args *args,
                     struct work **made, struct graft_error *error) {
    struct work *work = graft_scratch_zeroed(call, (int64_t)sizeof *work, error);
    if (work == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *made = work;
    work->self = self;
    work->y = args->y;
    work->tokens = args->tokens;
    work->stride = (self->in_features + BITLINEAR_LINE - 1) / BITLINEAR_LINE * BITLINEAR_LINE;
    work->integers = (int8_t *)graft_scratch_floats(call, work->tokens, work->stride / (int64_t)sizeof(float), error);
    work->each = (struct token *)graft_scratch_floats(call, work->tokens, sizeof *work->each / sizeof(float), error);
    work->bias = self->bias != NULL ? graft_scratch_widened(call, self->bias, error) : NULL;
    return work->integers != NULL && work->each != NULL && (self->bias == NULL || work->bias != NULL)
               ? GRAFT_OK
               : GRAFT_ERROR_INTERNAL;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct bitlinear *self = instance;
    struct work *work = NULL;
    int status = make_work(self, call, args, &work, error);
    if (status == GRAFT_OK) {
        status = find_inputs(self, call, args, &work->x, error);
    }
    if (status == GRAFT_OK) {
        const int64_t bytes = PANEL * self->in_features * work->tokens;
        call->threads->parallel_for(work->tokens, 4, round_tokens, work);
        call->threads->parallel_for((self->rows + PANEL - 1) / PANEL, 1 + GRAIN / bytes, multiply_panels, work);
    }
    return status;
}

const struct graft_linear bitlinear_vtable = {.struct_size = sizeof bitlinear_vtable, .forward = forward};
