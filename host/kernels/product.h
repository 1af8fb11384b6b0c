/* SPDX-License-Identifier: Apache-2.0 */
/* The panels into which the products of one `linear` call are divided. A panel is a run of rows of one block of one
 * product, computed by one thread. A result depends on its row of the weight, its row of x and the number of tokens,
 * but not on where panels begin and end, and so neither on other products of the call nor on the number of threads. */
#ifndef GRAFT_KERNELS_PRODUCT_H
#define GRAFT_KERNELS_PRODUCT_H

#include "graft/kernels.h"
#include "kernels/loops.h"
#include "kernels/transposed.h"

/* The form of x that a panel needs. */
enum {
    GRAFT_INPUT_AS_GIVEN = 0,      /* f32 with the caller's stride */
    GRAFT_INPUT_ROUNDED = 1,       /* dense, rounded to bf16, stored as f32 */
    GRAFT_INPUT_PAIRS = 2,         /* bf16; an odd number of columns is followed by a zero */
    GRAFT_INPUT_GEMV = 3,          /* bf16, graft_gemv_stride apart */
    GRAFT_INPUT_QUARTERS = 4,      /* bf16, packed by graft_gemv_pack */
    GRAFT_INPUT_TILES = 5,         /* bf16, packed for tiles (tiles.h) */
    GRAFT_INPUT_SPLIT = 6,         /* f32 in the order of `split` (loops.h) */
    GRAFT_INPUT_ROUNDED_SPLIT = 7, /* the same, rounded to bf16 */
    GRAFT_INPUT_TILE_ROWS = 8      /* bf16, packed for tiles of transposed weights (tiles_transposed.h) */
};

/* x in the form that some panels need. It is made once for all panels of a call that need the same form. */
struct graft_product_input {
    const float *x; /* [tokens, columns] as given */
    int64_t x_stride;
    int64_t tokens;
    int64_t columns;
    int32_t form;
    const void *data;    /* [tokens, columns]; layouts: graft_tiles_offset, gemv.h */
    int64_t data_stride; /* distance of rows of `data` */
};

/* How a panel is computed. */
enum {
    GRAFT_PANEL_DOT = 0,      /* few tokens: dot products straight from the file's rows */
    GRAFT_PANEL_MULTIPLY = 1, /* many: the panel is widened and transposed in portions, then multiplied in f32 */
    GRAFT_PANEL_PAIRS = 2,    /* many, of bf16: the same in bf16, if the processor multiplies pairs */
    GRAFT_PANEL_TILES = 3,    /* many, of bf16, with tiles: rows are used in place (tiles.h) */
    GRAFT_PANEL_GEMV = 4,     /* few, of bf16, with pairs (gemv.h) or tiles (tiles_gemv.h) */
    GRAFT_PANEL_SPLIT = 5     /* few, of bf16, otherwise: f32 dot products in the order of `split` */
};

/* The columns of a portion, which is transposed and multiplied as a whole, while it is in the second-level cache. Each
 * portion's sums start from zero, which also keeps rounding errors smaller than one long sum would. GRAFT_PAIRS_PORTION
 * is for pairs, where a portion is smaller in memory and the work between two portions matters more. */
enum { GRAFT_PORTION = 512, GRAFT_PAIRS_PORTION = 2048 };

struct graft_product_panel {
    const struct graft_product *product;
    const struct graft_product_input *input;
    const void *weights; /* [rows, columns] in the file's type; NULL: `source` makes them */
    const struct graft_transposed_source *source;
    int32_t reading; /* GRAFT_READ_... */
    int32_t kind;    /* GRAFT_PANEL_... */
    int64_t row;     /* its first row, as a column of y */
    int64_t rows;
};

/* Finds `wanted` among inputs[0 .. *n_inputs - 1], which has room for one more, or makes it; its `data` is not set yet.
 * NULL if memory ran out. */
const struct graft_product_input *graft_product_input_get(const struct graft_call *call,
                                                          const struct graft_product_input *wanted,
                                                          struct graft_product_input *inputs, int64_t *n_inputs);

/* The input equal to `wanted` among inputs[0 .. n - 1]; NULL if there is none. */
const struct graft_product_input *graft_product_input_find(const struct graft_product_input *inputs, int64_t n,
                                                           const struct graft_product_input *wanted);

/* Bytes of an input's `data`. */
int64_t graft_product_input_bytes(const struct graft_product_input *input);

/* --- product_choose.c --- */

/* [any] Whether rows with this reading are multiplied by tiles; and whether all rows of a product are. */
int graft_product_takes_tiles(const struct graft_call *call, const struct graft_product *product, int32_t reading);
int graft_product_is_of_tiles(const struct graft_call *call, const struct graft_product *product);

/* [any] The number of rows of a panel: for tiles, at most `most`, and fewer if threads would be idle; for a block of
 * this type; for a weight that a source makes. */
int64_t graft_product_tile_rows(int64_t rows, int64_t most);
int64_t graft_product_panel_rows(const struct graft_call *call, const struct graft_product *product, graft_dtype dtype);
int64_t graft_product_transposed_rows(const struct graft_call *call, const struct graft_product *product,
                                      int32_t reading);

/* [any] Sets how a panel is computed, and returns the form of x that goes with it. */
int32_t graft_product_choose(const struct graft_call *call, struct graft_product_panel *panel);

/* --- product.c --- */

/* [any] Checks that a product's sizes fit its weight and that kernels read the weight's types. */
int graft_product_check(const struct graft_product *product, struct graft_error *error);

/* [forward] Like graft_linear, with some inputs already made. */
int graft_linear_of(const struct graft_call *call, const struct graft_product *products, int32_t n, uint32_t stride,
                    const struct graft_product_input *made, int64_t n_made, struct graft_error *error);

/* Bytes of worker scratch that graft_product_panel_run needs for `panel`. */
int64_t graft_product_panel_scratch(const struct graft_loops *loops, const struct graft_product_panel *panel);

/* [any] Steps of a product of many tokens, for portions of the panel's columns. The first one sets the panel's outputs
 * to 0. The others add the products of columns [k, k + depth) of rows [r, r + rows), with transposed weights `w` in the
 * layout of loops->multiply, or in that of loops->multiply_pairs, which overwrites the outputs at k = 0. */
void graft_product_panel_clear(const struct graft_product_panel *panel);
void graft_product_panel_add(const struct graft_loops *loops, const struct graft_product_panel *panel, int64_t r,
                             int64_t rows, int64_t k, int64_t depth, const float *w);
void graft_product_panel_add_pairs(const struct graft_loops *loops, const struct graft_product_panel *panel, int64_t r,
                                   int64_t rows, int64_t k, int64_t depth, const uint32_t *w);

/* [any] Computes the products of a panel whose weights a source makes: one portion at a time, for all tokens. */
void graft_product_transposed_run(const struct graft_loops *loops, const struct graft_product_panel *panel,
                                  char *scratch);

/* [any] Bytes of scratch memory for graft_product_transposed_run. */
int64_t graft_product_transposed_scratch(const struct graft_product_panel *panel);

/* Computes one panel of y. `scratch` is aligned to 64 bytes. */
void graft_product_panel_run(const struct graft_loops *loops, const struct graft_product_panel *panel, char *scratch);

#endif
