/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the states of layers after a prompt with the reference's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compare.h"
#include "graft/causal_lm.h"
#include "kernels/cache.h"
#include "kernels/kernels.h"
#include "model/tree.h"

/* Runs the prompt, and then a batch that reads the resulting states. */
struct run {
    const struct golden *golden;
    struct graft_call call;
    struct graft_batch next; /* one token, whose layers see the states after the prompt */
    size_t compared;
};

/* The largest difference between a state and the reference's. Our layer may store the matrix transposed, and the
 * reference's convolutions keep one token more than they need. */
static double difference_from(const float *expected, const struct graft_tensor_view *tensor, const float *ours,
                              const struct graft_node_state *state) {
    int64_t rows = state->shape[state->rank - 2];
    int64_t columns = state->shape[state->rank - 1];
    int64_t last = tensor->shape[tensor->rank - 1];
    int32_t alike = last == columns && tensor->shape[tensor->rank - 2] == rows;
    int64_t first = alike ? 0 : last - rows;
    int64_t down = alike ? columns : 1;
    int64_t across = alike ? 1 : last;
    int64_t count = state->state.bytes / (int64_t)sizeof *ours;
    double largest = 0.0;
    for (int64_t i = 0; i < count; i++) {
        int64_t row = i / columns % rows;
        int64_t column = i % columns;
        int64_t before = i / (rows * columns) * (alike ? rows : last) * columns;
        float theirs = expected[before + first + row * down + column * across];
        largest = fmax(largest, fabs((double)ours[i] - (double)theirs));
    }
    return largest;
}

static int visit(void *data, struct graft_node *node, struct graft_error *error) {
    struct run *run = data;
    long long layer = 0;
    for (size_t i = 0; i < node->n_states; i++) {
        const struct graft_node_state *state = &node->states[i];
        char name[48];
        check(sscanf(strstr(node->path, "layers."), "layers.%lld", &layer) == 1, "%s is in no layer", node->path);
        (void)snprintf(name, sizeof name, "state.%lld.%s", layer,
                       strcmp(state->name, "conv_states") == 0 ? "conv" : "recurrent");
        const struct graft_tensor_view *tensor = graft_safetensors_find(run->golden->tensors, name);
        const float *ours = graft_cache_state(&run->call, &run->next, &state->state, 0, error);
        need(ours != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL, error);
        check(tensor != NULL, "the reference has no %s", name);
        double difference = tensor != NULL ? difference_from(tensor->data, tensor, ours, state) : 0.0;
        check(difference <= F32_TOLERANCE, "%s differs by %g", name, difference);
        run->compared++;
    }
    return GRAFT_OK;
}

void compare_states(const struct golden *golden, const struct runner *runner) {
    struct graft_tree *tree = runner->model->tree;
    int64_t count = (int64_t)golden->n_ids;
    const int32_t slot = 0;
    const int64_t cu_seqlens[] = {0, count};
    const int64_t next_cu_seqlens[] = {0, 1};
    struct run run = {.golden = golden};
    struct graft_error error = graft_error_none();
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_cache *cache = graft_cache_create(1, GRAFT_DTYPE_F32);
    int64_t *positions = need_memory(golden->n_ids, sizeof *positions);
    const struct graft_batch batch = {.struct_size = sizeof batch,
                                      .sequences = 1,
                                      .tokens = count,
                                      .cu_seqlens = cu_seqlens,
                                      .positions = positions,
                                      .slots = &slot,
                                      .cache = cache};
    const struct graft_causal_lm_args args = {.struct_size = sizeof args, .batch = &batch, .input_ids = golden->ids};
    for (int64_t i = 0; i < count; i++) {
        positions[i] = i;
    }
    graft_call_init(&run.call, GRAFT_PRECISION_FLOAT32, scratch);
    need(graft_causal_lm_forward(runner->model->head, &run.call, &args, &error), &error);
    run.next = batch;
    run.next.tokens = 1;
    run.next.cu_seqlens = next_cu_seqlens;
    run.next.positions = &count;
    need(graft_tree_walk(tree, visit, &run, &error), &error);
    check(run.compared == (size_t)tree->n_states, "%zu states, expected %d", run.compared, (int)tree->n_states);
    free(positions);
    graft_cache_destroy(cache);
    graft_scratch_destroy(scratch);
}
