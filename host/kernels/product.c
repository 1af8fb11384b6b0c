/* SPDX-License-Identifier: Apache-2.0 */
/* linear: divides the products of a call into panels, which threads process in one loop.
 *
 * With few tokens a product is limited by reading the weight: each row is read once, in place, by dot products or by
 * tiles. With many tokens it is limited by arithmetic: portions of a panel that fit the cache are transposed and
 * multiplied, in bf16 on processors that multiply pairs, else in f32. Processors with bf16 tiles use rows in place, or
 * portions that a source makes already transposed. The number of tokens of the whole forward decides which way is taken
 * (graft_call_is_small_batch): an expert that gets few of many tokens uses the way for many. */
#include <string.h>

#include "base/dtype.h"
#include "kernels/blocks.h"
#include "kernels/coded/weight.h"
#include "kernels/kernels.h"
#include "kernels/product.h"
#include "kernels/table.h"
#include "kernels/threads.h"
#include "kernels/tiles.h"

/* The number of multiplications below which a second thread does not pay: about as many as a thread does while another
 * wakes up. With few tokens threads wait for the weight, so that each of its elements counts as READING_WORK
 * multiplications. */
enum { SERIAL_WORK = 1 << 18, READING_WORK = 4 };

struct plan {
    const struct graft_call *call;
    const struct graft_loops *loops;
    const struct graft_product_input *made; /* [n_made]: inputs made by the caller */
    int64_t n_made;
    struct graft_product_panel *panels;
    int64_t n_panels;
    struct graft_product_input *inputs;
    int64_t n_inputs;
    char *scratch; /* [workers, scratch_bytes] */
    int64_t scratch_bytes;
};

int graft_check_types(const struct graft_weight *weight, const char *role, struct graft_error *error) {
    for (int32_t i = 0; i < weight->n_blocks; i++) {
        graft_dtype dtype = graft_weight_block(weight, i)->dtype;
        if (graft_reading_of(dtype) == GRAFT_READ_NONE) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, "", "kernels cannot read a %s of type %s", role,
                                   graft_dtype_name(dtype));
        }
    }
    return GRAFT_OK;
}

static const struct graft_product *product_at(const struct graft_product *products, uint32_t stride, int32_t i) {
    return (const struct graft_product *)(const void *)((const char *)products + (size_t)i * stride);
}

int graft_product_check(const struct graft_product *product, struct graft_error *error) {
    const struct graft_weight *weight = product->weight;
    const struct graft_weight *bias = product->bias;
    if (product->required_features != 0) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, "",
                               "a product requires features 0x%x, but this host supports none",
                               (unsigned)product->required_features);
    }
    if (product->tokens < 0 || product->rows < 0 || product->first_row < 0 ||
        product->first_row > weight->rows - product->rows) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "",
                               "a product of rows %lld to %lld of a weight of %lld rows", (long long)product->first_row,
                               (long long)(product->first_row + product->rows), (long long)weight->rows);
    }
    if (bias != NULL && bias->rows * bias->columns != weight->rows) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "",
                               "a bias of %lld x %lld does not fit a weight of %lld rows", (long long)bias->rows,
                               (long long)bias->columns, (long long)weight->rows);
    }
    if (bias != NULL && graft_coded_weight_of(bias) != NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, "", "expected a bias of numbers, got a bias of codes");
    }
    int status = graft_check_types(weight, "weight", error);
    return status == GRAFT_OK && bias != NULL ? graft_check_types(bias, "bias", error) : status;
}

/* Fills the panels of one product, or only counts them if `panels` is NULL. Each row block begins a new panel. */
static int64_t cut(const struct graft_call *call, const struct graft_product *product,
                   struct graft_product_panel *panels) {
    int64_t n = 0;
    struct graft_row_run run = {NULL, GRAFT_DTYPE_NONE, 0};
    for (int64_t row = 0; row < product->rows && product->tokens > 0; row += run.rows) {
        run = graft_weight_run(product->weight, product->first_row + row, product->rows - row);
        int64_t row_bytes = product->weight->columns * graft_dtype_size(run.dtype);
        if (run.rows == 0) {
            break;
        }
        int64_t most = graft_product_panel_rows(call, product, run.dtype);
        for (int64_t first = 0; first < run.rows; first += most, n++) {
            if (panels != NULL) {
                panels[n].product = product;
                panels[n].weights = (const char *)run.data + first * row_bytes;
                panels[n].reading = graft_reading_of(run.dtype);
                panels[n].row = row + first;
                panels[n].rows = run.rows - first < most ? run.rows - first : most;
            }
        }
    }
    return n;
}

