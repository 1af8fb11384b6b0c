/* SPDX-License-Identifier: Apache-2.0 */
/* Products with coded weights. Each is divided into runs of rows that are stored at even distances: usually one, but
 * two where gate and up rows alternate. Products of few tokens, and products of many tokens that are multiplied as
 * integers, share one parallel loop over all runs. For other products, portions of the weights are widened when the
 * host's products ask for them. */
#include <string.h>

#include "base/fail.h"
#include "kernels/blocks.h"
#include "kernels/coded/rows.h"
#include "kernels/loops.h"
#include "kernels/table.h"

enum {
    TILE = 16,          /* rows of few tokens that one thread multiplies at a time, unless rows lie abreast */
    GRAIN = 1 << 16,    /* bytes of codes below which another thread does not pay */
    WIDENED_ROWS = 1024 /* rows that are widened at once if they cannot be transposed in portions */
};

/* A run: rows of a product that are stored at even distances. */
struct run {
    const struct graft_product *product;
    struct graft_coded rows;
    const struct graft_coded_prepared *how; /* NULL: x is multiplied unprepared */
    int64_t row;                            /* first row, counted like the columns of y */
    int64_t n;                              /* rows */
    char *inputs;                           /* [tokens, size] prepared inputs */
    int64_t size;                           /* bytes of a token's inputs */
    const float *bias;                      /* [n]; NULL: no bias */
    int64_t item;                           /* index of its first item in the parallel loop over all products */
    int64_t unit;                           /* rows of an item */
    struct pair *pair;                      /* what it was joined of; NULL: it is a run as it was cut */
};

/* Two runs whose rows lie between each other in memory, as those of gate and up do. Of few tokens they are computed as
 * one run and divided then: each by itself would leave out half of the memory that is read ahead. */
struct pair {
    struct run runs[2];
    struct graft_product product; /* of both: its y is [tokens, n of both] */
};

struct work {
    struct run *runs; /* [n] in the order of their items */
    int64_t n;
};

/* --- Choosing loops --- */

static const struct graft_coded_prepared *if_fits(const struct graft_coded_prepared *how,
                                                  const struct graft_coded *rows) {
    return how->size(rows) > 0 ? how : NULL;
}

/* Chooses the loops for prepared inputs; NULL: none. */
static const struct graft_coded_prepared *choose(const struct graft_call *call, const struct graft_coded *rows,
                                                 int is_few) {
    const struct graft_coded_loops *loops = rows->loops;
    if (call->precision == GRAFT_PRECISION_FLOAT32) {
        return NULL;
    }
    if (is_few) {
        return if_fits(loops->prepared, rows);
    }
    const struct graft_coded_prepared *bytes = rows->input_bits == 8 ? if_fits(loops->bytes, rows) : NULL;
    return bytes != NULL ? bytes : if_fits(loops->many, rows);
}

/* --- Products in one loop --- */

static void prepare_tokens(void *data, int64_t begin, int64_t end) {
    const struct run *run = data;
    for (int64_t t = begin; t < end; t++) {
        run->how->prepare(&run->rows, run->product->x + t * run->product->x_stride, run->inputs + t * run->size);
    }
}

/* Whether a run can use the inputs that an earlier run prepared: they must be of the same x and for the same kind of
 * weight, since prepared integers may include a zero point that all rows share. */
static int shares_inputs(const struct run *a, const struct run *b) {
    const int same_zeros =
        graft_coded_has_zeros(&a->rows) == graft_coded_has_zeros(&b->rows) && a->rows.zero == b->rows.zero;
    return a->how == b->how && a->product->x == b->product->x && a->product->x_stride == b->product->x_stride &&
           a->product->tokens == b->product->tokens && a->rows.columns == b->rows.columns &&
           a->rows.group_size == b->rows.group_size && a->rows.groups == b->rows.groups && same_zeros &&
           a->size == b->size;
}

