/* SPDX-License-Identifier: Apache-2.0 */
/* "batched_mm": a separate product for each pair of a token and an expert; only the experts of one token are sorted.
 * For few tokens the results have the same bits as those of the other implementations. For many they may be rounded
 * differently, because the others multiply panels of tokens. */
#include <string.h>

#include "arch/moe/expert_pairs.h"

/* How many pairs are computed together, which bounds the memory that a long prompt takes. */
enum { BATCH_PAIRS = 1024 };

/* Some tokens. Pair (j, t) is the j-th expert, in ascending order, of token t. */
struct batch {
    int64_t first; /* its first token */
    int64_t tokens;
    int32_t *expert;                /* [k, tokens] */
    int32_t *token;                 /* [k, tokens]: index of the token in the whole input */
    float *weight;                  /* [k, tokens] */
    float *x;                       /* [k, tokens, hidden_size]: gathered input, then the experts' output */
    float *gate;                    /* [k, tokens, intermediate_size] */
    float *up;                      /* [k, tokens, intermediate_size] */
    struct graft_product *products; /* [2 * k * tokens] */
};

static int allocate(const struct graft_call *call, const struct graft_experts_input *input, int64_t tokens,
                    struct batch *batch, struct graft_error *error) {
    int64_t pairs = tokens * input->k;
    *batch = (struct batch){
        .expert = graft_scratch_ints(call, pairs, error),
        .token = graft_scratch_ints(call, pairs, error),
        .weight = graft_scratch_floats(call, pairs, 1, error),
        .x = graft_scratch_floats(call, pairs, input->hidden_size, error),
        .gate = graft_scratch_floats(call, pairs, input->intermediate_size, error),
        .up = graft_scratch_floats(call, pairs, input->intermediate_size, error),
        .products = call->scratch_alloc(call->scratch, 2 * pairs * (int64_t)sizeof *batch->products),
    };
    if (batch->expert == NULL || batch->token == NULL || batch->weight == NULL || batch->x == NULL ||
        batch->gate == NULL || batch->up == NULL || batch->products == NULL) {
        return graft_fail_memory(error, input->path);
    }
    return GRAFT_OK;
}

/* Fills in the pairs of each token in the order of their experts. */
static void fill(const struct graft_experts_input *input, struct batch *batch) {
    int64_t n = batch->tokens;
    for (int64_t t = 0; t < n; t++) {
        for (int64_t j = 0; j < input->k; j++) {
            int64_t i = (batch->first + t) * input->k + j;
            int32_t expert = input->top_k_index[i];
            int64_t place = j;
            for (; place > 0 && batch->expert[(place - 1) * n + t] > expert; place--) {
                batch->expert[place * n + t] = batch->expert[(place - 1) * n + t];
                batch->weight[place * n + t] = batch->weight[(place - 1) * n + t];
            }
            batch->expert[place * n + t] = expert;
            batch->weight[place * n + t] = input->top_k_weights[i];
            batch->token[j * n + t] = (int32_t)(batch->first + t);
        }
    }
}

static int run_batch(const struct graft_call *call, const struct graft_experts_input *input, const struct batch *batch,
                     struct graft_error *error) {
    const struct graft_kernels *kernels = call->kernels;
    int64_t hidden = input->hidden_size;
    int64_t intermediate = input->intermediate_size;
    int64_t pairs = batch->tokens * input->k;
    int status = kernels->gather_rows(call, input->hidden_states, batch->token, pairs, hidden, batch->x, error);
    for (int64_t p = 0; p < pairs; p++) {
        int64_t row = 2 * (int64_t)batch->expert[p] * intermediate;
        const float *x = batch->x + p * hidden;
        batch->products[2 * p] = graft_product_of(input->gate_up_proj, input->gate_up_bias, row, intermediate, 1, x,
                                                  batch->gate + p * intermediate);
        batch->products[2 * p + 1] = graft_product_of(input->gate_up_proj, input->gate_up_bias, row + intermediate,
                                                      intermediate, 1, x, batch->up + p * intermediate);
    }
    if (status == GRAFT_OK) {
        status = kernels->linear(call, batch->products, (int32_t)(2 * pairs), sizeof(struct graft_product), error);
    }
    if (status == GRAFT_OK) {
        status = graft_experts_gate(input, call, batch->gate, batch->up, pairs, error);
    }
    for (int64_t p = 0; p < pairs; p++) {
        batch->products[p] = graft_product_of(input->down_proj, input->down_bias, batch->expert[p] * hidden, hidden, 1,
                                              batch->gate + p * intermediate, batch->x + p * hidden);
    }
    if (status == GRAFT_OK) {
        status = kernels->linear(call, batch->products, (int32_t)pairs, sizeof(struct graft_product), error);
    }
    for (int64_t j = 0; j < input->k && status == GRAFT_OK; j++) {
        int64_t at = j * batch->tokens;
        status = kernels->scatter_add_rows(call, batch->x + at * hidden, batch->weight + at, batch->token + at,
                                           batch->tokens, hidden, input->output, error);
    }
    return status;
}

static int forward(const struct graft_experts_implementation *self, const struct graft_call *call,
                   const struct graft_experts_input *input, struct graft_error *error) {
    struct batch batch;
    struct graft_call alone; /* the call of a pair: a single token, whatever it was taken from */
    int64_t most = input->k < BATCH_PAIRS ? BATCH_PAIRS / (input->k > 0 ? input->k : 1) : 1;
    (void)self;
    graft_struct_copy(&alone, sizeof alone, call);
    alone.among = 0;
    most = most < input->tokens ? most : input->tokens;
    int status = allocate(call, input, most, &batch, error);
    memset(input->output, 0, (size_t)(input->tokens * input->hidden_size) * sizeof(float));
    for (; batch.first < input->tokens && status == GRAFT_OK; batch.first += batch.tokens) {
        int64_t left = input->tokens - batch.first;
        int64_t mark = call->scratch_mark(call->scratch);
        batch.tokens = left < most ? left : most;
        fill(input, &batch);
        status = run_batch(&alone, input, &batch, error);
        call->scratch_release(call->scratch, mark);
    }
    return status;
}

const struct graft_experts_implementation graft_experts_batched_mm = {
    .struct_size = sizeof graft_experts_batched_mm,
    .name = "batched_mm",
    .features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING | GRAFT_EXPERTS_CODED,
    .forward = forward,
};
