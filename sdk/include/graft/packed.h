/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linears whose weights are integers of 4 or 8 bits, packed into 32-bit words as checkpoints have them:
 *
 *     W[o, i] = scales[g, o] * (q[o, i] - z[g, o]),   g the group of input i
 *
 * A class of that kind (plugins/gptq, plugins/awq) says where words, scales and zero points lie and how codes lie in
 * words (packed_loops.h); graft_packed_forward does the rest. Few tokens read the packed bytes where they are, many are
 * multiplied with panels of W in f32, which holds every such weight exactly.
 */
#ifndef GRAFT_PACKED_H
#define GRAFT_PACKED_H

#include "isa.h"
#include "kernels.h"
#include "linear.h"
#include "threads.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GRAFT_PACKED_STRIP = 64,      /* outputs that are done together */
    GRAFT_PACKED_FEW_TOKENS = 16, /* up to so many tokens read packed bytes, each as if it were alone */
    GRAFT_PACKED_PANEL_ROWS = 512 /* outputs of a panel */
};

struct graft_packed_loops;

/* The plugin's own, as all that it points to: it does not cross to the host, and may change with these headers. */
struct graft_packed {
    const struct graft_packed_loops *loops; /* for this processor */
    int64_t in_features;                    /* columns of W; whole words */
    int64_t out_features;                   /* rows of W; whole words */
    int64_t groups;                         /* of inputs */
    int64_t group_size;                     /* inputs that follow each other; not used where `order` is given */
    const int32_t *order;                   /* [in_features] the inputs, those of group 0 first; NULL: as they are */
    const int64_t *starts;                  /* [groups + 1] where each group starts in `order`; NULL without it */
    int32_t bits;                           /* 4 or 8 */
    int32_t zero_offset;                    /* what is to be added to stored zero points */
    const int32_t *words;                   /* the codes, as the format has them */
    const int32_t *zeros;                   /* [groups, out_features * bits / 32] */
    const struct graft_row_block *scales;   /* [groups, out_features] F32, F16 or BF16 */
    const struct graft_weight *bias;        /* [out_features]; NULL: none */
};

/* One for each instruction set. The outputs are [first, first + n), n at most GRAFT_PACKED_STRIP. */
struct graft_packed_loops {
    const char *name; /* as GRAFT_ISA spells it */
    /* [any] y [n] = W x of one token, x [in_features]. */
    void (*multiply)(const struct graft_packed *self, int64_t first, int64_t n, const float *x, float *y);
    /* [any] out [n, in_features] = rows of W. */
    void (*widen)(const struct graft_packed *self, int64_t first, int64_t n, float *out);
};

/* [any] Of `n` tables (scalar, avx2, avx512: as many as there are, in this order) the best that this processor runs
 * and GRAFT_ISA, if it is set, allows. */
GRAFT_INLINE const struct graft_packed_loops *graft_packed_choose(const struct graft_packed_loops *const *tables,
                                                                  int32_t n) {
    return tables[graft_isa_choose(n)];
}

/* What the bodies of parallel loops are given. */
struct graft_packed_work {
    const struct graft_packed *self; /* what is multiplied */
    const float *x;                  /* [tokens, in_features] */
    int64_t tokens;                  /* rows of x and y */
    float *y;                        /* [tokens, out_features] */
    const float *bias;               /* [out_features], for graft_packed_add_bias */
    int64_t first;                   /* output of a panel */
    int64_t rows;                    /* of a panel */
    float *panel;                    /* [rows, in_features] */
};

GRAFT_ASSERT_SIZE(struct graft_packed, 96);
GRAFT_ASSERT_SIZE(struct graft_packed_loops, 24);
GRAFT_ASSERT_SIZE(struct graft_packed_work, 64);

/* [any] The strips of `rows` outputs. */
GRAFT_INLINE int64_t graft_packed_strip_count(int64_t rows) {
    return (rows + GRAFT_PACKED_STRIP - 1) / GRAFT_PACKED_STRIP;
}

/* [any] How many of `rows` outputs are left at output `first`, at most `most`. */
GRAFT_INLINE int64_t graft_packed_left(int64_t rows, int64_t first, int64_t most) {
    return rows - first < most ? rows - first : most;
}