static int find_input(struct plan *plan, struct graft_product_panel *panel) {
    const struct graft_product *product = panel->product;
    struct graft_product_input wanted = {
        .x = product->x,
        .x_stride = product->x_stride,
        .tokens = product->tokens,
        .columns = product->weight->columns,
        .form = graft_product_choose(plan->call, panel),
    };
    panel->input = graft_product_input_find(plan->made, plan->n_made, &wanted);
    if (panel->input == NULL) {
        panel->input = graft_product_input_get(plan->call, &wanted, plan->inputs, &plan->n_inputs);
    }
    return panel->input != NULL ? 0 : -1;
}

static void *scratch_zeroed(const struct graft_call *call, int64_t bytes) {
    void *memory = call->scratch_alloc(call->scratch, bytes);
    if (memory != NULL) {
        memset(memory, 0, (size_t)bytes);
    }
    return memory;
}

/* Allocates panels and inputs; each panel adds at most one input. */
static int make_room(struct plan *plan, int64_t n_panels) {
    const struct graft_call *call = plan->call;
    plan->panels = (struct graft_product_panel *)scratch_zeroed(call, n_panels * (int64_t)sizeof *plan->panels);
    plan->inputs =
        (struct graft_product_input *)call->scratch_alloc(call->scratch, n_panels * (int64_t)sizeof *plan->inputs);
    return plan->panels != NULL && plan->inputs != NULL ? 0 : -1;
}

static int make_panels(struct plan *plan, const struct graft_product *products, uint32_t stride, int32_t n) {
    int64_t n_panels = 0;
    for (int32_t i = 0; i < n; i++) {
        n_panels += cut(plan->call, product_at(products, stride, i), NULL);
    }
    if (make_room(plan, n_panels) != 0) {
        return -1;
    }
    for (int32_t i = 0; i < n; i++) {
        plan->n_panels += cut(plan->call, product_at(products, stride, i), plan->panels + plan->n_panels);
    }
    return 0;
}

/* Makes the panels of a product whose weight comes from a source (transposed.h). */
static int make_transposed(struct plan *plan, const struct graft_product *product,
                           const struct graft_transposed_source *source, int32_t reading) {
    const int64_t most = graft_product_transposed_rows(plan->call, product, reading);
    const int64_t n_panels = product->tokens > 0 ? (product->rows + most - 1) / most : 0;
    if (make_room(plan, n_panels) != 0) {
        return -1;
    }
    for (int64_t i = 0; i < n_panels; i++) {
        struct graft_product_panel *panel = &plan->panels[i];
        panel->product = product;
        panel->source = source;
        panel->reading = reading;
        panel->row = i * most;
        panel->rows = product->rows - panel->row < most ? product->rows - panel->row : most;
    }
    plan->n_panels = n_panels;
    return 0;
}

/* Makes the inputs of all panels, and allocates scratch memory. */
static int make_inputs(struct plan *plan) {
    const struct graft_call *call = plan->call;
    for (int64_t i = 0; i < plan->n_panels; i++) {
        struct graft_product_panel *panel = &plan->panels[i];
        if (find_input(plan, panel) != 0) {
            return -1;
        }
        int64_t bytes = graft_product_panel_scratch(plan->loops, panel);
        plan->scratch_bytes = bytes > plan->scratch_bytes ? bytes : plan->scratch_bytes;
    }
    plan->scratch = (char *)call->scratch_alloc(call->scratch, plan->scratch_bytes * graft_threads_workers());
    return plan->scratch != NULL ? 0 : -1;
}

/* Whether b's rows follow a's in memory and both panels should be read as one: dot products are faster in long streams,
 * while the other kinds have scratch memory for one panel only. */
static int goes_on(const struct graft_product_panel *a, const struct graft_product_panel *b) {
    const int is_dot = a->kind == GRAFT_PANEL_DOT || a->kind == GRAFT_PANEL_GEMV || a->kind == GRAFT_PANEL_SPLIT;
    const int64_t row_bytes = a->product->weight->columns * graft_reading_size(a->reading);
    return is_dot && a->product == b->product && a->kind == b->kind && a->reading == b->reading &&
           (const char *)a->weights + a->rows * row_bytes == (const char *)b->weights;
}

static void run_panels(void *data, int32_t worker, int64_t begin, int64_t end) {
    struct plan *plan = (struct plan *)data;
    for (int64_t i = begin; i < end;) {
        struct graft_product_panel panel = plan->panels[i++];
        for (; i < end && goes_on(&panel, &plan->panels[i]); i++) {
            panel.rows += plan->panels[i].rows;
        }
        graft_product_panel_run(plan->loops, &panel, plan->scratch + worker * plan->scratch_bytes);
    }
}

/* The least number of panels for one thread: all of them if waking another thread would cost more than it saves. */
static int64_t grain_of(const struct plan *plan, const struct graft_product *products, uint32_t stride, int32_t n) {
    int64_t multiplications = 0;
    for (int32_t i = 0; i < n && multiplications < SERIAL_WORK; i++) {
        const struct graft_product *product = product_at(products, stride, i);
        const int64_t each = product->tokens > READING_WORK ? product->tokens : READING_WORK;
        multiplications += product->rows * product->weight->columns * each;
    }
    return multiplications < SERIAL_WORK ? plan->n_panels : 1;
}

