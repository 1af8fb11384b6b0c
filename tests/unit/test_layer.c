/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder's layer in every arrangement of its norms, one after the other and in parallel, against the sums that
 * define it, on modules whose arithmetic is exact. */
#include "arch/decoder/layer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graft/attention.h"
#include "graft/mixer.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "kernels/kernels.h"
#include "kernels/scratch.h"

enum { TOKENS = 3, HIDDEN = 4, COUNT = TOKENS * HIDDEN };

/* Scales that change nothing. */
#define ONES \
    .residual_scale = 1.0f, .attention_skip = 1.0f, .attention_scale = 1.0f, .mlp_skip = 1.0f, .mlp_scale = 1.0f

/* The number that each norm multiplies by: input of attention, its output, input of the MLP, its output. */
static const float factors[] = {2.0f, -1.0f, 0.5f, 3.0f};

static float attention_of(float x) {
    return 2.0f * x + 1.0f;
}

static float mlp_of(float x) {
    return 3.0f * x - 1.0f;
}

static int attention_forward(void *self, const struct graft_call *call, const struct graft_self_attention_args *args,
                             struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    for (int i = 0; i < COUNT; i++) {
        args->output[i] = attention_of(args->hidden_states[i]);
    }
    return GRAFT_OK;
}

static int mlp_forward(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                       struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    for (int i = 0; i < COUNT; i++) {
        args->output[i] = mlp_of(args->hidden_states[i]);
    }
    return GRAFT_OK;
}

static int norm_forward(void *self, const struct graft_call *call, const struct graft_norm_args *args,
                        struct graft_error *error) {
    const float *factor = self;
    (void)call;
    (void)error;
    for (int i = 0; i < COUNT; i++) {
        args->hidden_states[i] += args->residual != NULL ? args->residual[i] : 0.0f;
        args->output[i] = args->hidden_states[i] * *factor;
    }
    return GRAFT_OK;
}

static const struct graft_self_attention attention_vtable = {sizeof attention_vtable, 0, attention_forward};
static const struct graft_mlp mlp_vtable = {sizeof mlp_vtable, 0, mlp_forward};
static const struct graft_norm norm_vtable = {sizeof norm_vtable, 0, norm_forward};

static float mixer_of(float x) {
    return 4.0f * x + 2.0f;
}

static int mixer_forward(void *self, const struct graft_call *call, const struct graft_mixer_args *args,
                         struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    for (int i = 0; i < COUNT; i++) {
        args->output[i] = mixer_of(args->hidden_states[i]);
    }
    return GRAFT_OK;
}

static const struct graft_mixer mixer_vtable = {sizeof mixer_vtable, 0, mixer_forward};

static struct graft_module norms[4];
static const struct graft_module attention = {.forward = &attention_vtable};
static const struct graft_module mlp = {.forward = &mlp_vtable};
static const struct graft_module mixer = {.forward = &mixer_vtable};

static void make_norms(void) {
    for (int i = 0; i < 4; i++) {
        norms[i] = (struct graft_module){.instance = (void *)(uintptr_t)&factors[i], .forward = &norm_vtable};
    }
}

static float expected(float x, int which, int parallel, float scale) {
    float seen = (which & 1) != 0 ? x * factors[0] : x;
    float attended = attention_of(seen) * ((which & 2) != 0 ? factors[1] : 1.0f) * scale;
    if (!parallel || (which & 4) != 0) {
        seen = (parallel ? x : x + attended) * ((which & 4) != 0 ? factors[2] : 1.0f);
    }
    return x + attended + mlp_of(seen) * ((which & 8) != 0 ? factors[3] : 1.0f) * scale;
}

/* hidden_states [COUNT], -5 and so on, through the layer. */
static void run(struct graft_layer layer, float *hidden_states) {
    struct graft_error error = graft_error_none();
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    layer.hidden_size = HIDDEN;
    for (int i = 0; i < COUNT; i++) {
        hidden_states[i] = (float)(i - 5);
    }
    const struct graft_batch batch = {.struct_size = sizeof batch, .sequences = 1, .tokens = TOKENS};
    const struct graft_decoder_layer_args args = {
        .struct_size = sizeof args, .batch = &batch, .hidden_states = hidden_states};
    graft_call_init(&call, GRAFT_PRECISION_FLOAT32, scratch);
    const struct graft_layer_steps none = {0};
    const struct graft_pass pass = {&call, TOKENS, &error};
    graft_layer_run(&layer, &none, &pass, &args);
    assert_int_equal(error.code, GRAFT_OK);
    graft_scratch_destroy(scratch);
}

