/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linears whose weights are integers of 4 or 8 bits, packed into 32-bit words as checkpoints have them:
 *
 *     W[o, i] = scales[g, o] * (q[o, i] - z[g, o]),   g the group of input i
 *
 * A class of that kind (plugins/gptq, plugins/awq) says where words, scales and zero points lie and how codes lie in
 * words (packed_format.h); graft_packed_forward does the rest. Few tokens (graft_call_is_few) read the packed bytes
 * where they are, each as if it were alone; many are multiplied as integers (packed_many_loops.h), or with panels of W
 * by the host's kernels.
 *
 * With --dtype float32 both factors are f32, which holds every such weight exactly. Otherwise packed weights count as
 * bf16: panels are rounded; integers and scales of few tokens stay exact. With AVX2 and AVX-512 activations become
 * integers of 16 bits (graft_packed_step), if codes have 4 bits and groups are small; else they are rounded to bf16
 * where the processor multiplies that.
 */
#ifndef GRAFT_PACKED_H
#define GRAFT_PACKED_H

#include "dtype.h"
#include "isa.h"
#include "kernels.h"
#include "linear.h"
#include "packed_bias.h"
#include "packed_many.h"
#include "packed_panels.h"
#include "threads.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GRAFT_PACKED_STRIP = 64,      /* outputs that one thread does at least */
    GRAFT_PACKED_STRIPS = 32,     /* and so many strips together, where there are enough of them for all threads */
    GRAFT_PACKED_TILE_TOKENS = 4, /* of these, so many share what is unpacked */
    GRAFT_PACKED_GRAIN = 1 << 17  /* fewer bytes of weights are not worth waking a thread */
};

struct graft_packed_loops;

/* The plugin's own, as all that it points to: it does not cross to the host, and may change with these headers. */
struct graft_packed {
    const struct graft_packed_loops *loops; /* for this processor */
    int64_t in_features;                    /* columns of W; whole words */
    int64_t out_features;                   /* rows of W; whole words */
    int64_t groups;                         /* of inputs */
    int64_t group_size;                     /* inputs that follow each other; not used where `group_of` is given */
    const int32_t *group_of;                /* [in_features] each below `groups`; NULL: input / group_size */
    int32_t bits;                           /* 4 or 8 */
    int32_t zero_offset;                    /* what is to be added to stored zero points */
    int32_t input_bits;                     /* 8: those of many tokens may be rounded to so many; else 0 */
    uint32_t reserved;
    const int32_t *words;                 /* the codes, as the format has them */
    const int32_t *zeros;                 /* the zero points, likewise */
    const struct graft_row_block *scales; /* [groups, out_features] F32, F16 or BF16 */
    const struct graft_weight *bias;      /* [out_features]; NULL: none */
};

/* The rows of x as `multiply` wants them. A code of 8 bits counts as two of 4, the upper one with 16 times the input:
 * `codes` is how many there are of an output. */
struct graft_packed_input {
    int64_t codes;    /* in_features * bits / 4 */
    int32_t *numbers; /* [tokens, codes] f32, or pairs of bf16 or integers in the first half of each row */
    float *sums;      /* [tokens, groups] of x, as rounded */
    float *factors;   /* [tokens, groups] what integers are to be multiplied by */
    float *scattered; /* [strips, groups, GRAFT_PACKED_STRIP] for graft_packed_is_scattered; else NULL */
};

/* One kind of arithmetic. The outputs are [first, first + n), `first` that of a strip. */
struct graft_packed_arithmetic {
    /* [any] Fills in row t of the input for x [in_features]. */
    void (*prepare)(const struct graft_packed *self, const float *x, struct graft_packed_input *input, int64_t t);
    /* [any] y = W x for `tokens` rows of the input from row t on, at most GRAFT_PACKED_TILE_TOKENS. y [tokens, n],
     * rows out_features apart. */
    void (*multiply)(const struct graft_packed *self, const struct graft_packed_input *input, int64_t t, int64_t tokens,
                     int64_t first, int64_t n, float *y);
    /* [any] out [n, in_features] = rows of W, f32 or bf16. */
    void (*widen)(const struct graft_packed *self, int64_t first, int64_t n, void *out);
    /* [any] Fills in a portion of W; of layouts, those that go with the arithmetic. */
    void (*turn)(const struct graft_packed *self, const struct graft_turned_portion *portion);
};

