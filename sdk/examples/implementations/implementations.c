/* SPDX-License-Identifier: Apache-2.0 */
/* Things that users choose by name, in their simplest form: an attention and an experts implementation, both called
 * "plain", and a kernel of that name for an activation. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "graft/activation.h"
#include "graft/attention_implementation.h"
#include "graft/describe.h"
#include "graft/experts_implementation.h"
#include "graft/kernel_override.h"
#include "graft/kernels.h"
#include "graft/plugin.h"

/* --- Attention --- */

/* Shared by the threads: one row of scores for each query head of the batch. */
struct attention {
    const struct graft_attention_input *input;
    const struct graft_attention_sequence *sequence;
    float *scores; /* [tokens, heads, length] */
};

/* What the mask adds for key `j`; -inf if the query at `position` must not see it. */
static float mask_at(const struct graft_mask *mask, int64_t token, int64_t position, int64_t j) {
    if (position - j > graft_mask_before(mask) || j - position > graft_mask_after(mask)) {
        return -INFINITY;
    }
    return mask->kind == GRAFT_MASK_DENSE ? mask->bias[token * mask->bias_stride + j] : 0.0f;
}

static float dot(const float *a, const float *b, int64_t n) {
    float sum = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Turns scores [length] into probabilities; all zeros if every key is hidden. `sink` is an additional score without a
 * key. */
static void softmax(float *scores, int64_t length, float sink) {
    float largest = -INFINITY;
    float sum = 0.0f;
    for (int64_t j = 0; j < length; j++) {
        largest = fmaxf(largest, scores[j]);
    }
    for (int64_t j = 0; j < length; j++) {
        scores[j] = largest == -INFINITY ? 0.0f : expf(scores[j] - largest);
        sum += scores[j];
    }
    sum += sum > 0.0f ? expf(sink - largest) : 0.0f;
    for (int64_t j = 0; j < length && sum > 0.0f; j++) {
        scores[j] /= sum;
    }
}

/* Computes one query of one head. */
static void attend(const struct attention *work, int64_t i, int64_t head) {
    const struct graft_attention_input *input = work->input;
    const struct graft_attention_sequence *sequence = work->sequence;
    int64_t kv_head = head / (input->heads / input->kv_heads);
    int64_t token = sequence->first_token + i;
    const float *q = input->q + token * input->q_stride + head * input->q_head_stride;
    float *output = input->output + token * input->output_stride + head * input->v_head_dim;
    float *scores = work->scores + (i * input->heads + head) * sequence->length;
    for (int64_t j = 0; j < sequence->length; j++) {
        const float *key = sequence->keys + kv_head * sequence->key_head_stride + j * sequence->key_row_stride;
        scores[j] = dot(q, key, input->head_dim) * input->scaling;
        if (input->softcap != 0.0f) {
            scores[j] = input->softcap * tanhf(scores[j] / input->softcap);
        }
        if (input->alibi != NULL) {
            scores[j] += graft_attention_alibi(input, head, j);
        }
        scores[j] += mask_at(input->mask, token, sequence->past + i, j);
    }
    softmax(scores, sequence->length, input->sinks != NULL ? input->sinks[head] : -INFINITY);
    memset(output, 0, (size_t)input->v_head_dim * sizeof *output);
    for (int64_t j = 0; j < sequence->length; j++) {
        const float *value = sequence->values + kv_head * sequence->value_head_stride + j * sequence->value_row_stride;
        for (int64_t d = 0; d < input->v_head_dim; d++) {
            output[d] += scores[j] * value[d];
        }
    }
    if (sequence->weights != NULL) {
        float *weights = sequence->weights + (head * sequence->tokens + i) * sequence->length;
        memcpy(weights, scores, (size_t)sequence->length * sizeof *weights);
    }
}

static void attend_rows(void *data, int64_t begin, int64_t end) {
    const struct attention *work = data;
    for (int64_t i = begin; i < end; i++) {
        attend(work, i / work->input->heads, i % work->input->heads);
    }
}

static int attention_forward(const struct graft_attention_implementation *self, const struct graft_call *call,
                             const struct graft_attention_input *input, struct graft_error *error) {
    (void)self;
    for (int32_t s = 0; s < input->n_sequences; s++) {
        struct attention work = {.input = input, .sequence = graft_attention_sequence_at(input, s)};
        int64_t rows = work.sequence->tokens * input->heads;
        work.scores = graft_scratch_floats(call, rows, work.sequence->length, error);
        if (work.scores == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        call->threads->parallel_for(rows, 1, attend_rows, &work);
    }
    return GRAFT_OK;
}

static const struct graft_attention_implementation attention = {
    .struct_size = sizeof attention,
    .flags = GRAFT_ATTENTION_GIVES_WEIGHTS,
    .name = "plain",
    .masks = GRAFT_ATTENTION_MASK_NONE | GRAFT_ATTENTION_MASK_CAUSAL | GRAFT_ATTENTION_MASK_SLIDING |
             GRAFT_ATTENTION_MASK_DENSE | GRAFT_ATTENTION_MASK_WINDOW,
    .features = GRAFT_ATTENTION_SOFTCAP | GRAFT_ATTENTION_SINKS | GRAFT_ATTENTION_V_HEAD_DIM | GRAFT_ATTENTION_ALIBI,
    .forward = attention_forward,
};

/* --- Experts --- */

/* The position in a token's `index` [k] of the smallest expert greater than `before`; -1 if there is none. */
static int64_t next_expert(const int32_t *index, int64_t k, int32_t before) {
    int64_t found = -1;
    for (int64_t j = 0; j < k; j++) {
        if (index[j] > before && (found < 0 || index[j] < index[found])) {
            found = j;
        }
    }
    return found;
}

/* output += weight * expert(x), for one token. */
static int run_expert(const struct graft_call *call, const struct graft_experts_input *input, int64_t token, int64_t j,
                      struct graft_error *error) {
    int64_t hidden = input->hidden_size;
    int64_t columns = input->intermediate_size;
    int64_t expert = input->top_k_index[token * input->k + j];
    const float *x = input->hidden_states + token * hidden;
    float *gate = graft_scratch_floats(call, 2, columns, error); /* [2, intermediate_size]: gate, up */
    float *y = graft_scratch_floats(call, 1, hidden, error);     /* [hidden_size] */
    const int32_t row = 0;
    if (gate == NULL || y == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_product gate_up =
        graft_product_of(input->gate_up_proj, input->gate_up_bias, 2 * expert * columns, 2 * columns, 1, x, gate);
    const struct graft_product down =
        graft_product_of(input->down_proj, input->down_bias, expert * hidden, hidden, 1, gate, y);
    int status = call->kernels->linear(call, &gate_up, 1, sizeof(struct graft_product), error);
    if (status == GRAFT_OK) {
        status = graft_experts_gate(input, call, gate, gate + columns, 1, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->linear(call, &down, 1, sizeof(struct graft_product), error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->scatter_add_rows(call, y, input->top_k_weights + token * input->k + j, &row, 1, hidden,
                                                 input->output + token * hidden, error);
    }
    return status;
}

static int experts_forward(const struct graft_experts_implementation *self, const struct graft_call *call,
                           const struct graft_experts_input *input, struct graft_error *error) {
    int status = GRAFT_OK;
    (void)self;
    memset(input->output, 0, (size_t)(input->tokens * input->hidden_size) * sizeof(float));
    for (int64_t token = 0; token < input->tokens; token++) {
        const int32_t *index = input->top_k_index + token * input->k;
        int64_t j = next_expert(index, input->k, -1);
        for (; j >= 0 && status == GRAFT_OK; j = next_expert(index, input->k, index[j])) {
            int64_t mark = call->scratch_mark(call->scratch);
            status = run_expert(call, input, token, j, error);
            call->scratch_release(call->scratch, mark);
        }
    }
    return status;
}

static const struct graft_experts_implementation experts = {
    .struct_size = sizeof experts,
    .features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING | GRAFT_EXPERTS_CODED,
    .name = "plain",
    .forward = experts_forward,
};

/* --- A kernel: another forward for SiLUActivation --- */

static int silu_forward(void *self, const struct graft_call *call, const struct graft_activation_args *args,
                        struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    for (int64_t i = 0; i < args->count; i++) {
        args->y[i] = args->x[i] / (1.0f + expf(-args->x[i]));
    }
    return GRAFT_OK;
}

static const struct graft_activation silu_vtable = {.struct_size = sizeof silu_vtable, .forward = silu_forward};
static const struct graft_class plain_silu = {.struct_size = sizeof plain_silu,
                                              .name = "PlainSiLU",
                                              .interface_id = GRAFT_INTERFACE_ACTIVATION,
                                              .create = graft_create_stateless,
                                              .forward = &silu_vtable};
static const struct graft_replacement silu = {
    .struct_size = sizeof silu, .key = GRAFT_KEY_NAME, .target = "SiLUActivation", .replacement = &plain_silu};
static const struct graft_kernel_override kernel = {
    .struct_size = sizeof kernel, .name = "plain", .replacement = &silu};

/* --- Descriptor --- */

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "implementations",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Attention, experts and an activation in plain C, chosen by name",
    .attention_implementations = &attention,
    .n_attention_implementations = 1,
    .attention_implementation_stride = sizeof attention,
    .experts_implementations = &experts,
    .n_experts_implementations = 1,
    .experts_implementation_stride = sizeof experts,
    .kernels = &kernel,
    .n_kernels = 1,
    .kernel_stride = sizeof kernel,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
