/* SPDX-License-Identifier: Apache-2.0 */
/* test_quantized CASE-DIRECTORY PLUGINS-DIRECTORY [best]: a quantized checkpoint with the plugins of the directory, in
 * every instruction set or in the best one. Logits and greedy ids are those of the dequantized weights, which are
 * exact, also where projections are joined, and little is copied. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "check.h"
#include "compare.h"
#include "graft/linear.h"
#include "kernels/cpu.h"
#include "kernels/kernels.h"
#include "kernels/scratch.h"

/* The length of the vectors that weights are read with: beside it a bias is lost, and scaling by it is exact. */
static const float large = 0x1p100F;

/* W [out, in], read by multiplying unit vectors with the module, `at_once` of them in one call. */
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

/* A product does not tell -0 from 0, so a zero gets the sign of the code in the file. */
static void sign_zeros(const struct graft_checkpoint *checkpoint, const char *name, float *weights, int64_t count) {
    const struct graft_tensor_view *codes = graft_checkpoint_find(checkpoint, name);
    for (int64_t i = 0; codes != NULL && codes->dtype == GRAFT_DTYPE_F8_E4M3 && i < count; i++) {
        weights[i] = ((const uint8_t *)codes->data)[i] == 0x80 ? -weights[i] : weights[i];
    }
}

/* A module, or some rows of one that joins it with others. */
struct place {
    const struct graft_module *module;
    int64_t rows;  /* of the module */
    int64_t first; /* of them */
};

/* A kind of arithmetic. Few tokens are multiplied with exact weights, since rounding does not change unit vectors; many
 * with exact ones or, where products are bf16, with weights rounded once. */
static void compare_weights(const graft_json *expected, const struct runner *runner, const struct place *place,
                            int32_t precision) {
    const char *name = graft_json_string(graft_json_get(expected, "name"), NULL);
    const char *digest = graft_json_string(graft_json_get(expected, "sha256"), NULL);
    int64_t out = graft_json_int(graft_json_at(graft_json_get(expected, "shape"), 0));
    int64_t in = graft_json_int(graft_json_at(graft_json_get(expected, "shape"), 1));
    const float allowed = precision == GRAFT_PRECISION_FLOAT32 ? 0.0F : 0x1p-8F;
    float *all_few = weights_of(place->module, precision, place->rows, in, 8);
    float *all_many = weights_of(place->module, precision, place->rows, in, 32);
    float *few = all_few + place->first * in, *many = all_many + place->first * in;
    int64_t wrong = 0;
    char hex[GRAFT_SHA256_DIGITS + 1];
    sign_zeros(runner->model->checkpoint, name, few, out * in);
    graft_sha256_of(few, (size_t)(out * in) * sizeof *few, hex);
    check(strcmp(hex, digest) == 0, "%s: dequantized weights differ, few tokens, precision %d", name, (int)precision);
    for (int64_t i = 0; i < out * in; i++) {
        wrong += fabsf(many[i] - few[i]) > fabsf(few[i]) * allowed;
    }
    check(wrong == 0, "%s: %lld dequantized weights differ, many tokens, precision %d", name, (long long)wrong,
          (int)precision);
    free(all_few);
    free(all_many);
}

static int64_t first_number(const struct graft_node *node, const char *name) {
    for (size_t i = 0; i < node->n_attributes; i++) {
        if (strcmp(node->attributes[i].name, name) == 0) {
            return node->attributes[i].values[0];
        }
    }
    return 0;
}

/* Projections that plugins join, and the place of their rows: `after` times as many before the end; 0: at the
 * start. */
static const struct {
    const char *name;
    const char *joined;
    int64_t after;
} parts[] = {
    {"q_proj", "qkv_proj", 0},        {"k_proj", "qkv_proj", 2},      {"v_proj", "qkv_proj", 1},
    {"gate_proj", "gate_up_proj", 0}, {"up_proj", "gate_up_proj", 1},
};

