/* SPDX-License-Identifier: Apache-2.0 */
/* Runs LoraExperts. The original passes its weights to the call's experts implementation
 * (graft/experts_implementation.h), which is one of this class: a loop over experts that adds the pairs to their
 * products. */
#include "experts.h"
#include "graft/kernels.h"
#include "graft/linear.h"
#include "rows.h"
#include "stack.h"

/* One of an expert's three products. */
struct lora_product {
    int32_t projection; /* LORA_OF_GATE, ... */
    int64_t expert;     /* index of the expert */
    int64_t rows;       /* number of rows of x and y */
    const float *x;     /* [rows, hidden_size]; for LORA_OF_DOWN [rows, intermediate_size] */
    float *y;           /* [rows, intermediate_size]; for LORA_OF_DOWN [rows, hidden_size] */
};

/* Adds the contribution of one adapter to a product. */
static int add_adapter(const struct lora_experts *self, const struct graft_call *call, int64_t i,
                       const struct lora_product *product, const struct lora_sizes *sizes, struct graft_error *error) {
    const struct lora_experts_adapter *adapter = &self->adapters[i];
    const struct graft_module *pair = adapter->pairs[product->expert * LORA_PROJECTIONS + product->projection];
    const int has_stack = adapter->stack != NULL && lora_stack_has(adapter->stack, product->projection);
    const struct graft_linear_args alone = {sizeof alone, 0, product->rows, product->x, product->y};
    struct lora_rows rows = {0};
    const struct lora_stack_args stacked = {
        .struct_size = sizeof stacked,
        .expert = product->expert,
        .projection = product->projection,
        .tokens = product->rows,
        .x = product->x,
        .y = product->y,
        .rows = &rows,
    };
    int status = pair != NULL || has_stack ? lora_rows_of(call, product->rows, (int32_t)i, &rows, error) : GRAFT_OK;
    if (status == GRAFT_OK && rows.n > 0 && has_stack) {
        status = graft_module_forward(adapter->stack, call, &stacked, error);
    }
    return status == GRAFT_OK && rows.n > 0 && pair != NULL ? lora_rows_run(&rows, call, pair, &alone, sizes, 1, error)
                                                            : status;
}

/* Adds the contributions of all adapters to a product; `call` is the one routed to the product's rows. */
static int add_adapters(const struct lora_experts *self, const struct graft_call *call,
                        const struct lora_product *product, const struct lora_sizes *sizes, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int64_t i = 0; i < self->n_adapters && status == GRAFT_OK; i++) {
        const int64_t mark = call->scratch_mark(call->scratch);
        status = add_adapter(self, call, i, product, sizes, error);
        call->scratch_release(call->scratch, mark);
    }
    return status;
}

/* The tokens of one expert, and memory for their results. */
struct share {
    int64_t n;
    int32_t *tokens; /* [n] indices of the tokens, ascending */
    float *weights;  /* [n] */
    float *x;        /* [n, hidden_size] */
    float *gate;     /* [n, intermediate_size] */
    float *up;       /* [n, intermediate_size] */
    float *y;        /* [n, hidden_size] */
};

