/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

double compare_tolerance(const struct golden *golden) {
    return fmax(F32_TOLERANCE, 3.0 * golden_f64_difference(golden));
}

void compare_logits(const struct golden *golden, const struct runner *runner, const char *what) {
    const float *expected = golden_tensor(golden, "logits", golden->n_ids, runner->vocab_size);
    float *logits = runner_logits(runner, golden->ids, golden->n_ids);
    double difference = max_difference(logits, expected, golden->n_ids * runner->vocab_size);
    check(difference <= compare_tolerance(golden), "%s: logits differ by %g", what, difference);
    free(logits);
}

static int32_t argmax(const float *row, size_t count) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        best = row[i] > row[best] ? i : best;
    }
    return (int32_t)best;
}

void compare_greedy(const struct golden *golden, const struct runner *runner) {
    size_t n = golden->n_greedy;
    const float *expected = golden_tensor(golden, "greedy_logits", n, runner->vocab_size);
    float *rows = runner_continue(runner, golden->ids, golden->n_ids, golden->greedy_ids, n - 1);
    for (size_t i = 0; i < n; i++) {
        const float *row = rows + i * runner->vocab_size;
        int32_t id = argmax(row, runner->vocab_size);
        double difference = max_difference(row, expected + i * runner->vocab_size, runner->vocab_size);
        check(id == golden->greedy_ids[i], "greedy id %zu is %d, expected %d", i, (int)id, (int)golden->greedy_ids[i]);
        check(difference <= compare_tolerance(golden), "greedy logits of step %zu differ by %g", i, difference);
    }
    free(rows);
}

/* What was found while walking the tree. */
struct census {
    size_t modules;
    size_t parameters;
};

static int count_node(void *data, struct graft_node *node, struct graft_error *error) {
    struct census *census = data;
    (void)error;
    census->modules +=
        node->wrapper == NULL; /* the original beside a replacement: the reference has a single module for both */
    census->parameters += node->n_parameters;
    return GRAFT_OK;
}

static size_t compare_modules(const graft_json *modules, struct graft_node *root) {
    void *iterator = NULL;
    const char *path;
    const graft_json *value;
    while (graft_json_next(modules, &iterator, &path, &value)) {
        const struct graft_node *node = graft_node_find(root, strcmp(path, "<root>") == 0 ? "" : path);
        const char *expected = graft_json_string(value, NULL);
        check(node != NULL, "there is no module %s", path);
        check(node == NULL || strcmp(node->class_name, expected) == 0, "%s is a %s, expected %s", path,
              node != NULL ? node->class_name : "", expected);
    }
    return graft_json_size(modules);
}

static void compare_parameter(const graft_json *expected, struct graft_node *root) {
    const char *name = graft_json_string(graft_json_get(expected, "name"), NULL);
    const graft_json *shape = graft_json_get(expected, "shape");
    const struct graft_parameter *parameter = graft_node_find_parameter(root, name);
    check(parameter != NULL, "there is no parameter %s", name);
    if (parameter == NULL) {
        return;
    }
    check(strcmp(parameter->name, name) == 0, "%s is called %s", name, parameter->name);
    check((size_t)parameter->rank == graft_json_size(shape), "%s has %d dimensions", name, (int)parameter->rank);
    for (int32_t i = 0; i < parameter->rank; i++) {
        long long size = (long long)graft_json_int(graft_json_at(shape, (size_t)i));
        check(parameter->shape[i] == size, "%s has the size %lld in dimension %d, expected %lld", name,
              (long long)parameter->shape[i], (int)i, size);
    }
}

void compare_structure(const struct golden *golden, const struct runner *runner) {
    const graft_json *runtime = graft_json_get(golden->document, "runtime");
    const graft_json *parameters = graft_json_get(runtime, "parameters");
    struct graft_tree *tree = runner->model->tree;
    struct census census = {0};
    size_t modules = compare_modules(graft_json_get(runtime, "modules"), tree->root);
    for (size_t i = 0; i < graft_json_size(parameters); i++) {
        compare_parameter(graft_json_at(parameters, i), tree->root);
    }
    (void)graft_tree_walk(tree, count_node, &census, NULL);
    check(modules > 0 && census.modules == modules, "%zu modules, expected %zu", census.modules, modules);
    check(census.parameters == graft_json_size(parameters), "%zu parameters, expected %zu", census.parameters,
          graft_json_size(parameters));
}

void compare_spread(const struct golden *golden, const char *plugins) {
    const char *dtype = graft_json_string(graft_json_get(golden->document, "dtype_on_disk"), NULL);
    double spread = dtype != NULL ? golden_spread(golden, dtype) : -1.0;
    struct runner runner;
    if (spread < 0.0) {
        check(dtype == NULL || strcmp(dtype, "float32") == 0, "no reference_spread for %s", dtype);
        return;
    }
    runner_open(&runner, golden->directory, plugins, GRAFT_PRECISION_AUTO);
    size_t count = golden->n_ids * runner.vocab_size;
    float *logits = runner_logits(&runner, golden->ids, golden->n_ids);
    double rms = rms_difference(logits, golden_tensor(golden, "logits", golden->n_ids, runner.vocab_size), count);
    (void)printf("%s: rms %g, the reference's own %g\n", dtype, rms, spread);
    check(rms <= spread, "%s: rms from the f32 reference %g, the reference's own is %g", dtype, rms, spread);
    free(logits);
    runner_close(&runner);
}

void compare_many(const struct golden *golden, const struct runner *runner, const char *what) {
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
        check(difference <= F32_TOLERANCE, "%s: %zu tokens at once: %g from piece by piece", what, n, difference);
    }
    graft_session_free(session);
    free(whole);
    free(ids);
}