/* One for each instruction set. */
struct graft_packed_loops {
    const char *name;                       /* as GRAFT_ISA spells it */
    struct graft_packed_arithmetic exact;   /* f32 */
    struct graft_packed_arithmetic rounded; /* bf16; few tokens integers or, where there is neither, f32 */
    int64_t rounds;                         /* groups of at most so many inputs for few tokens; others are exact */
    /* Many tokens, with inputs rounded to 16 bits, where that is faster than what the host multiplies; NULL: it is not.
     */
    const struct graft_packed_prepared *many;
    /* The same, rounded to 8 bits, for classes that allow it (input_bits). */
    const struct graft_packed_prepared *bytes;
};

GRAFT_ASSERT_SIZE(struct graft_packed, 96);
GRAFT_ASSERT_SIZE(struct graft_packed_input, 40);
GRAFT_ASSERT_SIZE(struct graft_packed_arithmetic, 32);
GRAFT_ASSERT_SIZE(struct graft_packed_loops, 96);

/* [any] Of `n` tables (GRAFT_ISA_ALL_TABLES, or as many as there are in this order) the best that this processor runs
 * and GRAFT_ISA, if it is set, allows. */
GRAFT_INLINE const struct graft_packed_loops *graft_packed_choose(const struct graft_packed_loops *const *tables,
                                                                  int32_t n) {
    return tables[graft_isa_choose(n)];
}

/* [any] Inputs of a 32-bit word. */
GRAFT_INLINE int64_t graft_packed_slots(const struct graft_packed *self) {
    return 32 / self->bits;
}

/* [any] Whether inputs of one word may be of several groups, as with act-order. */
GRAFT_INLINE int graft_packed_is_scattered(const struct graft_packed *self) {
    return self->group_of != NULL || self->group_size % graft_packed_slots(self) != 0;
}

/* [any] The group of an input. */
GRAFT_INLINE int64_t graft_packed_group_of(const struct graft_packed *self, int64_t input) {
    return self->group_of != NULL ? self->group_of[input] : input / self->group_size;
}

/* [any] Whether few tokens may have rounded products. */
GRAFT_INLINE int graft_packed_rounds(const struct graft_packed *self) {
    return !graft_packed_is_scattered(self) && self->group_size <= self->loops->rounds;
}

/* [any] The strips of `rows` outputs. */
GRAFT_INLINE int64_t graft_packed_strip_count(int64_t rows) {
    return (rows + GRAFT_PACKED_STRIP - 1) / GRAFT_PACKED_STRIP;
}

/* [any] How many of `rows` outputs are left at output `first`, at most `most`. */
GRAFT_INLINE int64_t graft_packed_left(int64_t rows, int64_t first, int64_t most) {
    return rows - first < most ? rows - first : most;
}

/* [forward] How many strips a thread should get at least. */
GRAFT_INLINE int64_t graft_packed_grain(const struct graft_packed *self, const struct graft_call *call) {
    int64_t worth = GRAFT_PACKED_GRAIN / (GRAFT_PACKED_STRIP * self->in_features * self->bits / 8) + 1;
    int64_t share = graft_packed_strip_count(self->out_features) / call->threads->count();
    share = graft_packed_left(share, 0, GRAFT_PACKED_STRIPS);
    return share > worth ? share : worth;
}

/* [any] What integers count for, if the largest number among those that share it allows that: 0 if it is below 2^-100,
 * NaN if it is not finite. */
GRAFT_INLINE float graft_packed_step_if(float largest, float step) {
    return largest < 7.8886090522101181e-31F ? 0.0F : step + largest * 0.0F;
}

/* [any] What integers of 16 bits count for where activations become such: a power of two, so that the largest of those
 * that share it, without its sign, is from 2^14 to 2^15. They are off by at most 2^-15 of that one; those that are bf16
 * are exact down to its 128th part. 0 if it is below 2^-100: then all count as zeros. NaN if it is not finite. */
GRAFT_INLINE float graft_packed_step(float largest) {
    const float rounded_up = largest * 1.000030517578125F; /* 1 + 2^-15 */
    uint32_t bits;
    float power;
    memcpy(&bits, &rounded_up, sizeof bits);
    bits &= 0x7f800000;
    memcpy(&power, &bits, sizeof power);
    return graft_packed_step_if(largest, power / 16384.0F);
}