int graft_linear_of(const struct graft_call *call, const struct graft_product *products, int32_t n, uint32_t stride,
                    const struct graft_product_input *made, int64_t n_made, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = graft_product_check(product_at(products, stride, i), error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    struct plan plan = {.call = call, .loops = graft_loops_get(), .made = made, .n_made = n_made};
    int64_t mark = call->scratch_mark(call->scratch);
    if (make_panels(&plan, products, stride, n) != 0 || make_inputs(&plan) != 0) {
        status = graft_fail_memory(error, "");
    } else {
        graft_threads_for_workers(plan.n_panels, grain_of(&plan, products, stride, n), run_panels, &plan);
    }
    call->scratch_release(call->scratch, mark);
    return status;
}

/* Runs products of which some have coded weights: first those with plain weights, then the others. */
static int linear_mixed(const struct graft_call *call, const struct graft_product *products, int32_t n, uint32_t stride,
                        struct graft_error *error) {
    const int64_t mark = call->scratch_mark(call->scratch);
    struct graft_product *plain = call->scratch_alloc(call->scratch, n * (int64_t)sizeof *plain);
    const struct graft_product **coded = call->scratch_alloc(call->scratch, n * (int64_t)sizeof *coded);
    int status = plain != NULL && coded != NULL ? GRAFT_OK : graft_fail_memory(error, "");
    int32_t n_plain = 0, n_coded = 0;
    for (int32_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_product *product = product_at(products, stride, i);
        status = graft_product_check(product, error);
        if (graft_coded_weight_of(product->weight) != NULL) {
            coded[n_coded++] = product;
        } else {
            graft_struct_copy(&plain[n_plain++], sizeof *plain, product);
        }
    }
    if (status == GRAFT_OK && n_plain > 0) {
        status = graft_linear_of(call, plain, n_plain, sizeof *plain, NULL, 0, error);
    }
    if (status == GRAFT_OK) {
        status = graft_coded_linear(call, coded, n_coded, error);
    }
    call->scratch_release(call->scratch, mark);
    return status;
}

int graft_linear(const struct graft_call *call, const struct graft_product *products, int32_t n,
                 uint32_t product_stride, struct graft_error *error) {
    for (int32_t i = 0; i < n; i++) {
        if (graft_coded_weight_of(product_at(products, product_stride, i)->weight) != NULL) {
            return linear_mixed(call, products, n, product_stride, error);
        }
    }
    return graft_linear_of(call, products, n, product_stride, NULL, 0, error);
}

static int check_transposed(const struct graft_product *product, const struct graft_transposed_source *source,
                            struct graft_error *error) {
    const int64_t rows = GRAFT_TRANSPOSED_ROWS, columns = GRAFT_TRANSPOSED_COLUMNS;
    if (source == NULL || product->first_row % rows != 0 || product->rows % rows != 0 ||
        product->weight->columns % columns != 0) {
        return graft_error_set(
            error, GRAFT_ERROR_PLUGIN, "",
            "a product of rows %lld to %lld with %lld transposed columns: expected multiples of %d and %d",
            (long long)product->first_row, (long long)(product->first_row + product->rows),
            (long long)product->weight->columns, GRAFT_TRANSPOSED_ROWS, GRAFT_TRANSPOSED_COLUMNS);
    }
    return GRAFT_OK;
}

int graft_linear_transposed(const struct graft_call *call, const struct graft_product *product,
                            const struct graft_transposed_source *source, int32_t *done, struct graft_error *error) {
    const uint32_t layouts = 1u << GRAFT_TRANSPOSED_F32 | 1u << GRAFT_TRANSPOSED_BF16 | 1u << GRAFT_TRANSPOSED_PAIRS;
    const int32_t reading = call->precision == GRAFT_PRECISION_FLOAT32 ? GRAFT_READ_F32 : GRAFT_READ_BF16;
    struct plan plan = {.call = call, .loops = graft_loops_get()};
    int64_t mark = call->scratch_mark(call->scratch);
    int status = graft_product_check(product, error);
    status = status == GRAFT_OK ? check_transposed(product, source, error) : status;
    *done = status == GRAFT_OK && (~source->layouts & layouts) == 0 &&
            (product->weight->columns % GRAFT_TILE_COLUMNS == 0 || !graft_product_takes_tiles(call, product, reading));
    if (status != GRAFT_OK || !*done) {
        return status;
    }
    if (make_transposed(&plan, product, source, reading) != 0 || make_inputs(&plan) != 0) {
        status = graft_fail_memory(error, "");
    } else {
        graft_threads_for_workers(plan.n_panels, grain_of(&plan, product, sizeof *product, 1), run_panels, &plan);
    }
    call->scratch_release(call->scratch, mark);
    return status;
}
