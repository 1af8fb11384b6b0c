/* SPDX-License-Identifier: Apache-2.0 */
/* Compares Conv1d with the sum that defines it, for sequences of unequal lengths, at once and in pieces. */
#include "graft/causal_conv1d.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/role.h"
#include "graft/describe.h"
#include "kernels/kernels.h"
#include "kernels/scratch.h"
#include "kernels/threads.h"
#include "numbers.h"
#include "plugin/host_services.h"

enum { CHANNELS = 37, KERNEL = 4, SEQUENCES = 3, TOKENS = 21, BEFORE = (KERNEL - 1) * CHANNELS };

static const int64_t starts[SEQUENCES + 1] = {0, 1, 3, TOKENS};

/* A convolution without a model around it. */
struct fixture {
    struct graft_arg items[3];
    struct graft_args args;
    struct graft_row_block blocks[2];
    struct graft_weight weight;
    struct graft_weight bias;
    int64_t kept[512];
    float states[SEQUENCES][BEFORE];
};

static struct fixture fixture;
static const float *stored_weight; /* [CHANNELS, KERNEL] */
static const float *stored_bias;   /* [CHANNELS] */

static void *keep(void *data, int64_t bytes, struct graft_error *error) {
    (void)data;
    (void)error;
    assert_true(bytes <= (int64_t)sizeof fixture.kept);
    return memset(fixture.kept, 0, sizeof fixture.kept);
}

static int describe_parameter(void *data, const struct graft_parameter_info *info, struct graft_error *error) {
    (void)data;
    (void)info;
    (void)error;
    return GRAFT_OK;
}

static int describe_state(void *data, const struct graft_state_info *info, struct graft_error *error) {
    (void)data;
    (void)error;
    assert_string_equal(info->name, "conv_states");
    assert_true(info->shape[0] == KERNEL - 1 && info->shape[1] == CHANNELS);
    return GRAFT_OK;
}

static const struct graft_weight *find_weight(void *data, const char *name) {
    (void)data;
    return strcmp(name, "weight") == 0 ? &fixture.weight : &fixture.bias;
}

static const struct graft_state *find_state(void *data, const char *name) {
    (void)name;
    return data;
}

/* Feeds the part of a sequence that its slot names. */
static void *get_state(const struct graft_call *call, const struct graft_batch *batch, const struct graft_state *state,
                       int32_t sequence, struct graft_error *error) {
    (void)call;
    (void)state;
    (void)error;
    return fixture.states[batch->slots[sequence]];
}

static int describe(int64_t kernel_size, int32_t bias, struct graft_error *error) {
    static const struct graft_class cls = {.struct_size = sizeof cls, .name = "Conv1d"};
    const struct graft_sink sink = {.struct_size = sizeof sink,
                                    .path = "conv1d",
                                    .keep = keep,
                                    .parameter = describe_parameter,
                                    .state = describe_state};
    fixture.items[0] = graft_int_arg("channels", CHANNELS);
    fixture.items[1] = graft_int_arg("kernel_size", kernel_size);
    fixture.items[2] = graft_int_arg("bias", bias);
    fixture.args = graft_args_of(fixture.items, 3);
    return graft_causal_conv1d_describe(&cls, NULL, &fixture.args, &sink, error);
}

/* The tokens of x [tokens, CHANNELS] that `cu_seqlens` and `slots` describe. */
static void run(int32_t sequences, const int64_t *cu_seqlens, const int32_t *slots, const float *x, float *y) {
    struct graft_build build = {.struct_size = sizeof build,
                                .path = "conv1d",
                                .host = graft_host_get(),
                                .args = &fixture.args,
                                .data = &fixture,
                                .weight = find_weight,
                                .state = find_state,
                                .kept = fixture.kept};
    const struct graft_batch batch = {.struct_size = sizeof batch,
                                      .sequences = sequences,
                                      .tokens = cu_seqlens[sequences],
                                      .cu_seqlens = cu_seqlens,
                                      .slots = slots};
    const struct graft_causal_conv1d_args args = {.struct_size = sizeof args, .batch = &batch, .x = x, .y = y};
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    struct graft_error error = graft_error_none();
    void *instance = NULL;
    graft_call_init(&call, GRAFT_PRECISION_FLOAT32, scratch);
    call.state = get_state;
    assert_int_equal(graft_outline_create(NULL, &build, &instance, &error), GRAFT_OK);
    assert_int_equal(graft_causal_conv1d_vtable.forward(instance, &call, &args, NULL), GRAFT_OK);
    graft_instance_destroy(instance);
    graft_scratch_destroy(scratch);
}