/* [any] The largest of n numbers without its sign; NaN if there is one among them, 0 of none. As integers, since
 * without their signs numbers have the order of their bits, infinity comes next and NaN last: compilers do many at
 * once. */
GRAFT_INLINE float graft_packed_largest(const float *x, int64_t n) {
    uint32_t most = 0;
    float number;
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits &= 0x7fffffff;
        most = bits > most ? bits : most;
    }
    memcpy(&number, &most, sizeof number);
    return number;
}

/* [any] What n activations that share a step are multiplied by to become integers of 16 bits; and the step. */
GRAFT_INLINE float graft_packed_factor(const float *x, int64_t n, float *step) {
    *step = graft_packed_step(graft_packed_largest(x, n));
    return *step > 0.0F ? 1.0F / *step : 0.0F;
}

/* What the bodies of parallel loops are given. */
struct graft_packed_work {
    const struct graft_packed *self;           /* what is multiplied */
    const struct graft_packed_arithmetic *how; /* the arithmetic asked for */
    const float *x;                            /* [tokens, in_features] */
    int64_t tokens;                            /* rows of x and y */
    float *y;                                  /* [tokens, out_features] */
    const float *bias;                         /* [out_features]; NULL: there is none */
    struct graft_packed_input input;           /* of few tokens */
};

GRAFT_ASSERT_SIZE(struct graft_packed_work, 88);

/* [any] A body: tokens [begin, end) of the input. */
GRAFT_INLINE void graft_packed_prepare(void *data, int64_t begin, int64_t end) {
    struct graft_packed_work *work = (struct graft_packed_work *)data;
    for (int64_t t = begin; t < end; t++) {
        work->how->prepare(work->self, work->x + t * work->self->in_features, &work->input, t);
    }
}

/* [any] A body: strips [begin, end) of all tokens. */
GRAFT_INLINE void graft_packed_strips(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_work *work = (const struct graft_packed_work *)data;
    const struct graft_packed *self = work->self;
    for (int64_t strip = begin; strip < end; strip += GRAFT_PACKED_STRIPS) {
        int64_t first = strip * GRAFT_PACKED_STRIP;
        int64_t strips = graft_packed_left(end, strip, GRAFT_PACKED_STRIPS);
        int64_t n = graft_packed_left(self->out_features, first, strips * GRAFT_PACKED_STRIP);
        for (int64_t t = 0; t < work->tokens; t += GRAFT_PACKED_TILE_TOKENS) {
            int64_t tokens = graft_packed_left(work->tokens, t, GRAFT_PACKED_TILE_TOKENS);
            work->how->multiply(self, &work->input, t, tokens, first, n, work->y + t * self->out_features + first);
        }
        if (work->bias != NULL) {
            graft_packed_add_row(work->bias + first, n, work->tokens, work->y + first, self->out_features);
        }
    }
}

/* [any] As graft_panels has it. */
GRAFT_INLINE void graft_packed_widen(const void *weight, int64_t first, int64_t n, graft_dtype dtype, void *out) {
    const struct graft_packed *self = (const struct graft_packed *)weight;
    const int is_exact = dtype == GRAFT_DTYPE_F32;
    const struct graft_packed_arithmetic *how = is_exact ? &self->loops->exact : &self->loops->rounded;
    for (int64_t row = 0; row < n; row += GRAFT_PACKED_STRIP) {
        how->widen(self, first + row, graft_packed_left(n, row, GRAFT_PACKED_STRIP),
                   (char *)out + row * self->in_features * (is_exact ? 4 : 2));
    }
}

/* [any] As graft_panels has it. */
GRAFT_INLINE void graft_packed_turn(const void *weight, const struct graft_turned_portion *portion) {
    const struct graft_packed *self = (const struct graft_packed *)weight;
    const int is_exact = portion->layout == GRAFT_TURNED_F32;
    (is_exact ? &self->loops->exact : &self->loops->rounded)->turn(self, portion);
}

