/* SPDX-License-Identifier: Apache-2.0 */
/* test_quantized CASE-DIRECTORY PLUGINS-DIRECTORY: a quantized checkpoint with whatever plugins there are. Logits and
 * greedy ids are those of the dequantized weights, these are exact, and nothing is copied; in every instruction set. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compare.h"
#include "graft/linear.h"
#include "graft/packed.h"
#include "kernels/cpu.h"
#include "kernels/kernels.h"
#include "kernels/scratch.h"
#include "sha256.h"

/* So long are the vectors that weights are asked for by: a bias is lost beside them, and scaling is exact. */
static const float large = 0x1p100F;

/* W [out, in], as a module multiplies the unit vectors: `at_once` of them in one call. */
static float *weights_of(const struct graft_module *module, int32_t precision, int64_t out, int64_t in,
                         int64_t at_once) {
    struct graft_error error = graft_error_none();
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    float *units = need_memory((size_t)(in * in), sizeof *units);
    float *columns = need_memory((size_t)(in * out), sizeof *columns);
    float *weights = need_memory((size_t)(in * out), sizeof *weights);
    graft_call_init(&call, precision, scratch);
    for (int64_t i = 0; i < in; i++) {
        units[i * in + i] = large;
    }
    for (int64_t i = 0; i < in; i += at_once) {
        const int64_t n = in - i < at_once ? in - i : at_once;
        const struct graft_linear_args args = {sizeof args, 0, n, units + i * in, columns + i * out};
        need(graft_linear_forward(module, &call, &args, &error), &error);
    }
    for (int64_t i = 0; i < in * out; i++) {
        float weight = columns[i] / large;
        weights[i % out * in + i / out] = weight > 0x1p-60F || weight < -0x1p-60F ? weight : 0.0F;
    }
    graft_scratch_destroy(scratch);
    free(units);
    free(columns);
    return weights;
}

/* A product cannot tell -0 from 0, so its sign is that of the code in the file. */
static void sign_zeros(const struct graft_checkpoint *checkpoint, const char *name, float *weights, int64_t count) {
    const struct graft_tensor_view *codes = graft_checkpoint_find(checkpoint, name);
    for (int64_t i = 0; codes != NULL && codes->dtype == GRAFT_DTYPE_F8_E4M3 && i < count; i++) {
        weights[i] = ((const uint8_t *)codes->data)[i] == 0x80 ? -weights[i] : weights[i];
    }
}

/* One kind of arithmetic: few tokens by exact weights, since unit vectors lose nothing when they are rounded, and many
 * by exact ones or, where products are bf16, by those rounded once. */
static void compare_weights(const graft_json *expected, const struct runner *runner, const struct graft_module *module,
                            int32_t precision) {
    const char *name = graft_json_string(graft_json_get(expected, "name"), NULL);
    const char *digest = graft_json_string(graft_json_get(expected, "sha256"), NULL);
    int64_t out = graft_json_int(graft_json_at(graft_json_get(expected, "shape"), 0));
    int64_t in = graft_json_int(graft_json_at(graft_json_get(expected, "shape"), 1));
    const float allowed = precision == GRAFT_PRECISION_FLOAT32 ? 0.0F : 0x1p-8F;
    float *few = weights_of(module, precision, out, in, 8);
    float *many = weights_of(module, precision, out, in, 32);
    int64_t wrong = 0;
    char hex[65];
    sign_zeros(runner->model->checkpoint, name, few, out * in);
    sha256(few, (size_t)(out * in) * sizeof *few, hex);
    check(strcmp(hex, digest) == 0, "%s: dequantized weights differ, few tokens, precision %d", name, (int)precision);
    for (int64_t i = 0; i < out * in; i++) {
        wrong += fabsf(many[i] - few[i]) > fabsf(few[i]) * allowed;
    }
    check(wrong == 0, "%s: %lld dequantized weights differ, many tokens, precision %d", name, (long long)wrong,
          (int)precision);
    free(few);
    free(many);
}

