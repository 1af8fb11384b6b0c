/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled once for each instruction set (meson.build). */
#include "arch/mixers/mamba2_scan.h"

#include <math.h>

#include "graft/batch.h"

enum { CHUNK = 16, LANES = 16 };

/* One head's part of the arrays; `t` counts tokens. */
struct head {
    const struct graft_mamba2_scan *scan;
    int64_t number;
    int64_t conv_dim;
    const float *x; /* x of token 0, like B and C */
    const float *B;
    const float *C;
    float *state; /* [state_size, head_dim] */
};

static struct head head_of(const struct graft_mamba2_scan *scan, int64_t number) {
    int64_t inputs = scan->num_heads * scan->head_dim;
    int64_t shared = scan->n_groups * scan->state_size;
    int64_t group = number / (scan->num_heads / scan->n_groups);
    return (struct head){
        .scan = scan,
        .number = number,
        .conv_dim = inputs + 2 * shared,
        .x = scan->xBC + number * scan->head_dim,
        .B = scan->xBC + inputs + group * scan->state_size,
        .C = scan->xBC + inputs + shared + group * scan->state_size,
        .state = scan->state + number * scan->state_size * scan->head_dim,
    };
}

static float step_of(const struct head *head, int64_t t) {
    return head->scan->dt[t * head->scan->num_heads + head->number];
}

static float *output_of(const struct head *head, int64_t t) {
    return head->scan->y + (t * head->scan->num_heads + head->number) * head->scan->head_dim;
}

static void add_scaled(float *y, float scale, const float *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        y[i] += scale * x[i];
    }
}

static void scale_to(float *y, float scale, const float *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        y[i] = scale * x[i];
    }
}

/* A dot product in several partial sums, which a processor can compute in parallel. */
static float dot(const float *a, const float *b, int64_t count) {
    float parts[LANES] = {0};
    float sum = 0.0F;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (int64_t l = 0; l < LANES; l++) {
            parts[l] += a[i + l] * b[i + l];
        }
    }
    for (; i < count; i++) {
        sum += a[i] * b[i];
    }
    for (int64_t l = 0; l < LANES; l++) {
        sum += parts[l];
    }
    return sum;
}

static void run_token(const struct head *head, int64_t t) {
    int64_t head_dim = head->scan->head_dim;
    const float *x = head->x + t * head->conv_dim;
    const float *B = head->B + t * head->conv_dim;
    const float *C = head->C + t * head->conv_dim;
    float *y = output_of(head, t);
    float dt = step_of(head, t);
    float decay = expf(dt * head->scan->A[head->number]);
    scale_to(y, head->scan->D[head->number], x, head_dim);
    for (int64_t n = 0; n < head->scan->state_size; n++) {
        float *row = head->state + n * head_dim;
        scale_to(row, decay, row, head_dim);
        add_scaled(row, dt * B[n], x, head_dim);
        add_scaled(y, C[n], row, head_dim);
    }
}

/* Computes the output of one token of a chunk. `decayed` [CHUNK]: for each token, the logarithm of how much of the
 * state before the chunk is left after it. */
static void run_chunk_token(const struct head *head, int64_t first, int64_t i, const float *decayed) {
    int64_t head_dim = head->scan->head_dim;
    const float *C = head->C + (first + i) * head->conv_dim;
    float *y = output_of(head, first + i);
    float left = expf(decayed[i]);
    scale_to(y, head->scan->D[head->number], head->x + (first + i) * head->conv_dim, head_dim);
    for (int64_t n = 0; n < head->scan->state_size; n++) {
        add_scaled(y, left * C[n], head->state + n * head_dim, head_dim);
    }
    for (int64_t j = 0; j <= i; j++) {
        float match = dot(C, head->B + (first + j) * head->conv_dim, head->scan->state_size);
        float weight = match * expf(decayed[i] - decayed[j]) * step_of(head, first + j);
        add_scaled(y, weight, head->x + (first + j) * head->conv_dim, head_dim);
    }
}

static void run_chunk(const struct head *head, int64_t first) {
    int64_t head_dim = head->scan->head_dim;
    float decayed[CHUNK];
    float kept[CHUNK]; /* how much of a token's input is left after the chunk */
    float sum = 0.0F;
    for (int64_t i = 0; i < CHUNK; i++) {
        sum += step_of(head, first + i) * head->scan->A[head->number];
        decayed[i] = sum;
    }
    for (int64_t i = 0; i < CHUNK; i++) {
        run_chunk_token(head, first, i, decayed);
        kept[i] = expf(sum - decayed[i]) * step_of(head, first + i);
    }
    float left = expf(sum);
    for (int64_t n = 0; n < head->scan->state_size; n++) {
        float *row = head->state + n * head_dim;
        scale_to(row, left, row, head_dim);
        for (int64_t i = 0; i < CHUNK; i++) {
            int64_t at = (first + i) * head->conv_dim;
            add_scaled(row, kept[i] * head->B[at + n], head->x + at, head_dim);
        }
    }
}

static void run_head(const struct graft_mamba2_scan *scan, int64_t number) {
    const struct head head = head_of(scan, number);
    int64_t chunks = scan->tokens > GRAFT_SMALL_BATCH ? scan->tokens / CHUNK
                                                      : 0; /* few tokens are processed one by one (graft/state.h) */
    int64_t t = 0;
    for (; t < chunks * CHUNK; t += CHUNK) {
        run_chunk(&head, t);
    }
    for (; t < scan->tokens; t++) {
        run_token(&head, t);
    }
}

const struct graft_mamba2_scan_loops GRAFT_ISA_NAME(graft_mamba2_scan) = {run_head};
