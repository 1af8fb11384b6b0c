/* SPDX-License-Identifier: Apache-2.0 */
/* Runs LoraLinear: the product of the original plus what each adapter adds to the outputs of its parts, or a Linear
 * that an adapter stores whole. A merged weight is a single product. */
#include <string.h>

#include "graft/kernels.h"
#include "linear.h"
#include "rows.h"
#include "scale.h"

int32_t lora_linear_as_product(void *instance, const struct graft_linear_args *args, struct graft_product *product) {
    const struct lora_linear *self = instance;
    const struct graft_weight *weight = &self->merged.weight;
    if (weight->rows == 0) {
        return 0;
    }
    const struct graft_product value =
        graft_product_of(weight, self->merged.bias, 0, weight->rows, args->tokens, args->x, args->y);
    graft_struct_copy(product, product->struct_size, &value);
    return 1;
}

/* Whether modules that an adapter stores whole compute all outputs of all rows, so that the original need not run. */
static int is_replaced(const struct lora_linear *self, const struct lora_rows *rows, int64_t tokens) {
    int64_t outputs = 0;
    for (int32_t i = 0; i < self->n_whole; i++) {
        outputs += rows[i].n == tokens ? self->pieces[i].outputs : 0;
    }
    return outputs == self->out_features;
}

/* Multiplies the numbers of some rows by those of a scale. */
static int run_scale(const struct lora_piece *piece, const struct graft_call *call, const struct lora_rows *rows,
                     int64_t stride, float *values, struct graft_error *error) {
    const struct lora_scale_args args = {.struct_size = sizeof args, .rows = rows, .stride = stride, .values = values};
    return graft_module_forward(piece->module, call, &args, error);
}

/* Replaces args->x with a scaled copy where an adapter (IA3) scales the inputs. */
static int scale_inputs(const struct lora_linear *self, const struct graft_call *call, const struct lora_rows *rows,
                        struct graft_linear_args *args, struct graft_error *error) {
    int status = GRAFT_OK;
    float *x = NULL;
    for (int32_t i = self->n - self->n_scales; i < self->n && status == GRAFT_OK; i++) {
        if (self->pieces[i].scales != 2 || rows[i].n == 0) {
            continue;
        }
        if (x == NULL) {
            x = graft_scratch_floats(call, args->tokens, self->in_features, error);
            if (x == NULL) {
                return GRAFT_ERROR_INTERNAL;
            }
            memcpy(x, args->x, (size_t)(args->tokens * self->in_features) * sizeof *x);
            args->x = x;
        }
        status = run_scale(&self->pieces[i], call, &rows[i], self->in_features, x, error);
    }
    return status;
}

static int scale_outputs(const struct lora_linear *self, const struct graft_call *call,
                         const struct graft_linear_args *args, const struct lora_rows *rows,
                         struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = self->n - self->n_scales; i < self->n && status == GRAFT_OK; i++) {
        const struct lora_piece *piece = &self->pieces[i];
        if (piece->scales == 1 && rows[i].n > 0) {
            status = run_scale(piece, call, &rows[i], self->out_features, args->y + piece->first, error);
        }
    }
    return status;
}

/* Runs the product of the original, with scaled inputs, then the pieces one by one. */
static int run_pieces(const struct lora_linear *self, const struct graft_call *call,
                      const struct graft_linear_args *args, const struct lora_rows *rows, struct graft_error *error) {
    struct graft_linear_args scaled = *args;
    int status = scale_inputs(self, call, rows, &scaled, error);
    if (status == GRAFT_OK && !is_replaced(self, rows, args->tokens)) {
        status = graft_linear_forward(self->original, call, &scaled, error);
    }
    if (status == GRAFT_OK) {
        status = scale_outputs(self, call, args, rows, error);
    }
    for (int32_t i = 0; i < self->n - self->n_scales && status == GRAFT_OK; i++) {
        const struct lora_piece *piece = &self->pieces[i];
        const struct lora_sizes sizes = {self->in_features, piece->outputs, self->out_features};
        struct graft_linear_args own = *args;
        own.y = args->y + piece->first;
        if (rows[i].n > 0) {
            const int64_t mark = call->scratch_mark(call->scratch);
            status = lora_rows_run(&rows[i], call, piece->module, &own, &sizes, piece->pair != NULL, error);
            call->scratch_release(call->scratch, mark);
            if (status == GRAFT_OK && piece->magnitude.scale != NULL) {
                lora_magnitude_apply_rows(&piece->magnitude, call, &rows[i], sizes.out, sizes.stride, own.y);
            }
        }
    }
    return status;
}

/* For few tokens: all lora_A, and the original if it is a product, run together; then all lora_B run together. */
struct together {
    struct lora_rows *rows; /* [n] the rows of each piece */
    int32_t possible;
    int32_t n;                       /* number of pieces that apply to some row */
    int32_t is_product;              /* the original */
    struct graft_product *products;  /* [n], followed by the original's */
    struct lora_addition *additions; /* [n] */
};

/* Prepares the products; together->possible says whether all pieces can be run this way. */
static int prepare(const struct lora_linear *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct together *together, struct graft_error *error) {
    struct graft_linear_args first = {.struct_size = sizeof first, .tokens = args->tokens, .x = args->x};
    const int64_t most = self->n + 1;
    *together = (struct together){
        .rows = call->scratch_alloc(call->scratch, most * (int64_t)sizeof *together->rows),
        .possible = self->n_whole == 0 && self->n_scales == 0 && graft_call_is_small_batch(call, args->tokens),
        .products = call->scratch_alloc(call->scratch, most * (int64_t)sizeof *together->products),
        .additions = call->scratch_alloc(call->scratch, most * (int64_t)sizeof *together->additions),
    };
    if (together->rows == NULL || together->products == NULL || together->additions == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int32_t i = 0; i < self->n; i++) {
        const struct lora_piece *piece = &self->pieces[i];
        int status = lora_rows_of(call, args->tokens, piece->adapter, &together->rows[i], error);
        if (status != GRAFT_OK) {
            return status;
        }
        if (!together->possible || together->rows[i].n == 0) {
            continue;
        }
        first.y = graft_scratch_floats(call, args->tokens, piece->pair->rank, error);
        if (first.y == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        together->possible = lora_pair_first(piece->pair, call, &first, &together->products[together->n]);
        together->additions[together->n++] =
            (struct lora_addition){&piece->pair->columns, first.y, together->rows[i], piece->first,
                                   piece->magnitude.scale != NULL ? &piece->magnitude : NULL};
    }
    together->is_product =
        together->possible && graft_linear_as_product(self->original, args, &together->products[together->n]);
    return GRAFT_OK;
}

static int run_together(const struct lora_linear *self, const struct graft_call *call,
                        const struct graft_linear_args *args, const struct together *together,
                        struct graft_error *error) {
    const struct lora_additions additions = {together->additions, together->n, args->y, self->out_features};
    const int32_t n = together->n + together->is_product;
    int status = together->is_product ? GRAFT_OK : graft_linear_forward(self->original, call, args, error);
    if (status == GRAFT_OK && n > 0) {
        status = call->kernels->linear(call, together->products, n, sizeof together->products[0], error);
    }
    if (status == GRAFT_OK) {
        lora_add(call, &additions);
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
    int status = prepare(self, call, args, &together, error);
    if (status != GRAFT_OK) {
        return status;
    }
    return together.possible ? run_together(self, call, args, &together, error)
                             : run_pieces(self, call, args, together.rows, error);
}
