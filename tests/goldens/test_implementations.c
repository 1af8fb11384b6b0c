/* SPDX-License-Identifier: Apache-2.0 */
/* test_implementations CASE-DIRECTORY PLUGINS-DIRECTORY IMPLEMENTATIONS-DIRECTORY: implementations chosen by name
 * compute the same function, with the original classes and with replaced ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compare.h"

static struct graft_model_options options_of(const char *attention, const char *experts, const char *const *kernels,
                                             int32_t n_kernels) {
    return (struct graft_model_options){.struct_size = sizeof(struct graft_model_options),
                                        .precision = GRAFT_PRECISION_FLOAT32,
                                        .attn_implementation = attention,
                                        .experts_implementation = experts,
                                        .kernels = kernels,
                                        .n_kernels = n_kernels};
}

/* Naming an experts implementation is an error for a model without stacked experts, so experts_named gives NULL for
 * those. */
static int has_stacked_experts;

static const char *experts_named(const char *name) {
    return has_stacked_experts ? name : NULL;
}

/* The logits of the whole prompt, then of one more token: [n_ids + 1, vocab_size]. */
static float *logits_of(const struct golden *golden, const char *plugins, const struct graft_model_options *options) {
    struct runner runner;
    runner_open_with(&runner, golden->directory, plugins, options);
    size_t rows = golden->n_ids * runner.vocab_size;
    float *logits = need_memory(rows + 2 * runner.vocab_size, sizeof *logits);
    float *prompt = runner_logits(&runner, golden->ids, golden->n_ids);
    float *after = runner_continue(&runner, golden->ids, golden->n_ids, golden->greedy_ids, 1);
    memcpy(logits, prompt, rows * sizeof *logits);
    memcpy(logits + rows, after, 2 * runner.vocab_size * sizeof *logits);
    free(prompt);
    free(after);
    runner_close(&runner);
    return logits;
}

static void check_close(const struct golden *golden, const char *plugins, const struct graft_model_options *options,
                        const char *what) {
    struct runner runner;
    runner_open_with(&runner, golden->directory, plugins, options);
    compare_logits(golden, &runner, what);
    compare_greedy(golden, &runner);
    runner_close(&runner);
}

/* Compares to the bit: the products have the same shape and order of sums. */
static void check_equal(const struct golden *golden, const char *plugins) {
    const struct graft_model_options eager = options_of(NULL, experts_named("eager"), NULL, 0);
    const struct graft_model_options grouped = options_of(NULL, experts_named("grouped_mm"), NULL, 0);
    const struct graft_model_options usual = options_of(NULL, NULL, NULL, 0);
    float *a = logits_of(golden, NULL, &eager);
    float *b = logits_of(golden, NULL, &grouped);
    float *c = logits_of(golden, NULL, &usual);
    float *d = logits_of(golden, plugins, &usual);
    struct runner runner;
    runner_open(&runner, golden->directory, NULL, GRAFT_PRECISION_FLOAT32);
    size_t bytes = (golden->n_ids + 2) * runner.vocab_size * sizeof *a;
    runner_close(&runner);
    check(memcmp(a, b, bytes) == 0, "experts: eager and grouped_mm differ");
    check(memcmp(b, c, bytes) == 0, "experts: grouped_mm is not what is usual");
    check(memcmp(a, d, bytes) == 0, "experts: eager and replaced classes differ");
    free(a);
    free(b);
    free(c);
    free(d);
}

/* Counts the calls of each implementation, which calls the host's. */
static int attention_calls;
static int experts_calls;

static int count_attention(const struct graft_attention_implementation *self, const struct graft_call *call,
                           const struct graft_attention_input *input, struct graft_error *error) {
    const struct graft_attention_implementation *inner = self->data;
    attention_calls++;
    return inner->forward(inner, call, input, error);
}

static int count_experts(const struct graft_experts_implementation *self, const struct graft_call *call,
                         const struct graft_experts_input *input, struct graft_error *error) {
    const struct graft_experts_implementation *inner = self->data;
    experts_calls++;
    return inner->forward(inner, call, input, error);
}

struct layers {
    int attention;
    int experts; /* stacked ones */
};

static int count_layers(void *data, struct graft_node *node, struct graft_error *error) {
    struct layers *layers = data;
    const char *interface = node->known != NULL ? node->made_by->cls->interface_id : "";
    (void)error;
    layers->attention += strcmp(interface, "graft.self_attention/1") == 0;
    layers->experts += strcmp(interface, "graft.experts/1") == 0 && graft_node_parameter(node, "gate_up_proj") != NULL;
    return GRAFT_OK;
}

static int find_stacked_experts(const struct golden *golden) {
    struct layers layers = {0};
    struct runner runner;
    runner_open(&runner, golden->directory, NULL, GRAFT_PRECISION_FLOAT32);
    (void)graft_tree_walk(runner.model->tree, count_layers, &layers, NULL);
    runner_close(&runner);
    return layers.experts > 0;
}