static struct place find_joined(const struct runner *runner, const char *path, int64_t out) {
    const char *name = strrchr(path, '.') + 1;
    char joined[256];
    size_t i = 0;
    while (i < sizeof parts / sizeof parts[0] && strcmp(parts[i].name, name) != 0) {
        i++;
    }
    if (i == sizeof parts / sizeof parts[0]) {
        return (struct place){0};
    }
    (void)snprintf(joined, sizeof joined, "%.*s%s", (int)(name - path), path, parts[i].joined);
    const struct graft_node *node = graft_node_find(runner->model->tree->root, joined);
    if (node == NULL || node->original == NULL) {
        return (struct place){0};
    }
    const int64_t rows = first_number(node, "out_features");
    return (struct place){&node->module, rows, parts[i].after > 0 ? rows - parts[i].after * out : 0};
}

static struct place find_place(const struct runner *runner, const char *path, int64_t out) {
    const struct graft_node *node = graft_node_find(runner->model->tree->root, path);
    return node != NULL ? (struct place){node->original != NULL ? &node->module : NULL, out, 0}
                        : find_joined(runner, path, out);
}

static void compare_weight(const graft_json *expected, const struct runner *runner) {
    const char *name = graft_json_string(graft_json_get(expected, "name"), NULL);
    char path[256];
    if (strstr(name, ".experts.") != NULL && strstr(name, ".weight") == NULL) {
        return; /* stacked: their module multiplies several of them; plugins/mxfp4 tests these */
    }
    (void)snprintf(path, sizeof path, "%.*s", (int)(strlen(name) - strlen(".weight")), name);
    const struct place place =
        find_place(runner, path, graft_json_int(graft_json_at(graft_json_get(expected, "shape"), 0)));
    check(place.module != NULL, "%s is not replaced", path);
    if (place.module != NULL) {
        compare_weights(expected, runner, &place, GRAFT_PRECISION_FLOAT32);
        compare_weights(expected, runner, &place, GRAFT_PRECISION_AUTO);
    }
}

/* Whether a parameter may be a copy: joined projections, scales that are stored as exponents, and scales and zero
 * points that are stored with outputs last. */
static int may_be_copied(const struct graft_binding *binding) {
    const char *name = binding->parameter->name;
    return strstr(name, ".qkv_proj.") != NULL || strstr(name, ".gate_up_proj.") != NULL ||
           strstr(name, "._scales") != NULL || strstr(name, "._shifts") != NULL ||
           (binding->value.n_parts > 0 && binding->value.parts[0].tensor->dtype == GRAFT_DTYPE_F8_E8M0);
}

static void check_plan(const struct graft_plan *plan) {
    int64_t copied = 0;
    for (size_t i = 0; i < plan->n_bindings; i++) {
        const struct graft_binding *binding = &plan->bindings[i];
        const int may_be = binding->status == GRAFT_BINDING_INITIAL || may_be_copied(binding);
        copied += may_be ? 0 : binding->copied * binding->bytes;
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
    compare_many(golden, &runner, isa);
    check(weights != NULL, "no quantized_weights"); /* an empty list, if inputs are normalized first */
    for (size_t i = 0; i < graft_json_size(weights); i++) {
        compare_weight(graft_json_at(weights, i), &runner);
    }
    runner_close(&runner);
}

int main(int argc, char **argv) {
    struct golden golden;
    const int only_best = argc == 4 && strcmp(argv[3], "best") == 0;
    if (argc != 3 && !only_best) {
        (void)fputs("usage: test_quantized CASE-DIRECTORY PLUGINS-DIRECTORY [best]\n", stderr);
        return 2;
    }
    golden_open(&golden, argv[1]);
    for (int isa = only_best ? graft_cpu_best_isa() : GRAFT_ISA_SCALAR; isa <= graft_cpu_best_isa(); isa++) {
        check_case(&golden, argv[2], graft_cpu_isa_name(isa));
    }
    golden_close(&golden);
    return check_failures() != 0;
}
