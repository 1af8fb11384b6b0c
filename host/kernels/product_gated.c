/* SPDX-License-Identifier: Apache-2.0 */
/* gated_linear: if tiles can multiply all three weights, act(gate) * up is rounded and packed directly in the layout of
 * the third product's x. Otherwise `linear` and `gated_activation` compute it, with the same bits. */
#include "base/dtype.h"
#include "kernels/blocks.h"
#include "kernels/kernels.h"
#include "kernels/product.h"
#include "kernels/table.h"
#include "kernels/threads.h"
#include "kernels/tiles.h"

/* Rows of gate in a panel, and the same number of rows of up. */
enum { FOLDED_ROWS = GRAFT_TILE_PANEL / 2 };

struct folded_panel {
    const struct folded *mlp;
    const uint16_t *gate, *up;
    int64_t row;
    int64_t rows;
};

/* An MLP whose inner activations stay packed. */
struct folded {
    const struct graft_gated_products *products;
    const struct graft_product_input *x;
    uint16_t *inner; /* [tokens, columns of down], packed for tiles */
};

struct fold {
    const struct graft_call *call;
    struct folded *mlps;                /* [n] */
    struct graft_product_input *inputs; /* [n_inputs] for gate and up */
    int64_t n_inputs;
    struct graft_product_input *inner; /* [n] for down */
    struct folded_panel *panels;
    int64_t n_panels;
    char *scratch; /* [workers, scratch_bytes] */
    int64_t scratch_bytes;
};

static const struct graft_gated_products *at(const struct graft_gated_products *mlps, uint32_t stride, int32_t i) {
    return (const struct graft_gated_products *)(const void *)((const char *)mlps + (size_t)i * stride);
}

static int check(const struct graft_gated_products *mlp, struct graft_error *error) {
    const struct graft_product *gate = mlp->gate, *up = mlp->up, *down = mlp->down;
    int status = graft_activation_check(mlp->activation, error);
    status = status == GRAFT_OK ? graft_product_check(gate, error) : status;
    status = status == GRAFT_OK ? graft_product_check(up, error) : status;
    status = status == GRAFT_OK ? graft_product_check(down, error) : status;
    if (status == GRAFT_OK &&
        (up->rows != gate->rows || up->tokens != gate->tokens || down->weight->columns != gate->rows ||
         down->tokens != gate->tokens || down->x != gate->y || down->x_stride != gate->y_stride)) {
        status = graft_error_set(
            error, GRAFT_ERROR_INTERNAL, "",
            "gated products that do not follow each other: gate of %lld rows, up of %lld, down of %lld columns",
            (long long)gate->rows, (long long)up->rows, (long long)down->weight->columns);
    }
    return status;
}

/* The number of rows from `row` on that are contiguous both in gate and in up. */
static int64_t run_of(const struct graft_gated_products *mlp, int64_t row, struct folded_panel *panel) {
    const int64_t rest = mlp->gate->rows - row;
    struct graft_row_run gate = graft_weight_run(mlp->gate->weight, mlp->gate->first_row + row, rest);
    struct graft_row_run up = graft_weight_run(mlp->up->weight, mlp->up->first_row + row, rest);
    panel->gate = (const uint16_t *)gate.data;
    panel->up = (const uint16_t *)up.data;
    return gate.rows < up.rows ? gate.rows : up.rows;
}

/* Fills the panels of one MLP, or only counts them if `panels` is NULL. Returns 0 if contiguous rows do not make whole
 * columns of tiles. */