static void compare_weight(const graft_json *expected, const struct runner *runner) {
    const char *name = graft_json_string(graft_json_get(expected, "name"), NULL);
    char path[256];
    if (strstr(name, ".experts.") != NULL && strstr(name, ".weight") == NULL) {
        return; /* stacked: their module multiplies with more than one of them; plugins/mxfp4 tests these */
    }
    (void)snprintf(path, sizeof path, "%.*s", (int)(strlen(name) - strlen(".weight")), name);
    const struct graft_node *node = graft_node_find(runner->model->tree->root, path);
    check(node != NULL && node->original != NULL, "%s is not replaced", path);
    if (node != NULL && node->original != NULL) {
        compare_weights(expected, runner, &node->module, GRAFT_PRECISION_FLOAT32);
        compare_weights(expected, runner, &node->module, GRAFT_PRECISION_AUTO);
    }
}

/* Many tokens are multiplied in another way than few: the prompt six times over gives what it gives piece by piece. */
static void check_many(const struct golden *golden, const struct runner *runner, const char *isa) {
    size_t n = 6 * golden->n_ids, vocab_size = runner->vocab_size;
    int32_t *ids = need_memory(n, sizeof *ids);
    for (size_t i = 0; i < n; i++) {
        ids[i] = golden->ids[i % golden->n_ids];
    }
    float *whole = runner_logits(runner, ids, n);
    struct graft_session *session = runner_session(runner, 1);
    for (size_t i = 0; i < n; i += golden->n_ids) {
        const float *piece = runner_step(session, ids + i, golden->n_ids, GRAFT_LOGITS_ALL);
        double difference = max_difference(piece, whole + i * vocab_size, golden->n_ids * vocab_size);
        check(difference <= F32_TOLERANCE, "%s: %zu tokens at once: %g from piece by piece", isa, n, difference);
    }
    graft_session_free(session);
    free(whole);
    free(ids);
}

static void check_plan(const struct graft_plan *plan) {
    int64_t copied = 0;
    for (size_t i = 0; i < plan->n_bindings; i++) {
        const struct graft_binding *binding = &plan->bindings[i];
        copied += binding->status == GRAFT_BINDING_INITIAL ? 0 : binding->copied * binding->bytes;
        check(binding->status != GRAFT_BINDING_MISSING, "%s is missing", binding->parameter->name);
    }
    check(copied == 0, "%lld bytes copied", (long long)copied);
    check(plan->n_unexpected == 0, "%zu tensors unexpected", plan->n_unexpected);
}

static void check_case(const struct golden *golden, const char *plugins, const char *isa) {
    struct runner runner;
    const graft_json *weights = graft_json_get(golden->document, "quantized_weights");
    (void)setenv("GRAFT_ISA", isa, 1);
    runner_open(&runner, golden->directory, plugins, GRAFT_PRECISION_FLOAT32);
    check_plan(runner.model->plan);
    compare_logits(golden, &runner, isa);
    compare_greedy(golden, &runner);
    check_many(golden, &runner, isa);
    check(graft_json_size(weights) > 0, "no quantized_weights");
    for (size_t i = 0; i < graft_json_size(weights); i++) {
        compare_weight(graft_json_at(weights, i), &runner);
    }
    runner_close(&runner);
}

int main(int argc, char **argv) {
    struct golden golden;
    if (argc != 3) {
        (void)fputs("usage: test_quantized CASE-DIRECTORY PLUGINS-DIRECTORY\n", stderr);
        return 2;
    }
    golden_open(&golden, argv[1]);
    for (int isa = GRAFT_ISA_SCALAR; isa <= graft_cpu_best_isa(); isa++) {
        check_case(&golden, argv[2], graft_cpu_isa_name(isa));
    }
    golden_close(&golden);
    return check_failures() != 0;
}
