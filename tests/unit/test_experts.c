/* SPDX-License-Identifier: Apache-2.0 */
/* Compares each implementation of stacked experts with sums in double: plain, with biases, with a gating of their
 * own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "arch/moe/experts.h"
#include "graft/activation.h"
#include "kernels/kernels.h"
#include "numbers.h"

enum { EXPERTS = 4, HIDDEN = 6, COLUMNS = 5, TOKENS = 7, K = 2 };

static struct graft_scratch *scratch;
static struct graft_call call;

/* A stack of `rows` rows each of EXPERTS experts, or of as many biases. */
struct stack {
    struct graft_weight weight;
    struct graft_row_block block;
    float *numbers;
};

static void stack_init(struct stack *stack, int64_t rows, int64_t columns) {
    stack->numbers = numbers_floats(rows * columns);
    stack->block = (struct graft_row_block){sizeof stack->block, GRAFT_DTYPE_F32, stack->numbers, rows};
    stack->weight = (struct graft_weight){.struct_size = sizeof stack->weight,
                                          .rows = rows,
                                          .columns = columns,
                                          .blocks = &stack->block,
                                          .n_blocks = 1,
                                          .block_stride = sizeof stack->block};
}

static int relu(void *self, const struct graft_call *forward_call, const struct graft_activation_args *args,
                struct graft_error *error) {
    (void)self, (void)forward_call, (void)error;
    for (int64_t i = 0; i < args->count; i++) {
        args->y[i] = args->x[i] > 0.0f ? args->x[i] : 0.0f;
    }
    return GRAFT_OK;
}

/* (up + 1) * clamped gate, as a stand-in for gates that are no activation of the gate alone. */
static int clamped(void *instance, const struct graft_call *forward_call, float *gate, const float *up, int64_t rows,
                   int64_t columns, struct graft_error *error) {
    const float *limit = instance;
    (void)forward_call, (void)error;
    for (int64_t i = 0; i < rows * columns; i++) {
        gate[i] = (up[i] + 1.0f) * (gate[i] < *limit ? gate[i] : *limit);
    }
    return GRAFT_OK;
}

static double product(const struct stack *weight, const struct stack *bias, int64_t row, const double *x) {
    double sum = bias != NULL ? (double)bias->numbers[row] : 0.0;
    for (int64_t i = 0; i < weight->weight.columns; i++) {
        sum += (double)weight->numbers[row * weight->weight.columns + i] * x[i];
    }
    return sum;
}

struct layer {
    struct stack gate_up, down, gate_up_bias, down_bias;
    struct graft_experts_input input;
    float *hidden_states;
    int32_t index[TOKENS * K];
    float weights[TOKENS * K];
    float output[TOKENS * HIDDEN];
    float limit;
};

static void layer_init(struct layer *layer, int biases, int gating) {
    static const struct graft_activation vtable = {.struct_size = sizeof vtable, .forward = relu};
    static const struct graft_module act_fn = {.struct_size = sizeof act_fn, .path = "act_fn", .forward = &vtable};
    stack_init(&layer->gate_up, EXPERTS * 2 * COLUMNS, HIDDEN);
    stack_init(&layer->down, EXPERTS * HIDDEN, COLUMNS);
    stack_init(&layer->gate_up_bias, EXPERTS, 2 * COLUMNS);
    stack_init(&layer->down_bias, EXPERTS, HIDDEN);
    layer->hidden_states = numbers_floats(TOKENS * HIDDEN);
    layer->limit = 0.25f;
    for (int i = 0; i < TOKENS * K; i++) {
        layer->index[i] = (i / K * 3 + i % K) % EXPERTS;
        layer->weights[i] = numbers_float();
    }
    layer->input = (struct graft_experts_input){.struct_size = sizeof layer->input,
                                                .path = "experts",
                                                .tokens = TOKENS,
                                                .k = K,
                                                .num_experts = EXPERTS,
                                                .hidden_size = HIDDEN,
                                                .intermediate_size = COLUMNS,
                                                .hidden_states = layer->hidden_states,
                                                .top_k_index = layer->index,
                                                .top_k_weights = layer->weights,
                                                .gate_up_proj = &layer->gate_up.weight,
                                                .down_proj = &layer->down.weight,
                                                .act_fn = gating ? NULL : &act_fn,
                                                .output = layer->output,
                                                .gate_up_bias = biases ? &layer->gate_up_bias.weight : NULL,
                                                .down_bias = biases ? &layer->down_bias.weight : NULL,
                                                .gating = gating ? clamped : NULL,
                                                .gating_instance = gating ? &layer->limit : NULL};
}

static void layer_finish(struct layer *layer) {
    numbers_free(layer->gate_up.numbers, 4);
    numbers_free(layer->down.numbers, 4);
    numbers_free(layer->gate_up_bias.numbers, 4);
    numbers_free(layer->down_bias.numbers, 4);
    numbers_free(layer->hidden_states, 4);
}

