/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The experts' forward. Pairs of a token and an expert are sorted by expert; then each step (gather, gate and up,
 * activation, down) is done for many experts at once, so that there are few parallel loops. Each expert's product is
 * still one of its own, with the shape it has when experts are run one by one: the results are the same to the bit.
 */
#include <string.h>

#include "arch/moe/experts.h"
#include "graft/activation.h"
#include "graft/kernels.h"

/* Pairs that are computed together, which bounds the memory that a long prompt takes. One expert is never divided. */
enum { GROUP_PAIRS = 4096 };

/* The pairs by expert, and by token within an expert. */
struct pairs {
    int64_t *first; /* [num_experts + 1]: those of expert e are [first[e], first[e + 1]) */
    int32_t *token; /* [tokens * k] */
    float *weight;  /* [tokens * k] */
};

/* Room for the pairs of one group. */
struct buffers {
    float *x;                       /* [pairs, hidden_size]: gathered input, then the experts' output */
    float *gate;                    /* [pairs, intermediate_size] */
    float *up;                      /* [pairs, intermediate_size] */
    struct graft_product *products; /* [2 * num_experts] */
};

static int count_pairs(const struct graft_experts_instance *self, const struct graft_experts_args *args, int64_t *first,
                       struct graft_error *error) {
    memset(first, 0, (size_t)(self->num_experts + 1) * sizeof *first);
    for (int64_t i = 0; i < args->tokens * args->k; i++) {
        int32_t expert = args->top_k_index[i];
        if (expert < 0 || expert >= self->num_experts) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path,
                                   "top_k_index: expected 0 to %lld from the router, got %d",
                                   (long long)self->num_experts - 1, (int)expert);
        }
        first[expert + 1]++;
    }
    for (int64_t e = 0; e < self->num_experts; e++) {
        first[e + 1] += first[e];
    }
    return GRAFT_OK;
}

static int sort_pairs(const struct graft_experts_instance *self, const struct graft_call *call,
                      const struct graft_experts_args *args, struct pairs *pairs, struct graft_error *error) {
    int64_t n = args->tokens * args->k;
    int64_t bytes = (self->num_experts + 1) * (int64_t)sizeof(int64_t);
    int64_t *next = call->scratch_alloc(call->scratch, bytes); /* [num_experts]: where an expert's next pair goes */
    pairs->first = call->scratch_alloc(call->scratch, bytes);
    pairs->token = graft_scratch_ints(call, n, error);
    pairs->weight = graft_scratch_floats(call, n, 1, error);
    if (next == NULL || pairs->first == NULL || pairs->token == NULL || pairs->weight == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, self->base.path, "out of memory");
    }
    int status = count_pairs(self, args, pairs->first, error);
    if (status != GRAFT_OK) {
        return status;
    }
    memcpy(next, pairs->first, (size_t)bytes);
    for (int64_t i = 0; i < n; i++) {
        int64_t place = next[args->top_k_index[i]]++;
        pairs->token[place] = (int32_t)(i / args->k);
        pairs->weight[place] = args->top_k_weights[i];
    }
    return GRAFT_OK;
}

/* The end of the group that begins with expert `begin`. */
static int64_t group_end(const struct graft_experts_instance *self, const struct pairs *pairs, int64_t begin) {
    int64_t end = begin + 1;
    while (end < self->num_experts && pairs->first[end + 1] - pairs->first[begin] <= GROUP_PAIRS) {
        end++;
    }
    return end;
}

static int allocate(const struct graft_experts_instance *self, const struct graft_call *call, const struct pairs *pairs,
                    struct buffers *buffers, struct graft_error *error) {
    int64_t room = 0; /* pairs of the largest group */
    for (int64_t begin = 0, end; begin < self->num_experts; begin = end) {
        end = group_end(self, pairs, begin);
        int64_t size = pairs->first[end] - pairs->first[begin];
        room = size > room ? size : room;
    }
    buffers->x = graft_scratch_floats(call, room, self->hidden_size, error);
    buffers->gate = graft_scratch_floats(call, room, self->intermediate_size, error);
    buffers->up = graft_scratch_floats(call, room, self->intermediate_size, error);
    buffers->products = call->scratch_alloc(call->scratch, 2 * self->num_experts * (int64_t)sizeof *buffers->products);
    if (buffers->x == NULL || buffers->gate == NULL || buffers->up == NULL || buffers->products == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, self->base.path, "out of memory");
    }
    return GRAFT_OK;
}

