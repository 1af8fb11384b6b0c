/* SPDX-License-Identifier: Apache-2.0 */
/* LoraLinear while it runs: the product of the original and, beside it, what each adapter adds to the outputs of its
 * parts; or of a Linear that an adapter stores whole. Merged there is one product as before. */
#include "graft/kernels.h"
#include "linear.h"
#include "rows.h"

int32_t lora_linear_as_product(void *instance, const struct graft_linear_args *args, struct graft_product *product) {
    const struct lora_linear *self = instance;
    const struct graft_weight *weight = &self->merged.weight;
    if (weight->rows == 0) {
        return 0;
    }
    const struct graft_product value = {
        .struct_size = sizeof value,
        .weight = weight,
        .bias = self->merged.bias,
        .rows = weight->rows,
        .x = args->x,
        .x_stride = weight->columns,
        .tokens = args->tokens,
        .y = args->y,
        .y_stride = weight->rows,
    };
    graft_struct_copy(product, product->struct_size, &value);
    return 1;
}

/* Whether modules that are stored whole take the place of all outputs of all rows. */
static int is_replaced(const struct lora_linear *self, const struct lora_rows *rows, int64_t tokens) {
    int64_t outputs = 0;
    for (int32_t i = 0; i < self->n_whole; i++) {
        outputs += rows[i].n == tokens ? self->pieces[i].outputs : 0;
    }
    return outputs == self->out_features;
}

/* The product of the original, and then piece by piece. */
static int run_pieces(const struct lora_linear *self, const struct graft_call *call,
                      const struct graft_linear_args *args, const struct lora_rows *rows, struct graft_error *error) {
    int status =
        is_replaced(self, rows, args->tokens) ? GRAFT_OK : graft_linear_forward(self->original, call, args, error);
    for (int32_t i = 0; i < self->n && status == GRAFT_OK; i++) {
        const struct lora_piece *piece = &self->pieces[i];
        const struct lora_sizes sizes = {self->in_features, piece->outputs, self->out_features};
        struct graft_linear_args own = *args;
        own.y = args->y + piece->first;
        if (rows[i].n > 0) {
            const int64_t mark = call->scratch_mark(call->scratch);
            status = lora_rows_run(&rows[i], call, piece->module, &own, &sizes, piece->pair != NULL, error);
            call->scratch_release(call->scratch, mark);
        }
    }
    return status;
}

/* For a few tokens: the products of the original and of each lora_A in one go, as far as they are products, and all of
 * lora_B in another. */
struct together {
    int32_t possible;
    int32_t n;                       /* pieces that take effect */
    struct graft_product *products;  /* [n] and, behind them, room for the original's */
    struct lora_addition *additions; /* [n] */
};

/* Whether all can be run so, into together->possible. */
static int prepare(const struct lora_linear *self, const struct graft_call *call, const struct graft_linear_args *args,
                   const struct lora_rows *rows, struct together *together, struct graft_error *error) {
    struct graft_linear_args first = {.struct_size = sizeof first, .tokens = args->tokens, .x = args->x};
    *together = (struct together){.possible = self->n_whole == 0 && graft_call_is_few(call, args->tokens)};
    if (!together->possible) {
        return GRAFT_OK;
    }
    together->products = call->scratch_alloc(call->scratch, (self->n + 1) * (int64_t)sizeof *together->products);
    together->additions = call->scratch_alloc(call->scratch, (self->n + 1) * (int64_t)sizeof *together->additions);
    if (together->products == NULL || together->additions == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int32_t i = 0; i < self->n && together->possible; i++) {
        const struct lora_piece *piece = &self->pieces[i];
        if (rows[i].n == 0) {
            continue;
        }
        first.y = graft_scratch_floats(call, args->tokens, piece->pair->rank, error);
        if (first.y == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        together->possible = lora_pair_first(piece->pair, call, &first, &together->products[together->n]);
        together->additions[together->n++] =
            (struct lora_addition){&piece->pair->columns, first.y, rows[i], piece->first};
    }
    return GRAFT_OK;
}

static int run_together(const struct lora_linear *self, const struct graft_call *call,
                        const struct graft_linear_args *args, const struct together *together,
                        struct graft_error *error) {
    const int32_t is_product = graft_linear_as_product(self->original, args, &together->products[together->n]);
    int status = is_product ? GRAFT_OK : graft_linear_forward(self->original, call, args, error);
    if (status == GRAFT_OK && together->n + is_product > 0) {
        status = call->kernels->linear(call, together->products, together->n + is_product, sizeof together->products[0],
                                       error);
    }
    if (status == GRAFT_OK) {
        lora_add(call, together->additions, together->n, args->y, self->out_features);
    }
    return status;
}

int lora_linear_forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                        struct graft_error *error) {
    const struct lora_linear *self = instance;
    struct graft_product product = {.struct_size = sizeof product};
    struct together together;
    if (lora_linear_as_product(instance, args, &product)) {
        return call->kernels->linear(call, &product, 1, sizeof product, error);
    }
    struct lora_rows *rows = call->scratch_alloc(call->scratch, (self->n + 1) * (int64_t)sizeof *rows);
    int status = rows != NULL ? GRAFT_OK : graft_fail_memory(error, "");
    for (int32_t i = 0; i < self->n && status == GRAFT_OK; i++) {
        status = lora_rows_of(call, args->tokens, self->pieces[i].adapter, &rows[i], error);
    }
    if (status == GRAFT_OK) {
        status = prepare(self, call, args, rows, &together, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    return together.possible ? run_together(self, call, args, &together, error)
                             : run_pieces(self, call, args, rows, error);
}