static int make_inputs(const struct graft_call *call, struct run *runs, int64_t i, struct graft_error *error) {
    struct run *run = &runs[i];
    if (run->how == NULL) {
        return GRAFT_OK;
    }
    run->size = run->how->size(&run->rows);
    for (int64_t k = i - 1; k >= 0 && k >= i - 8; k--) {
        if (shares_inputs(run, &runs[k])) {
            run->inputs = runs[k].inputs;
            return GRAFT_OK;
        }
    }
    run->inputs = (char *)graft_scratch_floats(call, run->product->tokens, run->size / (int64_t)sizeof(float), error);
    if (run->inputs == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    call->threads->parallel_for(run->product->tokens, 4, prepare_tokens, run);
    return GRAFT_OK;
}

/* Makes the bias of a run's rows in f32. Its elements are in the order in which rows are stored. */
static int make_bias(const struct graft_call *call, struct run *run, struct graft_error *error) {
    const struct graft_weight *bias = run->product->bias;
    if (bias == NULL) {
        return GRAFT_OK;
    }
    const int64_t step = run->rows.step, stored = (run->n - 1) * step + 1;
    float *numbers = graft_scratch_floats(call, stored, 1, error);
    if (numbers == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    struct graft_row_run some;
    for (int64_t i = 0; i < stored; i += some.rows) {
        some = graft_weight_elements(bias, run->rows.first + i, stored - i);
        graft_loops_get()->widen(graft_reading_of(some.dtype), some.data, some.rows, numbers + i);
    }
    for (int64_t i = 0; step > 1 && i < run->n; i++) {
        numbers[i] = numbers[i * step];
    }
    run->bias = numbers;
    return GRAFT_OK;
}

static void add_bias(const float *bias, int64_t n, int64_t tokens, float *y, int64_t stride) {
    for (int64_t t = 0; t < tokens; t++) {
        for (int64_t r = 0; r < n; r++) {
            y[t * stride + r] += bias[r];
        }
    }
}

/* Rows [first, first + n) of a run. */
static void multiply_rows(const struct run *run, int64_t first, int64_t n) {
    const struct graft_product *product = run->product;
    float *y = product->y + run->row + first;
    if (run->how != NULL) {
        run->how->multiply(&run->rows, first, n, run->inputs, product->tokens, y);
    } else {
        run->rows.loops->multiply(&run->rows, first, n, product->x, product->tokens, y);
    }
    if (run->bias != NULL) {
        add_bias(run->bias + first, n, product->tokens, y, product->y_stride);
    }
}

/* Finds the run of an item. */
static const struct run *find_run(const struct work *work, int64_t item) {
    int64_t low = 0, high = work->n;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        *(work->runs[middle].item <= item ? &low : &high) = middle;
    }
    return &work->runs[low];
}

static void multiply_items(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (const struct run *run = find_run(work, begin); begin < end; run++) {
        const int64_t first = (begin - run->item) * run->unit, items = (run->n - first + run->unit - 1) / run->unit;
        const int64_t taken = items < end - begin ? items : end - begin;
        multiply_rows(run, first, graft_coded_left(run->n, first, taken * run->unit));
        begin += taken;
    }
}

/* --- Two runs as one --- */

static int are_pair(const struct run *a, const struct run *b) {
    const int64_t apart = b->rows.first - a->rows.first;
    return a->product->weight == b->product->weight && a->product->x == b->product->x &&
           a->product->x_stride == b->product->x_stride && a->product->tokens == b->product->tokens && a->n == b->n &&
           a->rows.step == 2 && b->rows.step == 2 && (apart == 1 || apart == -1);
}

/* Makes `joined` of two runs. */
static int join(const struct graft_call *call, const struct run *two, struct run *joined, struct graft_error *error) {
    struct pair *pair = call->scratch_alloc(call->scratch, (int64_t)sizeof *pair);
    float *y = pair != NULL ? graft_scratch_floats(call, two->product->tokens, 2 * two->n, error) : NULL;
    if (y == NULL) {
        return graft_fail_memory(error, "");
    }
    memcpy(pair->runs, two, sizeof pair->runs);
    pair->product = *two->product;
    pair->product.y = y;
    pair->product.y_stride = 2 * two->n;
    pair->product.bias = NULL;
    *joined = two[0];
    joined->product = &pair->product;
    joined->pair = pair;
    joined->rows.first = two[0].rows.first < two[1].rows.first ? two[0].rows.first : two[1].rows.first;
    joined->rows.step = 1;
    joined->rows.y_stride = 2 * two->n;
    joined->row = 0;
    joined->n = 2 * two->n;
    const int status = make_bias(call, &pair->runs[0], error);
    return status == GRAFT_OK ? make_bias(call, &pair->runs[1], error) : status;
}

/* y of both runs from that of tokens [begin, end) of a pair. */
static void divide(void *data, int64_t begin, int64_t end) {
    const struct pair *pair = data;
    for (int64_t i = 2 * begin; i < 2 * end; i++) {
        const struct run *run = &pair->runs[i % 2], *other = &pair->runs[1 - i % 2];
        const float *from = pair->product.y + i / 2 * pair->product.y_stride + (run->rows.first > other->rows.first);
        float *y = run->product->y + run->row + i / 2 * run->product->y_stride;
        for (int64_t r = 0; r < run->n; r++) {
            y[r] = run->bias != NULL ? from[2 * r] + run->bias[r] : from[2 * r];
        }
    }
}

/* --- Products of widened portions --- */

static void turn(const void *data, const struct graft_transposed_portion *portion) {
    const struct graft_coded *rows = data;
    rows->loops->turn(rows, portion);
}

/* Whether the weight can be unpacked in portions, which must not divide groups. */
static int is_transposed(const struct graft_coded *rows) {
    return rows->group_of == NULL && (rows->groups == 1 || rows->group_size % GRAFT_TRANSPOSED_COLUMNS == 0);
}

/* Multiplies the first `*done` rows of a run, unpacked in portions. */
static int multiply_transposed(const struct graft_call *call, const struct run *run, int64_t *done,
                               struct graft_error *error) {
    const int64_t whole = run->n / GRAFT_TRANSPOSED_ROWS * GRAFT_TRANSPOSED_ROWS;
    int32_t is_done = 0;
    *done = 0;
    if (!is_transposed(&run->rows) || whole == 0 || run->rows.columns % GRAFT_TRANSPOSED_COLUMNS != 0) {
        return GRAFT_OK;
    }
    const struct graft_weight shape = {
        .struct_size = sizeof shape, .rank = 2, .rows = whole, .columns = run->rows.columns};
    struct graft_product product = *run->product;
    product.weight = &shape;
    product.bias = NULL;
    product.first_row = 0;
    product.rows = whole;
    product.y += run->row;
    const struct graft_transposed_source source = {
        .struct_size = sizeof source,
        .layouts = 1u << GRAFT_TRANSPOSED_F32 | 1u << GRAFT_TRANSPOSED_BF16 | 1u << GRAFT_TRANSPOSED_PAIRS,
        .weight = &run->rows,
        .write = turn,
    };
    int status = graft_linear_transposed(call, &product, &source, &is_done, error);
    *done = is_done ? whole : 0;
    return status;
}

/* Rows that are widened together. */
struct widened {
    const struct graft_coded *rows;
    int64_t first;
    graft_dtype dtype;
    char *out;
};

static void widen(void *data, int64_t begin, int64_t end) {
    const struct widened *widened = data;
    const struct graft_coded *rows = widened->rows;
    const int64_t size = widened->dtype == GRAFT_DTYPE_F32 ? 4 : 2;
    rows->loops->widen(rows, widened->first + begin, end - begin, widened->dtype,
                       widened->out + begin * rows->columns * size);
}

/* Multiplies the rows of a run from `first` on, widening several at a time. */
static int multiply_widened(const struct graft_call *call, const struct run *run, int64_t first,
                            struct graft_error *error) {
    const int is_exact = call->precision == GRAFT_PRECISION_FLOAT32;
    const int64_t most = graft_coded_left(run->n, first, WIDENED_ROWS);
    struct widened widened = {&run->rows, first, is_exact ? GRAFT_DTYPE_F32 : GRAFT_DTYPE_BF16, NULL};
    widened.out = (char *)graft_scratch_floats(call, is_exact ? most : most / 2 + 1, run->rows.columns, error);
    int status = widened.out != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (; widened.first < run->n && status == GRAFT_OK; widened.first += most) {
        const int64_t n = graft_coded_left(run->n, widened.first, most);
        call->threads->parallel_for(n, TILE, widen, &widened);
        const struct graft_row_block block = {sizeof block, widened.dtype, widened.out, n};
        const struct graft_weight weight = {.struct_size = sizeof weight,
                                            .rank = 2,
                                            .shape = {n, run->rows.columns, 1, 1, 1, 1, 1, 1},
                                            .rows = n,
                                            .columns = run->rows.columns,
                                            .blocks = &block,
                                            .n_blocks = 1,
                                            .block_stride = sizeof block};
        struct graft_product product = *run->product;
        product.weight = &weight;
        product.bias = NULL;
        product.first_row = 0;
        product.rows = n;
        product.y += run->row + widened.first;
        status = graft_linear(call, &product, 1, sizeof product, error);
    }
    return status;
}

/* Whether scales are applied to the product instead of to the weights: bf16 holds integers of 8 bits exactly, so that a
 * row's only scale can be applied afterwards, in f32, if rounding is allowed. A row with several scales has them
 * applied to its weights. */
static int is_scaled_after(const struct graft_call *call, const struct graft_coded_weight *weight) {
    return call->precision != GRAFT_PRECISION_FLOAT32 && weight->codec.kind == GRAFT_CODE_INT &&
           weight->rows.groups == 1 && graft_weight_block(weight->rows.scales, 0)->dtype == GRAFT_DTYPE_F32 &&
           weight->rows.scales->n_blocks == 1 && weight->rows.block_rows == 1 && weight->codec.by_turns == 0;
}

struct scaled {
    const struct run *run;
    const float *scales; /* [n] of the run's rows */
};

static void scale_tokens(void *data, int64_t begin, int64_t end) {
    const struct scaled *scaled = data;
    const struct run *run = scaled->run;
    for (int64_t t = begin; t < end; t++) {
        float *y = run->product->y + run->row + t * run->product->y_stride;
        for (int64_t r = 0; r < run->n; r++) {
            y[r] *= scaled->scales[r];
        }
    }
}

static void add_bias_to_tokens(void *data, int64_t begin, int64_t end) {
    const struct run *run = data;
    const int64_t stride = run->product->y_stride;
    add_bias(run->bias, run->n, end - begin, run->product->y + run->row + begin * stride, stride);
}

static int multiply_many(const struct graft_call *call, struct run *run, struct graft_error *error) {
    static const float one = 1.0F;
    const struct graft_row_block block = {sizeof block, GRAFT_DTYPE_F32, &one, 1};
    const struct graft_weight ones = {
        .struct_size = sizeof ones, .rows = 1, .columns = 1, .blocks = &block, .n_blocks = 1};
    const struct graft_coded_weight *weight = graft_coded_weight_of(run->product->weight);
    const int64_t mark = call->scratch_mark(call->scratch);
    const int is_scaled = is_scaled_after(call, weight);
    int64_t done = 0;
    int status = make_bias(call, run, error);
    if (is_scaled) {
        run->rows.scales = &ones;
        run->rows.block_rows = INT64_MAX;
    }
    if (status == GRAFT_OK) {
        status = multiply_transposed(call, run, &done, error);
    }
    if (status == GRAFT_OK && done < run->n) {
        status = multiply_widened(call, run, done, error);
    }
    if (status == GRAFT_OK && is_scaled) {
        const float *scales = graft_weight_block(weight->rows.scales, 0)->data;
        struct scaled scaled = {run, scales + run->rows.first};
        call->threads->parallel_for(run->product->tokens, 8, scale_tokens, &scaled);
    }
    if (status == GRAFT_OK && run->bias != NULL) {
        call->threads->parallel_for(run->product->tokens, 8, add_bias_to_tokens, run);
    }
    call->scratch_release(call->scratch, mark);
    return status;
}

/* --- All products --- */

/* Fills in the runs of a product, or only counts them if `runs` is NULL. */
static int64_t cut(const struct graft_product *product, struct run *runs) {
    const struct graft_coded_weight *weight = graft_coded_weight_of(product->weight);
    int64_t n = 0;
    for (int64_t row = 0; row < product->rows && product->tokens > 0; n++) {
        const struct graft_coded_run some = graft_coded_run_at(weight, product->first_row + row, product->rows - row);
        if (runs != NULL) {
            runs[n] = (struct run){.product = product, .rows = some.rows, .row = row, .n = some.n};
            runs[n].rows.x_stride = product->x_stride;
            runs[n].rows.y_stride = product->y_stride;
        }
        row += some.n;
    }
    return n;
}

static int64_t grain_of(const struct run *run, int is_few) {
    return is_few ? 1 + GRAIN / (run->unit * run->rows.row_bytes) : 1;
}

/* Moves the runs that share a loop to the front of `runs`, and computes the others right away. */
static int multiply(const struct graft_call *call, struct run *runs, int64_t n, struct graft_error *error) {
    struct work work = {runs, 0};
    int64_t items = 0, grain = 1;
    int status = GRAFT_OK;
    for (int64_t i = 0; i < n && status == GRAFT_OK; i++) {
        struct run run = runs[i];
        const int is_few = graft_call_is_small_batch(call, run.product->tokens);
        if (is_few && i + 1 < n && are_pair(&run, &runs[i + 1])) {
            status = join(call, &runs[i++], &run, error);
        }
        run.how = choose(call, &run.rows, is_few);
        if (!is_few && run.how == NULL) {
            status = multiply_many(call, &run, error);
            continue;
        }
        run.unit = is_few && run.rows.loops->abreast == 0 ? TILE : GRAFT_CODED_PANEL;
        run.item = items;
        items += (run.n + run.unit - 1) / run.unit;
        grain = grain_of(&run, is_few) > grain ? grain_of(&run, is_few) : grain;
        runs[work.n] = run;
        if (status == GRAFT_OK) {
            status = make_inputs(call, runs, work.n, error);
        }
        if (status == GRAFT_OK) {
            status = make_bias(call, &runs[work.n], error);
        }
        work.n++;
    }
    if (status == GRAFT_OK && work.n > 0) {
        call->threads->parallel_for(items, grain, multiply_items, &work);
    }
    for (int64_t i = 0; i < work.n && status == GRAFT_OK; i++) {
        if (runs[i].pair != NULL) {
            call->threads->parallel_for(runs[i].product->tokens, 4, divide, runs[i].pair);
        }
    }
    return status;
}

int graft_coded_linear(const struct graft_call *call, const struct graft_product *const *products, int32_t n,
                       struct graft_error *error) {
    const int64_t mark = call->scratch_mark(call->scratch);
    int64_t n_runs = 0;
    for (int32_t i = 0; i < n; i++) {
        n_runs += cut(products[i], NULL);
    }
    struct run *runs = call->scratch_alloc(call->scratch, n_runs * (int64_t)sizeof *runs);
    if (runs == NULL) {
        return graft_fail_memory(error, "");
    }
    n_runs = 0;
    for (int32_t i = 0; i < n; i++) {
        n_runs += cut(products[i], runs + n_runs);
    }
    int status = multiply(call, runs, n_runs, error);
    call->scratch_release(call->scratch, mark);
    return status;
}