static const struct graft_module *norm_if(int which, int i) {
    return (which & (1 << i)) != 0 ? &norms[i] : NULL;
}

static void run_arrangement(int which, int parallel, float scale) {
    const struct graft_layer layer = {.attention = &attention,
                                      .mlp = &mlp,
                                      .attention_norm = norm_if(which, 0),
                                      .attention_output_norm = norm_if(which, 1),
                                      .mlp_norm = norm_if(which, 2),
                                      .mlp_output_norm = norm_if(which, 3),
                                      .parallel = parallel,
                                      .residual_scale = scale,
                                      .attention_skip = 1.0f,
                                      .attention_scale = 1.0f,
                                      .mlp_skip = 1.0f,
                                      .mlp_scale = 1.0f};
    float hidden_states[COUNT];
    run(layer, hidden_states);
    for (int i = 0; i < COUNT; i++) {
        assert_true(hidden_states[i] == expected((float)(i - 5), which, parallel, scale));
    }
}

static void test_arrangements(void **state) {
    (void)state;
    make_norms();
    for (int which = 0; which < 16; which++) {
        for (int parallel = 0; parallel < 2; parallel++) {
            run_arrangement(which, parallel, 1.0f);
            run_arrangement(which, parallel, 0.25f);
        }
    }
}

static float beside(float x) {
    const float sum = x + attention_of(factors[0] * x) + mixer_of(factors[0] * x);
    return sum + mlp_of(factors[2] * sum);
}

static float mixed(float x) {
    const float sum = x + mixer_of(factors[0] * x);
    return sum + mlp_of(factors[2] * sum);
}

static float fed(float x) {
    return x + mlp_of(factors[2] * x);
}

static float attended(float x) {
    return x + attention_of(factors[0] * x);
}

static float mixed_twice(float x) {
    const float sum = x + attention_of(factors[0] * x);
    return sum + mixer_of(factors[2] * sum);
}

static float from_norms(float x) {
    const float seen = factors[0] * x;
    const float then = factors[2] * (2.0f * seen + 0.5f * attention_of(seen));
    return 4.0f * then + 0.25f * mlp_of(then);
}

/* A mixer in the place of attention, beside it, and as the MLP; one of both alone; sums that start from norms. */
static void test_mixed(void **state) {
    static const struct graft_module *const a_norm = &norms[0], *const m_norm = &norms[2];
    const struct {
        struct graft_layer layer;
        float (*expected)(float x);
    } cases[] = {
        {{.attention = &attention, .mixer = &mixer, .mlp = &mlp, .attention_norm = a_norm, .mlp_norm = m_norm, ONES},
         beside},
        {{.mixer = &mixer, .mlp = &mlp, .attention_norm = a_norm, .mlp_norm = m_norm, ONES}, mixed},
        {{.mlp = &mlp, .mlp_norm = m_norm, ONES}, fed},
        {{.attention = &attention, .attention_norm = a_norm, ONES}, attended},
        {{.attention = &attention, .mlp = &mixer, .mlp_mixes = 1, .attention_norm = a_norm, .mlp_norm = m_norm, ONES},
         mixed_twice},
        {{.attention = &attention,
          .mlp = &mlp,
          .attention_norm = a_norm,
          .mlp_norm = m_norm,
          .residual_normed = 1,
          .residual_scale = 1.0f,
          .attention_skip = 2.0f,
          .attention_scale = 0.5f,
          .mlp_skip = 4.0f,
          .mlp_scale = 0.25f},
         from_norms},
    };
    (void)state;
    make_norms();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float hidden_states[COUNT];
        run(cases[i].layer, hidden_states);
        for (int k = 0; k < COUNT; k++) {
            assert_true(hidden_states[k] == cases[i].expected((float)(k - 5)));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arrangements), cmocka_unit_test(test_mixed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