/* All attention modules and stacked experts use the chosen implementation, those of replacing classes too. */
static void check_in_force(const struct golden *golden, const char *plugins) {
    struct layers layers = {0};
    struct runner runner;
    runner_open(&runner, golden->directory, plugins, GRAFT_PRECISION_FLOAT32);
    struct graft_attention_implementation attention =
        *(const struct graft_attention_implementation *)runner.model->attention->declared;
    struct graft_experts_implementation experts =
        *(const struct graft_experts_implementation *)runner.model->experts->declared;
    struct graft_session *session = runner_session(&runner, 1);
    attention.forward = count_attention;
    attention.data = runner.model->attention->declared;
    experts.forward = count_experts;
    experts.data = runner.model->experts->declared;
    attention_calls = experts_calls = 0;
    graft_session_use(session, &attention, 1, &experts);
    (void)runner_step(session, golden->ids, golden->n_ids, GRAFT_LOGITS_LAST);
    graft_session_free(session);
    (void)graft_tree_walk(runner.model->tree, count_layers, &layers, NULL);
    check(layers.attention > 0 && attention_calls == layers.attention,
          "%d of %d attentions go through the implementation", attention_calls, layers.attention);
    check(experts_calls == layers.experts, "%d of %d stacked experts go through the implementation", experts_calls,
          layers.experts);
    runner_close(&runner);
}

/* A session uses what the options name. */
static void check_names(const struct golden *golden, const char *implementations) {
    const struct graft_model_options options = options_of("plain", experts_named("batched_mm"), NULL, 0);
    struct runner runner;
    runner_open_with(&runner, golden->directory, implementations, &options);
    check(strcmp(runner.model->attention_now->name, "plain") == 0, "attention: plain is not in force");
    check(!has_stacked_experts || strcmp(runner.model->experts->name, "batched_mm") == 0,
          "experts: batched_mm is not in force");
    runner_close(&runner);
}

static int count_kernels(void *data, struct graft_node *node, struct graft_error *error) {
    size_t *kernels = data;
    (void)error;
    *kernels += strcmp(node->class_name, "PlainSiLU") == 0;
    return GRAFT_OK;
}

static void check_kernel(const struct golden *golden, const char *implementations) {
    const char *const names[] = {"plain"};
    const struct graft_model_options options = options_of(NULL, NULL, names, 1);
    struct runner runner;
    size_t kernels = 0;
    runner_open_with(&runner, golden->directory, implementations, &options);
    (void)graft_tree_walk(runner.model->tree, count_kernels, &kernels, NULL);
    check(kernels > 0, "the kernel is nowhere in force");
    runner_close(&runner);
    runner_open(&runner, golden->directory, implementations, GRAFT_PRECISION_FLOAT32);
    kernels = 0;
    (void)graft_tree_walk(runner.model->tree, count_kernels, &kernels, NULL);
    check(kernels == 0, "the kernel is in force without having been asked for");
    runner_close(&runner);
    check_close(golden, implementations, &options, "kernel plain");
}

static void check_unknown(const struct golden *golden) {
    const char *const names[] = {"fastest"};
    const struct graft_model_options wrong[] = {options_of("flash", NULL, NULL, 0), options_of(NULL, "flash", NULL, 0),
                                                options_of(NULL, NULL, names, 1)};
    const char *const lists[] = {"known: sdpa, eager", "known: grouped_mm, eager, batched_mm", "known: none"};
    struct graft_library *library = NULL;
    struct graft_error error = graft_error_none();
    need(graft_library_create(&library, &error), &error);
    for (size_t i = 0; i < 3; i++) {
        struct graft_model *model = NULL;
        error = graft_error_none();
        int status = graft_model_open(library, golden->directory, &wrong[i], &model, &error);
        check(status == GRAFT_ERROR_USAGE && strstr(error.message, lists[i]) != NULL, "unknown name %zu: %s", i,
              error.message);
    }
    graft_library_free(library);
}

int main(int argc, char **argv) {
    static const char *const attention[] = {"eager", "sdpa", "plain"};
    static const char *const experts[] = {"eager", "batched_mm", "plain"};
    struct golden golden;
    if (argc != 4) {
        (void)fputs("usage: test_implementations CASE-DIRECTORY PLUGINS-DIRECTORY IMPLEMENTATIONS-DIRECTORY\n", stderr);
        return 2;
    }
    golden_open(&golden, argv[1]);
    has_stacked_experts = find_stacked_experts(&golden);
    for (size_t i = 0; i < 3; i++) {
        const struct graft_model_options options = options_of(attention[i], experts_named(experts[i]), NULL, 0);
        check_close(&golden, argv[3], &options, attention[i]);
    }
    const struct graft_model_options eager = options_of("eager", NULL, NULL, 0);
    check_close(&golden, argv[2], &eager, "eager with replaced classes");
    check_equal(&golden, argv[2]);
    check_in_force(&golden, NULL);
    check_in_force(&golden, argv[2]);
    check_names(&golden, argv[3]);
    check_kernel(&golden, argv[3]);
    check_unknown(&golden);
    golden_close(&golden);
    return check_failures() != 0;
}