static int64_t cut(const struct graft_gated_products *mlp, const struct folded *folded, struct folded_panel *panels) {
    const int64_t rows = mlp->gate->rows, columns = mlp->gate->weight->columns;
    const int64_t most = graft_product_tile_rows(rows, FOLDED_ROWS);
    int64_t n = 0, run = 0;
    for (int64_t row = 0; row < rows; row += run) {
        struct folded_panel first = {.mlp = folded};
        run = run_of(mlp, row, &first);
        if (run == 0 || (run % GRAFT_TILE_COLUMNS != 0 && row + run < rows)) {
            return 0;
        }
        for (int64_t done = 0; done < run; done += most, n++) {
            if (panels != NULL) {
                panels[n] = first;
                panels[n].gate += done * columns;
                panels[n].up += done * columns;
                panels[n].row = row + done;
                panels[n].rows = run - done < most ? run - done : most;
            }
        }
    }
    return n;
}

static int folds(const struct graft_call *call, const struct graft_gated_products *mlp) {
    const struct graft_product *gate = mlp->gate, *up = mlp->up;
    return gate->tokens > 0 && gate->rows > 0 && gate->bias == NULL && up->bias == NULL && up->x == gate->x &&
           up->x_stride == gate->x_stride && up->weight->columns == gate->weight->columns &&
           graft_product_is_of_tiles(call, gate) && graft_product_is_of_tiles(call, up) &&
           graft_product_is_of_tiles(call, mlp->down) && cut(mlp, NULL, NULL) > 0;
}

static void *room(const struct graft_call *call, int64_t n, size_t size) {
    return call->scratch_alloc(call->scratch, n * (int64_t)size);
}

static int make_room(struct fold *fold, const struct graft_gated_products *mlps, uint32_t stride, int32_t n) {
    int64_t n_panels = 0;
    for (int32_t i = 0; i < n; i++) {
        const struct graft_gated_products *mlp = at(mlps, stride, i);
        const int64_t rows = graft_product_tile_rows(mlp->gate->rows, FOLDED_ROWS);
        const int64_t bytes = graft_tiles_get()->scratch_bytes(2, rows, mlp->gate->tokens);
        fold->scratch_bytes = bytes > fold->scratch_bytes ? bytes : fold->scratch_bytes;
        n_panels += cut(mlp, NULL, NULL);
    }
    fold->mlps = (struct folded *)room(fold->call, n, sizeof *fold->mlps);
    fold->inputs = (struct graft_product_input *)room(fold->call, n, sizeof *fold->inputs);
    fold->inner = (struct graft_product_input *)room(fold->call, n, sizeof *fold->inner);
    fold->panels = (struct folded_panel *)room(fold->call, n_panels, sizeof *fold->panels);
    fold->scratch = (char *)room(fold->call, graft_threads_workers(), (size_t)fold->scratch_bytes);
    return fold->mlps != NULL && fold->inputs != NULL && fold->inner != NULL && fold->panels != NULL &&
                   fold->scratch != NULL
               ? 0
               : -1;
}

static struct graft_product_input packed_input(const struct graft_product *product) {
    return (struct graft_product_input){
        .x = product->x,
        .x_stride = product->x_stride,
        .tokens = product->tokens,
        .columns = product->weight->columns,
        .form = GRAFT_INPUT_TILES,
    };
}

static int add(struct fold *fold, const struct graft_gated_products *products, int32_t i) {
    const struct graft_product_input x = packed_input(products->gate);
    struct folded *mlp = &fold->mlps[i];
    struct graft_product_input *inner = &fold->inner[i];
    *inner = packed_input(products->down);
    *mlp = (struct folded){
        .products = products,
        .x = graft_product_input_get(fold->call, &x, fold->inputs, &fold->n_inputs),
        .inner = (uint16_t *)room(fold->call, graft_product_input_bytes(inner), 1),
    };
    inner->data = mlp->inner;
    inner->data_stride = inner->columns;
    fold->n_panels += cut(products, mlp, fold->panels + fold->n_panels);
    return mlp->x != NULL && mlp->inner != NULL ? 0 : -1;
}

