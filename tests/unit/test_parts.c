/* SPDX-License-Identifier: Apache-2.0 */
/* The layer of graft/parts.h in every arrangement of its norms, one after the other and in parallel: against the sums
 * that define it, on modules whose arithmetic is exact. */
#include "graft/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graft/attention.h"
#include "kernels/kernels.h"
#include "kernels/scratch.h"
#include "plugin/host_services.h"

enum { TOKENS = 3, HIDDEN = 4, COUNT = TOKENS * HIDDEN };

/* The number that each norm multiplies by: input of attention, its output, input of the MLP, its output. */
static const float factors[] = {2.0f, -1.0f, 0.5f, 3.0f};
static const char *const norm_names[] = {"a_norm", "a_output_norm", "m_norm", "m_output_norm"};

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

static struct graft_module modules[6];

static const struct graft_module *find_child(void *data, const char *name) {
    (void)data;
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(name, norm_names[i]) == 0) {
            return &modules[i];
        }
    }
    return strcmp(name, "attention") == 0 ? &modules[4] : strcmp(name, "mlp") == 0 ? &modules[5] : NULL;
}

/* What `declare` says: the children, and what it keeps. */
struct declared {
    struct graft_parts_layer kept;
    int n_children;
};

static int take_child(void *data, const struct graft_child_info *info, struct graft_error *error) {
    struct declared *declared = data;
    (void)error;
    assert_non_null(find_child(NULL, info->name));
    declared->n_children++;
    return GRAFT_OK;
}

static void *keep(void *data, int64_t bytes, struct graft_error *error) {
    struct declared *declared = data;
    (void)error;
    assert_int_equal(bytes, sizeof declared->kept);
    return &declared->kept;
}

static float expected(float x, int norms, int parallel) {
    float seen = (norms & 1) != 0 ? x * factors[0] : x;
    float attended = attention_of(seen) * ((norms & 2) != 0 ? factors[1] : 1.0f);
    if (!parallel || (norms & 4) != 0) {
        seen = (parallel ? x : x + attended) * ((norms & 4) != 0 ? factors[2] : 1.0f);
    }
    return x + attended + mlp_of(seen) * ((norms & 8) != 0 ? factors[3] : 1.0f);
}

static void run(int norms, int parallel) {
    const struct graft_parts_layer part = {
        .attention = "attention",
        .attention_class = "Attention",
        .mlp = "mlp",
        .mlp_class = "MLP",
        .norm_class = "Norm",
        .attention_norm = (norms & 1) != 0 ? norm_names[0] : NULL,
        .attention_output_norm = (norms & 2) != 0 ? norm_names[1] : NULL,
        .mlp_norm = (norms & 4) != 0 ? norm_names[2] : NULL,
        .mlp_output_norm = (norms & 8) != 0 ? norm_names[3] : NULL,
        .parallel = parallel,
    };
    const struct graft_arg item = graft_int_arg("hidden_size", HIDDEN);
    const struct graft_args args = graft_args_of(&item, 1);
    struct declared declared = {0};
    const struct graft_sink sink = {.struct_size = sizeof sink, .data = &declared, .child = take_child, .keep = keep};
    const struct graft_build build = {.struct_size = sizeof build,
                                      .host = graft_host_get(),
                                      .args = &args,
                                      .child = find_child,
                                      .kept = &declared.kept};
    struct graft_error error = graft_error_none();
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    float hidden_states[COUNT];
    void *instance = NULL;
    assert_int_equal(graft_parts_layer_declare(&part, NULL, &args, &sink, &error), GRAFT_OK);
    assert_int_equal(declared.n_children, 2 + __builtin_popcount((unsigned)norms));
    assert_int_equal(graft_parts_layer_create(NULL, &build, &instance, &error), GRAFT_OK);
    for (int i = 0; i < COUNT; i++) {
        hidden_states[i] = (float)(i - 5);
    }
    const struct graft_batch batch = {.struct_size = sizeof batch, .sequences = 1, .tokens = TOKENS};
    const struct graft_decoder_layer_args layer_args = {
        .struct_size = sizeof layer_args, .batch = &batch, .hidden_states = hidden_states};
    graft_call_init(&call, GRAFT_PRECISION_FLOAT32, scratch);
    assert_int_equal(graft_parts_layer_vtable.forward(instance, &call, &layer_args, &error), GRAFT_OK);
    for (int i = 0; i < COUNT; i++) {
        assert_true(hidden_states[i] == expected((float)(i - 5), norms, parallel));
    }
    graft_instance_destroy(instance);
    graft_scratch_destroy(scratch);
}

static void test_arrangements(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        modules[i] = (struct graft_module){.instance = (void *)(uintptr_t)&factors[i], .forward = &norm_vtable};
    }
    modules[4].forward = &attention_vtable;
    modules[5].forward = &mlp_vtable;
    for (int norms = 0; norms < 16; norms++) {
        run(norms, 0);
        run(norms, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arrangements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