/* [any] A body: strips [begin, end) of all tokens. */
GRAFT_INLINE void graft_packed_strips(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_work *work = (const struct graft_packed_work *)data;
    const struct graft_packed *self = work->self;
    for (int64_t strip = begin; strip < end; strip++) {
        int64_t first = strip * GRAFT_PACKED_STRIP;
        int64_t n = graft_packed_left(self->out_features, first, GRAFT_PACKED_STRIP);
        for (int64_t t = 0; t < work->tokens; t++) {
            self->loops->multiply(self, first, n, work->x + t * self->in_features,
                                  work->y + t * self->out_features + first);
        }
    }
}

/* [any] A body: strips [begin, end) of a panel, widened. */
GRAFT_INLINE void graft_packed_widen(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_work *work = (const struct graft_packed_work *)data;
    for (int64_t strip = begin; strip < end; strip++) {
        int64_t row = strip * GRAFT_PACKED_STRIP;
        work->self->loops->widen(work->self, work->first + row, graft_packed_left(work->rows, row, GRAFT_PACKED_STRIP),
                                 work->panel + row * work->self->in_features);
    }
}

/* [any] A body: the bias of tokens [begin, end). */
GRAFT_INLINE void graft_packed_add_bias(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_work *work = (const struct graft_packed_work *)data;
    int64_t rows = work->self->out_features;
    for (int64_t i = begin * rows; i < end * rows; i++) {
        work->y[i] += work->bias[i % rows];
    }
}

/* [forward] One panel: widened, then multiplied by the host's kernels. */
GRAFT_INLINE int graft_packed_panel(struct graft_packed_work *work, const struct graft_call *call,
                                    struct graft_error *error) {
    struct graft_row_block block;
    struct graft_weight weight;
    struct graft_product product;
    memset(&weight, 0, sizeof weight);
    memset(&product, 0, sizeof product);
    block.struct_size = (uint32_t)sizeof block;
    block.dtype = GRAFT_DTYPE_F32;
    block.data = work->panel;
    block.rows = work->rows;
    weight.struct_size = (uint32_t)sizeof weight;
    weight.rank = 2;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        weight.shape[i] = i == 0 ? work->rows : i == 1 ? work->self->in_features : 1;
    }
    weight.rows = work->rows;
    weight.columns = work->self->in_features;
    weight.blocks = &block;
    weight.n_blocks = 1;
    weight.block_stride = (uint32_t)sizeof block;
    product.struct_size = (uint32_t)sizeof product;
    product.weight = &weight;
    product.rows = work->rows;
    product.x = work->x;
    product.x_stride = work->self->in_features;
    product.tokens = work->tokens;
    product.y = work->y + work->first;
    product.y_stride = work->self->out_features;
    call->threads->parallel_for(graft_packed_strip_count(work->rows), 1, graft_packed_widen, work);
    return call->kernels->linear(call, &product, 1, sizeof product, error);
}

/* [forward] All panels, one after the other. */
GRAFT_INLINE int graft_packed_panels(struct graft_packed_work *work, const struct graft_call *call,
                                     struct graft_error *error) {
    int64_t rows = work->self->out_features;
    int64_t most = graft_packed_left(rows, 0, GRAFT_PACKED_PANEL_ROWS);
    int status = GRAFT_OK;
    work->panel = graft_scratch_floats(call, most, work->self->in_features, error);
    if (work->panel == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (; work->first < rows && status == GRAFT_OK; work->first += work->rows) {
        work->rows = graft_packed_left(rows, work->first, most);
        status = graft_packed_panel(work, call, error);
    }
    return status;
}

/* [forward] What graft_linear.forward of such a class does. */
GRAFT_INLINE int graft_packed_forward(const struct graft_packed *self, const struct graft_call *call,
                                      const struct graft_linear_args *args, struct graft_error *error) {
    struct graft_packed_work work;
    float *bias = NULL;
    int status = GRAFT_OK;
    memset(&work, 0, sizeof work);
    work.self = self;
    work.x = args->x;
    work.tokens = args->tokens;
    work.y = args->y;
    if (args->tokens <= GRAFT_PACKED_FEW_TOKENS) {
        call->threads->parallel_for(graft_packed_strip_count(self->out_features), 1, graft_packed_strips, &work);
    } else {
        status = graft_packed_panels(&work, call, error);
    }
    if (status != GRAFT_OK || self->bias == NULL) {
        return status;
    }
    bias = graft_scratch_floats(call, self->out_features, 1, error);
    status = bias != NULL ? call->kernels->widen(call, self->bias, bias, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        work.bias = bias;
        call->threads->parallel_for(args->tokens, 8, graft_packed_add_bias, &work);
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