/* y [tokens, rows] = x [tokens, columns] times rows [first_row, first_row + rows) of the weight. */
static struct graft_product product(const struct graft_weight *weight, int64_t first_row, int64_t rows, int64_t tokens,
                                    const float *x, float *y) {
    return (struct graft_product){
        .struct_size = sizeof(struct graft_product),
        .weight = weight,
        .first_row = first_row,
        .rows = rows,
        .x = x,
        .x_stride = weight->columns,
        .tokens = tokens,
        .y = y,
        .y_stride = rows,
    };
}

/* gate and up of the experts [begin, end). Returns how many products that takes. */
static int32_t gate_up_products(const struct graft_experts_instance *self, const struct pairs *pairs, int64_t begin,
                                int64_t end, const struct buffers *buffers) {
    int64_t hidden = self->hidden_size;
    int64_t intermediate = self->intermediate_size;
    int32_t n = 0;
    for (int64_t e = begin; e < end; e++) {
        int64_t row = pairs->first[e] - pairs->first[begin];
        int64_t tokens = pairs->first[e + 1] - pairs->first[e];
        if (tokens > 0) {
            buffers->products[n++] = product(self->gate_up_proj, 2 * e * intermediate, intermediate, tokens,
                                             buffers->x + row * hidden, buffers->gate + row * intermediate);
            buffers->products[n++] = product(self->gate_up_proj, (2 * e + 1) * intermediate, intermediate, tokens,
                                             buffers->x + row * hidden, buffers->up + row * intermediate);
        }
    }
    return n;
}

/* The same for down, from `gate` back to `x`. */
static int32_t down_products(const struct graft_experts_instance *self, const struct pairs *pairs, int64_t begin,
                             int64_t end, const struct buffers *buffers) {
    int32_t n = 0;
    for (int64_t e = begin; e < end; e++) {
        int64_t row = pairs->first[e] - pairs->first[begin];
        int64_t tokens = pairs->first[e + 1] - pairs->first[e];
        if (tokens > 0) {
            buffers->products[n++] =
                product(self->down_proj, e * self->hidden_size, self->hidden_size, tokens,
                        buffers->gate + row * self->intermediate_size, buffers->x + row * self->hidden_size);
        }
    }
    return n;
}

/* output += what the experts [begin, end) add, in their order. */
static int run_group(const struct graft_experts_instance *self, const struct graft_call *call,
                     const struct graft_experts_args *args, const struct pairs *pairs, int64_t begin, int64_t end,
                     const struct buffers *buffers, struct graft_error *error) {
    const struct graft_kernels *kernels = call->kernels;
    int64_t first = pairs->first[begin];
    int64_t n = pairs->first[end] - first;
    kernels->gather_rows(call, args->hidden_states, pairs->token + first, n, self->hidden_size, buffers->x);
    int32_t products = gate_up_products(self, pairs, begin, end, buffers);
    int status = kernels->linear(call, buffers->products, products, error);
    if (status == GRAFT_OK) {
        status =
            graft_activation_gate(self->act_fn, call, buffers->gate, buffers->up, n, self->intermediate_size, error);
    }
    if (status == GRAFT_OK) {
        products = down_products(self, pairs, begin, end, buffers);
        status = kernels->linear(call, buffers->products, products, error);
    }
    for (int64_t e = begin; e < end && status == GRAFT_OK; e++) {
        int64_t at = pairs->first[e];
        int64_t rows = pairs->first[e + 1] - at;
        if (rows > 0) {
            kernels->scatter_add_rows(call, buffers->x + (at - first) * self->hidden_size, pairs->weight + at,
                                      pairs->token + at, rows, self->hidden_size, args->output);
        }
    }
    return status;
}

int graft_experts_run(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                      struct graft_error *error) {
    const struct graft_experts_instance *self = instance;
    struct pairs pairs;
    struct buffers buffers;
    int status = sort_pairs(self, call, args, &pairs, error);
    if (status == GRAFT_OK) {
        status = allocate(self, call, &pairs, &buffers, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    memset(args->output, 0, (size_t)(args->tokens * self->hidden_size) * sizeof(float));
    for (int64_t begin = 0, end; begin < self->num_experts && status == GRAFT_OK; begin = end) {
        end = group_end(self, &pairs, begin);
        if (pairs.first[end] > pairs.first[begin]) {
            status = run_group(self, call, args, &pairs, begin, end, &buffers, error);
        }
    }
    return status;
}