static void run_panels(void *data, int32_t worker, int64_t begin, int64_t end) {
    const struct fold *fold = (const struct fold *)data;
    for (int64_t i = begin; i < end; i++) {
        const struct folded_panel *panel = &fold->panels[i];
        const struct graft_gated_products *products = panel->mlp->products;
        const struct graft_tiles_fold into = {
            .up = panel->up,
            .activate_gate = graft_loops_get()->activate_gate,
            .activation = products->activation,
            .out = panel->mlp->inner,
            .columns = products->gate->rows,
            .column = panel->row,
        };
        const struct graft_tiles_product operands = {
            .w = panel->gate,
            .rows = panel->rows,
            .columns = products->gate->weight->columns,
            .x = (const uint16_t *)panel->mlp->x->data,
            .tokens = products->gate->tokens,
            .fold = &into,
            .scratch = fold->scratch + worker * fold->scratch_bytes,
        };
        graft_tiles_get()->multiply(&operands);
    }
}

/* Computes down for all MLPs; their inputs were made already, or are written by the first products. */
static int run_down(const struct graft_call *call, const struct graft_gated_products *mlps, uint32_t stride, int32_t n,
                    const struct graft_product_input *made, struct graft_error *error) {
    struct graft_product *down = (struct graft_product *)room(call, n, sizeof *down);
    for (int32_t i = 0; i < n && down != NULL; i++) {
        graft_struct_copy(&down[i], sizeof down[i], at(mlps, stride, i)->down);
    }
    if (down == NULL) {
        return graft_fail_memory(error, "");
    }
    return made != NULL ? graft_linear_of(call, down, n, sizeof *down, made, n, error)
                        : graft_linear(call, down, n, sizeof *down, error);
}

static int run_folded(const struct graft_call *call, const struct graft_gated_products *mlps, uint32_t stride,
                      int32_t n, struct graft_error *error) {
    struct fold fold = {.call = call};
    int status = make_room(&fold, mlps, stride, n);
    for (int32_t i = 0; i < n && status == 0; i++) {
        status = add(&fold, at(mlps, stride, i), i);
    }
    if (status != 0) {
        return graft_fail_memory(error, "");
    }
    graft_threads_for_workers(fold.n_panels, 1, run_panels, &fold);
    return run_down(call, mlps, stride, n, fold.inner, error);
}

static int run_apart(const struct graft_call *call, const struct graft_gated_products *mlps, uint32_t stride, int32_t n,
                     struct graft_error *error) {
    struct graft_product *gate_up = (struct graft_product *)room(call, 2 * (int64_t)n, sizeof *gate_up);
    if (gate_up == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int32_t i = 0; i < n; i++) {
        graft_struct_copy(&gate_up[2 * i], sizeof gate_up[0], at(mlps, stride, i)->gate);
        graft_struct_copy(&gate_up[2 * i + 1], sizeof gate_up[0], at(mlps, stride, i)->up);
    }
    int status = graft_linear(call, gate_up, 2 * n, sizeof *gate_up, error);
    for (int32_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_product *gate = &gate_up[2 * i], *up = gate + 1;
        status = graft_gated_activation(call, at(mlps, stride, i)->activation, gate->y, gate->y_stride, up->y,
                                        up->y_stride, gate->tokens, gate->rows, error);
    }
    return status == GRAFT_OK ? run_down(call, mlps, stride, n, NULL, error) : status;
}

int graft_gated_linear(const struct graft_call *call, const struct graft_gated_products *mlps, int32_t n,
                       uint32_t stride, struct graft_error *error) {
    int32_t folded = 1;
    int status = GRAFT_OK;
    for (int32_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = check(at(mlps, stride, i), error);
        folded = folded && status == GRAFT_OK && folds(call, at(mlps, stride, i));
    }
    int64_t mark = call->scratch_mark(call->scratch);
    if (status == GRAFT_OK) {
        status = (folded ? run_folded : run_apart)(call, mlps, stride, n, error);
    }
    call->scratch_release(call->scratch, mark);
    return status;
}
