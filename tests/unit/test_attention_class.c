/* SPDX-License-Identifier: Apache-2.0 */
/* Llama-like attention that rotates a part of each head, compared with the formula. Projections return the first
 * numbers of a token. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/decoder/attention.h"
#include "arch/role.h"
#include "kernels/kernels.h"
#include "kernels/scratch.h"
#include "numbers.h"

enum { TOKENS = 5, HEADS = 4, KV_HEADS = 2, DIM = 10, WIDTH = 4, HALF = WIDTH / 2, HIDDEN = HEADS * DIM };

static int projection_forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                              struct graft_error *error) {
    const int *features = self;
    (void)call;
    (void)error;
    for (int64_t t = 0; t < args->tokens; t++) {
        memcpy(args->y + t * *features, args->x + t * HIDDEN, (size_t)*features * sizeof(float));
    }
    return GRAFT_OK;
}

static const struct graft_linear projection_vtable = {.struct_size = sizeof projection_vtable,
                                                      .forward = projection_forward};
static int all = HIDDEN;
static int first = KV_HEADS * DIM;
static const struct graft_module to_all = {.instance = &all, .forward = &projection_vtable};
static const struct graft_module to_first = {.instance = &first, .forward = &projection_vtable};

struct angles {
    float cos[TOKENS * WIDTH];
    float sin[TOKENS * WIDTH];
};

static struct angles angles_of_positions(void) {
    struct angles angles;
    for (int i = 0; i < TOKENS * WIDTH; i++) {
        double angle = i / WIDTH / (1.0 + i % HALF);
        angles.cos[i] = (float)cos(angle);
        angles.sin[i] = (float)sin(angle);
    }
    return angles;
}

/* Number `d` of a head, rotated by the position of token `t` in a layout. */
static double rotated(const float *head, const struct angles *angles, int32_t layout, int t, int d) {
    if (d >= WIDTH) {
        return head[d];
    }
    int apart = layout == GRAFT_ROPE_HALVES ? HALF : 1;
    int is_first = d / apart % 2 == 0;
    int i = t * WIDTH + (layout == GRAFT_ROPE_HALVES ? d % HALF : d / 2);
    double other = is_first ? -head[d + apart] : head[d - apart];
    return head[d] * (double)angles->cos[i] + other * (double)angles->sin[i];
}

static double score(const float *x, const struct angles *angles, int32_t layout, int head, int query, int key) {
    double sum = 0.0;
    for (int d = 0; d < DIM; d++) {
        sum += rotated(x + query * HIDDEN + head * DIM, angles, layout, query, d) *
               rotated(x + key * HIDDEN + head / (HEADS / KV_HEADS) * DIM, angles, layout, key, d);
    }
    return sum / sqrt((double)DIM);
}

static double expected(const float *x, const struct angles *angles, int32_t layout, int head, int query, int d) {
    double sum = 0.0;
    double weights = 0.0;
    for (int key = 0; key <= query; key++) {
        double weight = exp(score(x, angles, layout, head, query, key));
        sum += weight * x[key * HIDDEN + head / (HEADS / KV_HEADS) * DIM + d];
        weights += weight;
    }
    return sum / weights;
}

static void run(int32_t layout) {
    static const int64_t cu_seqlens[] = {0, TOKENS};
    static const int64_t positions[TOKENS] = {0, 1, 2, 3, 4};
    struct graft_attention attention = {.sizes = {.hidden_size = HIDDEN,
                                                  .heads = HEADS,
                                                  .kv_heads = KV_HEADS,
                                                  .head_dim = DIM,
                                                  .rotary_width = WIDTH,
                                                  .scaling = 1.0 / sqrt((double)DIM),
                                                  .rope_layout = layout},
                                        .value_dim = DIM,
                                        .value_scale = 1.0f,
                                        .key_scale = 1.0f,
                                        .input_scale = 1.0f,
                                        .output_scale = 1.0f,
                                        .q = &to_all,
                                        .k = &to_first,
                                        .v = &to_first,
                                        .output = &to_all};
    const struct graft_batch batch = {.struct_size = sizeof batch,
                                      .sequences = 1,
                                      .tokens = TOKENS,
                                      .cu_seqlens = cu_seqlens,
                                      .positions = positions};
    const struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_CAUSAL};
    const struct angles angles = angles_of_positions();
    float *x = numbers_floats((int64_t)TOKENS * HIDDEN);
    float *y = numbers_floats((int64_t)TOKENS * HIDDEN);
    const struct graft_self_attention_args args = {.struct_size = sizeof args,
                                                   .batch = &batch,
                                                   .hidden_states = x,
                                                   .cos = angles.cos,
                                                   .sin = angles.sin,
                                                   .mask = &mask,
                                                   .output = y};
    struct graft_error error = graft_error_none();
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    graft_call_init(&call, GRAFT_PRECISION_FLOAT32, scratch);
    assert_int_equal(graft_attention_vtable.forward(&attention, &call, &args, &error), GRAFT_OK);
    for (int i = 0; i < TOKENS * HIDDEN; i++) {
        double wanted = expected(x, &angles, layout, i % HIDDEN / DIM, i / HIDDEN, i % DIM);
        assert_true(fabs((double)y[i] - wanted) < 1e-5);
    }
    graft_scratch_destroy(scratch);
    numbers_free(x, 4);
    numbers_free(y, 4);
}

static void test_rotary_width(void **state) {
    (void)state;
    run(GRAFT_ROPE_HALVES);
}

static void test_rope_interleave(void **state) {
    (void)state;
    run(GRAFT_ROPE_INTERLEAVED);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rotary_width), cmocka_unit_test(test_rope_interleave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
