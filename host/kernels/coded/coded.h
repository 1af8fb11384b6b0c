/* SPDX-License-Identifier: Apache-2.0 */
/* Products with coded weights (graft/codec.h), whose codes are in rows, or in rows that lie abreast (abreast.h).
 *
 * For few tokens (graft_call_is_small_batch) the codes are used directly, and each token is computed as if it were
 * alone. For many tokens, rows are multiplied as integers if that is faster than the host's other products (panels.h);
 * otherwise portions of the weight are widened for those products (transposed.h). Loops are compiled once for each
 * instruction set (kind.h), with a file for each kind of codes. */
#ifndef GRAFT_KERNELS_CODED_CODED_H
#define GRAFT_KERNELS_CODED_CODED_H

#include "graft/codec.h"
#include "graft/isa.h"
#include "kernels/transposed.h"

enum { GRAFT_CODED_PANEL = 64 /* rows that one thread computes together for many tokens */ };

struct graft_coded_loops;

/* Rows of a coded weight, and the strides of the tokens in x and y. */
struct graft_coded {
    const struct graft_coded_loops *loops; /* the loops for this processor and these codes */
    int64_t columns;                       /* columns of the weight, which are inputs */
    int64_t first;                         /* index of the first stored row */
    int64_t step;                          /* stored rows from one row to the next */
    int64_t x_stride;                      /* floats from token to token */
    int64_t y_stride;                      /* likewise */
    int64_t row_bytes;                     /* bytes of a stored row's codes */
    int64_t block_rows;                    /* stored rows that share their scales */
    int64_t groups;                        /* number of groups of columns */
    int64_t group_size;                    /* consecutive columns of a group; with 4 bits they fill whole bytes */
    const int32_t *group_of;               /* [columns] each below `groups`; NULL: column / group_size */
    int32_t bits;                          /* bits of a code: 4 or 8 */
    int32_t input_bits;                    /* 8: inputs of many tokens may be rounded to 8 bits; else 0 */
    int32_t zero;                          /* the zero point; with `zeros`, what is added to each of them */
    float divisor;                         /* the divisor of F8_E4M3 scales, in f32 */
    const int32_t *zeros;                  /* [ceil(stored rows * bits / 32), groups], words along rows; or NULL */
    const void *zero_numbers;              /* [stored rows, groups] zero points as floats instead; or NULL */
    const unsigned char *zero_bytes;       /* of rows abreast, [groups, stored rows]: all of each; or NULL */
    const struct graft_weight *codes;      /* a row of bytes for each stored row */
    const struct graft_weight *scales;     /* [ceil(stored rows / block_rows), groups] */
    float factor;                          /* the factor of F8_E4M3 scales; 0: there is a divisor */
    graft_dtype zero_dtype;                /* type of zero_numbers: F32, F16 or BF16 */
    const float *table;                    /* [16] the numbers that codes stand for (GRAFT_CODE_TABLE) */
};

/* Products with inputs that are converted or reordered first, if --dtype is not float32. Products of bf16 or of
 * integers round inputs, but not codes and scales. */
struct graft_coded_prepared {
    /* [any] The bytes of a token's prepared inputs, a multiple of 64; 0 if these loops do not support the weight's
     * group sizes. */
    int64_t (*size)(const struct graft_coded *self);
    /* [any] Converts or reorders one token's inputs, x [columns], into `inputs`, of `size` bytes. */
    void (*prepare)(const struct graft_coded *self, const float *x, void *inputs);
    /* [any] y [tokens, n] = x W^T for rows [first, first + n), with prepared inputs, token after token. Results are the
     * same to the bit, however rows and tokens are divided into calls. */
    void (*multiply)(const struct graft_coded *self, int64_t first, int64_t n, const void *inputs, int64_t tokens,
                     float *y);
};

/* The loops of one kind of codes for one instruction set. */
struct graft_coded_loops {
    const char *name;                            /* the instruction set's name in GRAFT_ISA */
    const struct graft_coded_prepared *prepared; /* for few tokens; if its size is 0, x is multiplied unprepared */
    /* [any] y [tokens, n] = x W^T for rows [first, first + n). Results are the same to the bit, however rows and tokens
     * are divided into calls. */
    void (*multiply)(const struct graft_coded *self, int64_t first, int64_t n, const float *x, int64_t tokens,
                     float *y);
    /* [any] out [n, columns] = rows [first, first + n), exact as F32 or rounded to BF16. */
    void (*widen)(const struct graft_coded *self, int64_t first, int64_t n, graft_dtype dtype, void *out);
    /* [any] Fills in a transposed portion of a weight whose groups end only where portions can end; exact if the
     * portion is f32, rounded otherwise. */
    void (*turn)(const struct graft_coded *self, const struct graft_transposed_portion *portion);
    /* For many tokens, with inputs rounded to 16 bits; of size 0 if it is not faster than the host's other products. */
    const struct graft_coded_prepared *many;
    /* Like `many`, with inputs rounded to 8 bits, for weights that allow it (input_bits). */
    const struct graft_coded_prepared *bytes;
    /* How many rows lie abreast (abreast.h); 0: each row lies in one piece. */
    int64_t abreast;
};

/* [any] The loops for one kind of codes on this processor. */
const struct graft_coded_loops *graft_coded_loops_of(int32_t kind, int32_t bits);

/* [any] The number of columns of a group; of a single group, all. */
static inline int64_t graft_coded_group_columns(const struct graft_coded *self) {
    return self->groups == 1 ? self->columns : self->group_size;
}

/* [any] Whether rows have zero points of their own. */
static inline int graft_coded_has_zeros(const struct graft_coded *self) {
    return self->zeros != NULL || self->zero_numbers != NULL || self->zero_bytes != NULL;
}

/* [any] The block that has row `row` of a weight; `row` becomes the row's number within the block. */
static inline const struct graft_row_block *graft_coded_block(const struct graft_weight *weight, int64_t *row) {
    int32_t i = 0;
    while (*row >= graft_weight_block(weight, i)->rows) {
        *row -= graft_weight_block(weight, i)->rows;
        i++;
    }
    return graft_weight_block(weight, i);
}

/* [any] How many of `count` elements follow `first`, at most `most`. */
static inline int64_t graft_coded_left(int64_t count, int64_t first, int64_t most) {
    return count - first < most ? count - first : most;
}

#endif