static int share_init(struct share *share, const struct graft_call *call, const struct graft_experts_input *input,
                      struct graft_error *error) {
    int64_t tokens = input->tokens, hidden = input->hidden_size, inner = input->intermediate_size;
    *share = (struct share){
        .tokens = graft_scratch_ints(call, tokens * input->k, error),
        .weights = graft_scratch_floats(call, tokens, input->k, error),
        .x = graft_scratch_floats(call, tokens, hidden, error),
        .gate = graft_scratch_floats(call, tokens, inner, error),
        .up = graft_scratch_floats(call, tokens, inner, error),
        .y = graft_scratch_floats(call, tokens, hidden, error),
    };
    int has_all = share->tokens != NULL && share->weights != NULL && share->x != NULL && share->gate != NULL &&
                  share->up != NULL && share->y != NULL;
    return has_all ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

static void find_tokens(struct share *share, const struct graft_experts_input *input, int64_t expert) {
    share->n = 0;
    for (int64_t i = 0; i < input->tokens * input->k; i++) {
        if (input->top_k_index[i] == expert) {
            share->tokens[share->n] = (int32_t)(i / input->k);
            share->weights[share->n++] = input->top_k_weights[i];
        }
    }
}

/* product->y = the expert's rows of a stacked weight times x, plus what the pairs add */
static int project(const struct lora_experts *self, const struct graft_call *call,
                   const struct graft_experts_input *input, const struct lora_product *product,
                   struct graft_error *error) {
    const int64_t hidden = input->hidden_size, inner = input->intermediate_size, expert = product->expert;
    const int is_down = product->projection == LORA_OF_DOWN, is_up = product->projection == LORA_OF_UP;
    const int64_t out = is_down ? hidden : inner;
    const struct lora_sizes sizes = {is_down ? inner : hidden, out, out};
    const struct graft_product base = graft_product_of(
        is_down ? input->down_proj : input->gate_up_proj, is_down ? input->down_bias : input->gate_up_bias,
        is_down ? expert * hidden : (2 * expert + is_up) * inner, out, product->rows, product->x, product->y);
    int status = call->kernels->linear(call, &base, 1, sizeof base, error);
    return status == GRAFT_OK ? add_adapters(self, call, product, &sizes, error) : status;
}

/* output += the expert's results for its tokens */
static int run_expert(const struct lora_experts *self, const struct graft_call *call,
                      const struct graft_experts_input *input, int64_t expert, const struct share *share,
                      struct graft_error *error) {
    struct graft_gathered_call space;
    struct lora_product product = {LORA_OF_GATE, expert, share->n, share->x, share->gate};
    const struct graft_call *own = graft_call_route(call, input->tokens, share->tokens, share->n, &space, error);
    int status = own != NULL ? call->kernels->gather_rows(call, input->hidden_states, share->tokens, share->n,
                                                          input->hidden_size, share->x, error)
                             : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = project(self, own, input, &product, error);
    }
    if (status == GRAFT_OK) {
        product.projection = LORA_OF_UP;
        product.y = share->up;
        status = project(self, own, input, &product, error);
    }
    if (status == GRAFT_OK) {
        status = graft_experts_gate(input, call, share->gate, share->up, share->n, error);
    }
    if (status == GRAFT_OK) {
        product.projection = LORA_OF_DOWN;
        product.x = share->gate;
        product.y = share->y;
        status = project(self, own, input, &product, error);
    }
    return status == GRAFT_OK ? call->kernels->scatter_add_rows(call, share->y, share->weights, share->tokens, share->n,
                                                                input->hidden_size, input->output, error)
                              : status;
}

static int run(const struct graft_experts_implementation *implementation, const struct graft_call *call,
               const struct graft_experts_input *input, struct graft_error *error) {
    const struct lora_experts *self = implementation->data;
    struct share share;
    int status = share_init(&share, call, input, error);
    memset(input->output, 0, (size_t)(input->tokens * input->hidden_size) * sizeof(float));
    for (int64_t e = 0; e < self->num_experts && status == GRAFT_OK; e++) {
        int64_t mark = call->scratch_mark(call->scratch);
        find_tokens(&share, input, e);
        status = share.n > 0 ? run_expert(self, call, input, e, &share, error) : GRAFT_OK;
        call->scratch_release(call->scratch, mark);
    }
    return status;
}

int lora_experts_forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                         struct graft_error *error) {
    const struct lora_experts *self = instance;
    const struct graft_experts_implementation implementation = {
        .struct_size = sizeof implementation,
        .features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING | GRAFT_EXPERTS_CODED,
        .name = "lora",
        .forward = run,
        .data = self,
    };
    struct graft_call own;
    graft_struct_copy(&own, sizeof own, call);
    own.experts = self->n_adapters > 0 ? &implementation : call->experts;
    return graft_experts_forward(self->original, &own, args, error);
}