/* [forward] Room for the inputs of few tokens. */
GRAFT_INLINE int graft_packed_make_input(const struct graft_packed *self, const struct graft_call *call, int64_t tokens,
                                         struct graft_packed_input *input, struct graft_error *error) {
    const int is_scattered = graft_packed_is_scattered(self);
    input->codes = self->in_features * self->bits / 4;
    input->numbers = graft_scratch_ints(call, tokens * input->codes, error);
    input->sums = graft_scratch_floats(call, tokens, self->groups, error);
    input->factors = graft_scratch_floats(call, tokens, self->groups, error);
    if (is_scattered) {
        const int64_t strips = graft_packed_strip_count(self->out_features);
        input->scattered = graft_scratch_floats(call, strips * self->groups, GRAFT_PACKED_STRIP, error);
    }
    return input->numbers == NULL || input->sums == NULL || input->factors == NULL ||
                   (is_scattered && input->scattered == NULL)
               ? GRAFT_ERROR_INTERNAL
               : GRAFT_OK;
}

/* [any] Which loops of integers multiply many tokens; NULL: the host's kernels do. */
GRAFT_INLINE const struct graft_packed_prepared *graft_packed_how(const struct graft_packed *self,
                                                                  const struct graft_call *call) {
    const struct graft_packed_loops *loops = self->loops;
    return call->precision == GRAFT_PRECISION_FLOAT32
               ? NULL
               : graft_packed_choose_many(self, self->input_bits, loops->many, loops->bytes);
}

/* [forward] What graft_linear.as_loop of such a class does: the input, then the strips in one loop. */
GRAFT_INLINE int graft_packed_as_loop(const struct graft_packed *self, const struct graft_call *call,
                                      const struct graft_linear_args *args, struct graft_loop *loop,
                                      struct graft_error *error) {
    const int is_exact = call->precision == GRAFT_PRECISION_FLOAT32 || !graft_packed_rounds(self);
    struct graft_packed_work *work = NULL;
    if (!graft_call_is_few(call, args->tokens)) {
        return graft_packed_many_as_loop(self, graft_packed_how(self, call), self->in_features, self->out_features,
                                         self->bias, call, args, loop, error);
    }
    work = (struct graft_packed_work *)graft_scratch_zeroed(call, (int64_t)sizeof *work, error);
    if (work == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    work->self = self;
    work->how = is_exact ? &self->loops->exact : &self->loops->rounded;
    work->x = args->x;
    work->tokens = args->tokens;
    work->y = args->y;
    int status = graft_packed_make_input(self, call, args->tokens, &work->input, error);
    if (status == GRAFT_OK) {
        status = graft_packed_bias(self->bias, call, self->out_features, &work->bias, error);
    }
    if (status == GRAFT_OK) {
        call->threads->parallel_for(work->tokens, 4, graft_packed_prepare, work);
        graft_loop_set(loop, graft_packed_strip_count(self->out_features), graft_packed_grain(self, call),
                       graft_packed_strips, work);
        graft_loop_set_outputs(loop, GRAFT_PACKED_STRIP);
    }
    return status;
}

/* [forward] Many tokens: panels, one after the other. */
GRAFT_INLINE int graft_packed_many(const struct graft_packed *self, const struct graft_call *call,
                                   const struct graft_linear_args *args, struct graft_error *error) {
    struct graft_panels panels;
    panels.weight = self;
    panels.rows = self->out_features;
    panels.columns = self->in_features;
    panels.unit = GRAFT_PACKED_STRIP;
    panels.widen = graft_packed_widen;
    panels.turn = graft_packed_turn;
    int status = graft_panels_multiply(&panels, call, args->x, args->tokens, args->y, error);
    return status == GRAFT_OK
               ? graft_packed_add_bias(self->bias, call, self->out_features, args->tokens, args->y, error)
               : status;
}

/* [forward] What graft_linear.forward of such a class does. */
GRAFT_INLINE int graft_packed_forward(const struct graft_packed *self, const struct graft_call *call,
                                      const struct graft_linear_args *args, struct graft_error *error) {
    struct graft_loop loop = graft_loop_none();
    int status = graft_packed_as_loop(self, call, args, &loop, error);
    if (status == GRAFT_OK && loop.items > 0) {
        graft_loops_run(call->threads, &loop, 1);
    } else if (status == GRAFT_OK) {
        status = graft_packed_many(self, call, args, error);
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
