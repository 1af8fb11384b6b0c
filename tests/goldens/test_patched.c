/* SPDX-License-Identifier: Apache-2.0 */
/* test_patched CASE-DIRECTORY PLUGINS-DIRECTORY: a model with replaced classes computes the same bits without copying a
 * byte of its weights, and agrees with the reference if that could load it. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "compare.h"
#include "kernels/cpu.h"

enum { MORE_TOKENS = 4 };

static int count_replaced(void *data, struct graft_node *node, struct graft_error *error) {
    size_t *replaced = data;
    (void)error;
    *replaced += node->original != NULL;
    return GRAFT_OK;
}

static void check_plan(const struct runner *patched) {
    size_t replaced = 0;
    const struct graft_plan *plan = patched->model->plan;
    (void)graft_tree_walk(patched->model->tree, count_replaced, &replaced, NULL);
    check(replaced > 0, "nothing was replaced");
    check(plan->copied_bytes == 0, "%lld bytes copied", (long long)plan->copied_bytes);
    check(plan->n_unexpected == 0, "%zu tensors unexpected", plan->n_unexpected);
}

/* Compares the prompt and some more tokens, patched and unpatched, bit by bit. */
static void check_same(const struct golden *golden, const struct runner *plain, const struct runner *patched,
                       const char *what) {
    size_t n = golden->n_ids;
    float *expected = runner_logits(plain, golden->ids, n);
    float *got = runner_logits(patched, golden->ids, n);
    double prompt = max_difference(expected, got, n * plain->vocab_size);
    free(expected);
    free(got);
    size_t more = n < MORE_TOKENS ? n : MORE_TOKENS;
    expected = runner_continue(plain, golden->ids, n, golden->ids, more);
    got = runner_continue(patched, golden->ids, n, golden->ids, more);
    double after = max_difference(expected, got, (more + 1) * plain->vocab_size);
    free(expected);
    free(got);
    check(prompt == 0.0 && after == 0.0, "%s: patched differs by %g in the prompt, by %g after it", what, prompt,
          after);
}

static void check_equal_runs(const struct golden *golden, const char *plugins, int32_t precision) {
    struct runner plain;
    struct runner patched;
    int used = graft_cpu_isa();
    runner_open(&plain, golden->directory, NULL, precision);
    runner_open(&patched, golden->directory, plugins, precision);
    check_plan(&patched);
    for (int isa = GRAFT_ISA_SCALAR; isa <= graft_cpu_best_isa(); isa++) {
        char what[64];
        graft_cpu_set_isa(isa);
        (void)snprintf(what, sizeof what, "%s, %s", precision == GRAFT_PRECISION_AUTO ? "auto" : "float32",
                       graft_cpu_isa_name(isa));
        check_same(golden, &plain, &patched, what);
    }
    graft_cpu_set_isa(used);
    runner_close(&patched);
    runner_close(&plain);
}

/* For cases that the reference ran patched, too: compares structure and numbers. */
static void check_reference(const struct golden *golden, const char *plugins) {
    struct runner patched;
    runner_open(&patched, golden->directory, plugins, GRAFT_PRECISION_FLOAT32);
    compare_structure(golden, &patched);
    compare_logits(golden, &patched, "float32");
    if (golden->n_greedy > 0) {
        compare_greedy(golden, &patched);
    }
    compare_spread(golden, plugins);
    runner_close(&patched);
}

int main(int argc, char **argv) {
    struct golden golden;
    if (argc != 3) {
        (void)fputs("usage: test_patched CASE-DIRECTORY PLUGINS-DIRECTORY\n", stderr);
        return 2;
    }
    golden_open(&golden, argv[1]);
    check_equal_runs(&golden, argv[2], GRAFT_PRECISION_FLOAT32);
    check_equal_runs(&golden, argv[2], GRAFT_PRECISION_AUTO);
    if (graft_json_get(golden.document, "registered_patches") != NULL && golden.tensors != NULL) {
        check_reference(&golden, argv[2]);
    }
    golden_close(&golden);
    return check_failures() != 0;
}