static void check_values(const struct layer *layer) {
    const struct stack *gate_up_bias = layer->input.gate_up_bias != NULL ? &layer->gate_up_bias : NULL;
    const struct stack *down_bias = layer->input.down_bias != NULL ? &layer->down_bias : NULL;
    for (int t = 0; t < TOKENS; t++) {
        double x[HIDDEN], between[COLUMNS], out[HIDDEN] = {0};
        for (int i = 0; i < HIDDEN; i++) {
            x[i] = (double)layer->hidden_states[t * HIDDEN + i];
        }
        for (int j = 0; j < K; j++) {
            int64_t e = layer->index[t * K + j];
            for (int i = 0; i < COLUMNS; i++) {
                double gate = product(&layer->gate_up, gate_up_bias, 2 * e * COLUMNS + i, x);
                double up = product(&layer->gate_up, gate_up_bias, (2 * e + 1) * COLUMNS + i, x);
                between[i] =
                    layer->input.gating != NULL ? (up + 1.0) * fmin(gate, (double)layer->limit) : fmax(gate, 0.0) * up;
            }
            for (int i = 0; i < HIDDEN; i++) {
                out[i] += (double)layer->weights[t * K + j] * product(&layer->down, down_bias, e * HIDDEN + i, between);
            }
        }
        for (int i = 0; i < HIDDEN; i++) {
            assert_true(numbers_close(layer->output[t * HIDDEN + i], (float)out[i], 2e-6f, 1e-5f));
        }
    }
}

static const struct graft_experts_implementation *const implementations[] = {
    &graft_experts_eager, &graft_experts_batched_mm, &graft_experts_grouped_mm};

static void test_values(void **state) {
    (void)state;
    for (int i = 0; i < 3 * 4; i++) {
        struct layer layer;
        layer_init(&layer, i / 3 % 2, i / 6);
        assert_int_equal(call.kernels->experts(&call, implementations[i % 3], &layer.input, NULL), GRAFT_OK);
        check_values(&layer);
        layer_finish(&layer);
    }
}

/* A token's result has the same bits if others are routed to the same expert: in forwards of few tokens and of many. */
static void check_company(int few) {
    enum { MANY = 40 };
    const int tokens = few ? TOKENS : MANY;
    for (int i = 0; i < 3; i++) {
        struct layer layer;
        struct graft_call routed = call;
        float hidden_states[MANY * HIDDEN], weights[MANY * K], outputs[2][MANY * HIDDEN];
        int32_t index[MANY * K];
        layer_init(&layer, 1, 1);
        for (int t = 0; t < tokens * HIDDEN; t++) {
            hidden_states[t] = numbers_float();
        }
        for (int t = 0; t < tokens * K; t++) {
            index[t] = (t / K * 3 + t % K) % EXPERTS;
            weights[t] = numbers_float();
        }
        layer.input.hidden_states = hidden_states;
        layer.input.top_k_weights = weights;
        layer.input.top_k_index = index;
        layer.input.tokens = tokens;
        layer.input.output = outputs[0];
        assert_int_equal(call.kernels->experts(&call, implementations[i], &layer.input, NULL), GRAFT_OK);
        routed.among = tokens;
        for (int t = 0; t < tokens; t++) {
            layer.input.hidden_states = hidden_states + (ptrdiff_t)t * HIDDEN;
            layer.input.top_k_weights = weights + (ptrdiff_t)t * K;
            layer.input.top_k_index = index + (ptrdiff_t)t * K;
            layer.input.tokens = 1;
            layer.input.output = outputs[1] + (ptrdiff_t)t * HIDDEN;
            assert_int_equal(call.kernels->experts(&routed, implementations[i], &layer.input, NULL), GRAFT_OK);
        }
        assert_memory_equal(outputs[0], outputs[1], (size_t)(tokens * HIDDEN) * sizeof(float));
        layer_finish(&layer);
    }
}

static void test_company(void **state) {
    (void)state;
    check_company(1);
    check_company(0);
}

/* An implementation without a feature runs calls that do not need it, and is refused for others. */
static void test_refused(void **state) {
    static const struct {
        int biases, gating;
        uint32_t features;
        const char *says;
    } cases[] = {{0, 0, 0, NULL},
                 {1, 0, GRAFT_EXPERTS_GATING, "biases"},
                 {0, 1, GRAFT_EXPERTS_BIASES, "a gating function"},
                 {1, 1, GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_experts_implementation poor = graft_experts_eager;
        struct graft_error error = graft_error_none();
        struct layer layer;
        poor.name = "poor";
        poor.features = cases[i].features;
        layer_init(&layer, cases[i].biases, cases[i].gating);
        int status = call.kernels->experts(&call, &poor, &layer.input, &error);
        assert_int_equal(status, cases[i].says != NULL ? GRAFT_ERROR_PLUGIN : GRAFT_OK);
        assert_true(cases[i].says == NULL || strstr(error.message, cases[i].says) != NULL);
        layer.input.required_features = 16;
        poor.features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING;
        assert_int_equal(call.kernels->experts(&call, &poor, &layer.input, NULL), GRAFT_ERROR_PLUGIN);
        layer_finish(&layer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_company),
                                       cmocka_unit_test(test_refused)};
    scratch = graft_scratch_create();
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    graft_scratch_destroy(scratch);
    return failures;
}