/* The expected channel c of token t, in the sequence that begins at token `first`. */
static double expected(const float *x, int64_t first, int64_t t, int64_t c, int32_t bias) {
    double sum = bias ? (double)stored_bias[c] : 0.0;
    for (int64_t k = 0; k < KERNEL; k++) {
        int64_t at = t + k - (KERNEL - 1);
        sum += at < first ? 0.0 : (double)stored_weight[c * KERNEL + k] * (double)x[at * CHANNELS + c];
    }
    return sum;
}

static void check(int32_t bias) {
    static const int32_t slots[SEQUENCES] = {2, 0, 1};
    float *x = numbers_floats(TOKENS * CHANNELS);
    float *y = numbers_floats(TOKENS * CHANNELS);
    float *pieces = numbers_floats(TOKENS * CHANNELS);
    struct graft_error error = graft_error_none();
    assert_int_equal(describe(KERNEL, bias, &error), GRAFT_OK);
    memset(fixture.states, 0, sizeof fixture.states);
    run(SEQUENCES, starts, slots, x, y);
    for (int s = 0; s < SEQUENCES; s++) {
        for (int64_t i = starts[s] * CHANNELS; i < starts[s + 1] * CHANNELS; i++) {
            double sum = expected(x, starts[s], i / CHANNELS, i % CHANNELS, bias);
            assert_true(numbers_close(y[i], (float)sum, 1e-6f, 1e-6f));
        }
    }
    memset(fixture.states, 0, sizeof fixture.states);
    for (int s = 0; s < SEQUENCES; s++) {
        for (int64_t t = starts[s], count = 1; t < starts[s + 1]; t += count) {
            count = starts[s + 1] - t < 5 ? 1 : 5; /* longer than the kernel, then shorter */
            const int64_t piece[2] = {0, count};
            run(1, piece, &slots[s], x + t * CHANNELS, pieces + t * CHANNELS);
        }
    }
    assert_memory_equal(pieces, y, TOKENS * CHANNELS * sizeof *y);
    numbers_free(x, 4);
    numbers_free(y, 4);
    numbers_free(pieces, 4);
}

static void test_sum(void **state) {
    (void)state;
    check(1);
    check(0);
}

static void test_refusals(void **state) {
    struct graft_error error = graft_error_none();
    (void)state;
    assert_int_equal(describe(1, 0, &error), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "kernel_size: expected 2 to 64"));
    error = graft_error_none();
    assert_int_equal(describe(65, 0, &error), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "kernel_size"));
}

static int set_up_group(void **state) {
    (void)state;
    stored_weight = numbers_floats(CHANNELS * KERNEL);
    stored_bias = numbers_floats(CHANNELS);
    fixture.blocks[0] = (struct graft_row_block){sizeof fixture.blocks[0], GRAFT_DTYPE_F32, stored_weight, CHANNELS};
    fixture.blocks[1] = (struct graft_row_block){sizeof fixture.blocks[1], GRAFT_DTYPE_F32, stored_bias, CHANNELS};
    fixture.weight = (struct graft_weight){.struct_size = sizeof fixture.weight,
                                           .rank = 3,
                                           .shape = {CHANNELS, 1, KERNEL, 1, 1, 1, 1, 1},
                                           .rows = CHANNELS,
                                           .columns = KERNEL,
                                           .blocks = &fixture.blocks[0],
                                           .n_blocks = 1,
                                           .block_stride = sizeof fixture.blocks[0]};
    fixture.bias = (struct graft_weight){.struct_size = sizeof fixture.bias,
                                         .rank = 1,
                                         .shape = {CHANNELS, 1, 1, 1, 1, 1, 1, 1},
                                         .rows = CHANNELS,
                                         .columns = 1,
                                         .blocks = &fixture.blocks[1],
                                         .n_blocks = 1,
                                         .block_stride = sizeof fixture.blocks[1]};
    graft_threads_set_count(2);
    return 0;
}

static int tear_down_group(void **state) {
    (void)state;
    numbers_free(stored_weight, 4);
    numbers_free(stored_bias, 4);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}
