/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linears whose weights are codes that lie in rows, as those of an unpacked weight do:
 *
 *     W[o, i] = scales[o / block_rows, g] * (code[o, i] - z[o, g]),   g the group of input i
 *
 * Codes have 4 or 8 bits, integers, float8 or float4; libgraft-sdk.a has the loops that read them, compiled for each
 * instruction set (other codes: packed_rows_loops.h). A class of that kind (plugins/fp8, plugins/compressed_tensors)
 * describes how the tensors lie, and graft_packed_rows_forward does the rest. Few tokens (graft_call_is_few) read the
 * codes where they are, in one block of rows or in several, each as if it were alone; many are multiplied with portions
 * or panels (packed_panels.h).
 */
#ifndef GRAFT_PACKED_ROWS_H
#define GRAFT_PACKED_ROWS_H

#include "describe.h"
#include "packed.h"
#include "packed_panels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of codes: integers from 0 on, with a zero point, and such that have a sign; F8_E4M3; E2M1 (a sign, then one of
 * 0, 0.5, 1, 1.5, 2, 3, 4 and 6). Of 4 bits the first has the lower half of a byte. */
enum {
    GRAFT_ROW_KIND_UINT4 = 0,
    GRAFT_ROW_KIND_UINT8 = 1,
    GRAFT_ROW_KIND_INT8 = 2,
    GRAFT_ROW_KIND_FLOAT8 = 3,
    GRAFT_ROW_KIND_FLOAT4 = 4
};

enum {
    GRAFT_PACKED_ROWS_GRAIN = 1 << 16, /* fewer bytes of codes are not worth waking a thread */
    GRAFT_PACKED_ROWS_TILE = 16        /* rows that stay in one thread */
};

struct graft_packed_rows_loops;

/* The plugin's own, as all that it points to: it does not cross to the host, and may change with these headers. */
struct graft_packed_rows {
    const struct graft_packed_rows_loops *loops; /* for this processor and these codes */
    int64_t in_features;                         /* columns of W */
    int64_t out_features;                        /* rows of W */
    int64_t row_bytes;                           /* of a row's codes */
    int64_t block_rows;                          /* rows that share their scales */
    int64_t groups;                              /* of inputs */
    int64_t group_size;                          /* inputs that follow each other: of 4 bits, whole bytes */
    const int32_t *group_of;                     /* [in_features] each below `groups`; NULL: input / group_size */
    int32_t bits;                                /* of a code */
    int32_t input_bits;                          /* 8: those of many tokens may be rounded to so many; else 0 */
    int32_t zero;                                /* the zero point or, with `zeros`, what is to be added to those */
    float divisor;                               /* of scales that are F8_E4M3: f32, as what it gives */
    const int32_t *zeros;                        /* [ceil(out_features * bits / 32), groups], words along outputs */
    const struct graft_weight *codes;            /* [out_features, ..] */
    const struct graft_weight *scales;           /* [ceil(out_features / block_rows), groups] F32, F16, BF16 or, as
                                                    U8, E8M0: 2^(byte - 127); or F8_E4M3, over `divisor`, or
                                                    times `factor` */
    const struct graft_weight *bias;             /* [out_features]; NULL: none */
    float factor;                                /* likewise; 0: there is a divisor */
    uint32_t reserved;                           /* 0 */
};

/* One for each instruction set. */
struct graft_packed_rows_loops {
    const char *name;                             /* as GRAFT_ISA spells it */
    const struct graft_packed_prepared *prepared; /* few tokens; NULL: x is always multiplied as it is */
    /* [any] y [tokens, n] = x W^T for rows [first, first + n); rows of y lie out_features apart. The same to the bit,
     * whichever rows and tokens are done in one call. */
    void (*multiply)(const struct graft_packed_rows *self, int64_t first, int64_t n, const float *x, int64_t tokens,
                     float *y);
    /* [any] out [n, in_features] = rows [first, first + n), F32 and exact or, rounded, BF16. */
    void (*widen)(const struct graft_packed_rows *self, int64_t first, int64_t n, graft_dtype dtype, void *out);
    /* [any] Fills in a portion, where graft_packed_rows_turns; as f32 exact, else rounded. NULL: `widen` does it all.
     */
    void (*turn)(const struct graft_packed_rows *self, const struct graft_turned_portion *portion);
    /* Many tokens, with inputs rounded to 16 bits, where that is faster than what the host multiplies; NULL: it is not.
     */
    const struct graft_packed_prepared *many;
    /* The same, rounded to 8 bits, for classes that allow it (input_bits). */
    const struct graft_packed_prepared *bytes;
};

/* What the bodies of parallel loops are given. */
struct graft_packed_rows_work {
    const struct graft_packed_rows *self; /* what is multiplied */
    const float *x;                       /* [tokens, in_features] */
    int64_t tokens;                       /* rows of x and y */
    float *y;                             /* [tokens, out_features] */
    char *inputs;                         /* [tokens, size] as prepared; NULL: x itself is multiplied */
    int64_t size;                         /* of a token's, in bytes */
    const float *bias;                    /* [out_features]; NULL: there is none */
};

GRAFT_ASSERT_SIZE(struct graft_packed_rows, 120);
GRAFT_ASSERT_SIZE(struct graft_packed_rows_loops, 56);
GRAFT_ASSERT_SIZE(struct graft_packed_rows_work, 56);

/* [any] How many blocks of `size` there are in `count`, the last perhaps smaller. */
GRAFT_INLINE int64_t graft_packed_rows_blocks(int64_t count, int64_t size) {
    return count / size + (count % size != 0);
}

/* [any] The block that has row `row` of a weight, which becomes that row's number in it. */
GRAFT_INLINE const struct graft_row_block *graft_packed_rows_block(const struct graft_weight *weight, int64_t *row) {
    int32_t i = 0;
    while (*row >= graft_weight_block(weight, i)->rows) {
        *row -= graft_weight_block(weight, i)->rows;
        i++;
    }
    return graft_weight_block(weight, i);
}

/* How many builds of its loops a kind of codes has: all. */
enum { GRAFT_PACKED_ROWS_BUILDS = GRAFT_ISA_BUILDS };

/* Those of libgraft-sdk.a. */
extern const struct graft_packed_rows_loops *const graft_packed_rows_uint4[GRAFT_PACKED_ROWS_BUILDS];
extern const struct graft_packed_rows_loops *const graft_packed_rows_uint8[GRAFT_PACKED_ROWS_BUILDS];
extern const struct graft_packed_rows_loops *const graft_packed_rows_int8[GRAFT_PACKED_ROWS_BUILDS];
extern const struct graft_packed_rows_loops *const graft_packed_rows_float8[GRAFT_PACKED_ROWS_BUILDS];
extern const struct graft_packed_rows_loops *const graft_packed_rows_float4[GRAFT_PACKED_ROWS_BUILDS];

/* [any] The best build that this processor runs and GRAFT_ISA, if it is set, allows. */
GRAFT_INLINE const struct graft_packed_rows_loops *
graft_packed_rows_choose(const struct graft_packed_rows_loops *const builds[GRAFT_PACKED_ROWS_BUILDS]) {
    return builds[graft_isa_choose(GRAFT_PACKED_ROWS_BUILDS)];
}

/* --- Describing and binding --- */

/* [load] In `describe`: the sizes that the parent gives. */
GRAFT_INLINE int graft_packed_rows_sizes(const struct graft_args *args, const char *path,
                                         struct graft_packed_rows *self, struct graft_error *error) {
    int status = graft_args_size(args, "in_features", INT32_MAX, path, &self->in_features, error);
    return status == GRAFT_OK ? graft_args_size(args, "out_features", INT32_MAX, path, &self->out_features, error)
                              : status;
}

/* [load] Describes the sizes and the bias of a module, which the checkpoint may have without the architecture. Where a
 * class above has but some of the inputs read, it adds the bias to the sum (linear.h). */
GRAFT_INLINE int graft_packed_rows_describe(const struct graft_sink *sink, const struct graft_packed_rows *self,
                                            const struct graft_args *args, struct graft_error *error) {
    const int32_t is_part = graft_args_int(args, "whole_in_features", self->in_features) > self->in_features;
    int32_t bias = graft_args_int(args, "bias", 1) != 0 ? GRAFT_INIT_NONE : GRAFT_INIT_ABSENT;
    int status = graft_describe_number(sink, "in_features", self->in_features, error);
    if (status == GRAFT_OK) {
        status = graft_describe_number(sink, "out_features", self->out_features, error);
    }
    return status == GRAFT_OK && !is_part
               ? graft_describe_parameter(sink, "bias", 1, &self->out_features, 0, bias, error)
               : status;
}

/* [load] Describes the codes, a row for each output: in one block, or in several, as joined projections have them. */
GRAFT_INLINE int graft_packed_rows_codes(const struct graft_sink *sink, const char *name, int64_t rows, int64_t columns,
                                         graft_dtype dtype, struct graft_error *error) {
    const int64_t shape[2] = {rows, columns};
    return graft_describe_joined(sink, name, 2, shape, dtype, 0, graft_join_rows(0, 1), error);
}

/* [load] Describes their scales: a row for each `block_rows` outputs or, `is_one`, a single number for all of them,
 * which the checkpoint may have without a dimension. */
GRAFT_INLINE int graft_packed_rows_scales(const struct graft_sink *sink, const char *name,
                                          const struct graft_packed_rows *self, int is_one, struct graft_error *error) {
    int64_t shape[2];
    shape[0] = is_one ? 1 : graft_packed_rows_blocks(self->out_features, self->block_rows);
    shape[1] = self->groups;
    return is_one ? graft_describe_joined(sink, name, 1, shape, GRAFT_DTYPE_NONE, GRAFT_PARAMETER_SCALAR,
                                          graft_join_whole(GRAFT_JOIN_EQUAL), error)
                  : graft_describe_joined(sink, name, 2, shape, GRAFT_DTYPE_NONE, 0,
                                          graft_join_rows(0, self->block_rows), error);
}

/* [load] Describes the scale that a checkpoint has for activations, and that is not used. */
GRAFT_INLINE int graft_packed_rows_input_scale(const struct graft_sink *sink, const char *name,
                                               struct graft_error *error) {
    const int64_t one = 1;
    return graft_describe_joined(sink, name, 1, &one, GRAFT_DTYPE_NONE, GRAFT_PARAMETER_SCALAR,
                                 graft_join_whole(GRAFT_JOIN_EACH), error);
}

/* [load] In `create`: points to codes, scales and bias, as they were described. */
GRAFT_INLINE int graft_packed_rows_bind(const struct graft_build *build, const char *codes, const char *scales,
                                        struct graft_packed_rows *self, struct graft_error *error) {
    int status = GRAFT_OK;
    self->codes = graft_build_weight(build, codes, &status, error);
    self->scales = graft_build_weight(build, scales, &status, error);
    self->bias = build->weight(build->data, "bias"); /* or NULL */
    return status;
}

/* [load] What `create` of such a class does: the instance is what `describe` kept, bound, and `free` frees it. */
GRAFT_INLINE int graft_packed_rows_create(const struct graft_build *build, const struct graft_packed_rows_loops *loops,
                                          const char *codes, const char *scales, void **instance,
                                          struct graft_error *error) {
    struct graft_packed_rows *self = (struct graft_packed_rows *)malloc(sizeof *self);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    memcpy(self, build->kept, sizeof *self);
    self->loops = loops;
    int status = graft_packed_rows_bind(build, codes, scales, self, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* --- Forward --- */

/* [any] Which loops with prepared inputs multiply few tokens, or many, with --dtype other than float32; NULL: none. */
GRAFT_INLINE const struct graft_packed_prepared *graft_packed_rows_integers(const struct graft_packed_rows *self,
                                                                            int is_few) {
    const struct graft_packed_rows_loops *loops = self->loops;
    if (!is_few) {
        return graft_packed_choose_many(self, self->input_bits, loops->many, loops->bytes);
    }
    return loops->prepared != NULL && loops->prepared->size(self) > 0 ? loops->prepared : NULL;
}

/* [forward] Likewise for a call. */
GRAFT_INLINE const struct graft_packed_prepared *graft_packed_rows_how(const struct graft_packed_rows *self,
                                                                       const struct graft_call *call, int64_t tokens) {
    return call->precision == GRAFT_PRECISION_FLOAT32
               ? NULL
               : graft_packed_rows_integers(self, graft_call_is_few(call, tokens));
}

/* [any] A body: tokens [begin, end) of the input. */
GRAFT_INLINE void graft_packed_rows_prepare(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_rows_work *work = (const struct graft_packed_rows_work *)data;
    const struct graft_packed_rows *self = work->self;
    for (int64_t t = begin; t < end; t++) {
        self->loops->prepared->prepare(self, work->x + t * self->in_features, work->inputs + t * work->size);
    }
}

/* [any] A body: tiles [begin, end) of all tokens. */
GRAFT_INLINE void graft_packed_rows_tiles(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_rows_work *work = (const struct graft_packed_rows_work *)data;
    const struct graft_packed_rows *self = work->self;
    const int64_t first = begin * GRAFT_PACKED_ROWS_TILE, last = end * GRAFT_PACKED_ROWS_TILE;
    const int64_t n = (last < self->out_features ? last : self->out_features) - first;
    if (work->inputs != NULL) {
        self->loops->prepared->multiply(self, first, n, work->inputs, work->tokens, work->y + first);
    } else {
        self->loops->multiply(self, first, n, work->x, work->tokens, work->y + first);
    }
    if (work->bias != NULL) {
        graft_packed_add_row(work->bias + first, n, work->tokens, work->y + first, self->out_features);
    }
}

/* [any] Whether portions can be made of the weight: its groups have to end where portions may. */
GRAFT_INLINE int graft_packed_rows_turns(const struct graft_packed_rows *self) {
    return self->loops->turn != NULL && self->group_of == NULL &&
           (self->groups == 1 || self->group_size % GRAFT_TURNED_COLUMNS == 0);
}

/* [any] As graft_panels has it. */
GRAFT_INLINE void graft_packed_rows_turn(const void *weight, const struct graft_turned_portion *portion) {
    const struct graft_packed_rows *self = (const struct graft_packed_rows *)weight;
    self->loops->turn(self, portion);
}

/* [any] Likewise. */
GRAFT_INLINE void graft_packed_rows_widen(const void *weight, int64_t first, int64_t n, graft_dtype dtype, void *out) {
    const struct graft_packed_rows *self = (const struct graft_packed_rows *)weight;
    self->loops->widen(self, first, n, dtype, out);
}

/* [any] What graft_linear.read_rows of such a class does. */
GRAFT_INLINE void graft_packed_rows_read(const struct graft_packed_rows *self, int64_t first, int64_t n, float *weight,
                                         float *bias) {
    graft_packed_rows_widen(self, first, n, GRAFT_DTYPE_F32, weight);
    graft_packed_read_bias(self->bias, first, n, bias);
}

/* [forward] The inputs of few tokens as prepared, if they are to be. */
GRAFT_INLINE int graft_packed_rows_make_inputs(const struct graft_call *call, struct graft_packed_rows_work *work,
                                               struct graft_error *error) {
    const struct graft_packed_prepared *how = graft_packed_rows_how(work->self, call, work->tokens);
    if (how == NULL) {
        return GRAFT_OK;
    }
    work->size = how->size(work->self);
    work->inputs = (char *)graft_scratch_floats(call, work->tokens, work->size / (int64_t)sizeof(float), error);
    if (work->inputs == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    call->threads->parallel_for(work->tokens, 4, graft_packed_rows_prepare, work);
    return GRAFT_OK;
}

/* [forward] What graft_linear.as_loop of such a class does: the inputs, then tiles in one loop. */
GRAFT_INLINE int graft_packed_rows_as_loop(const struct graft_packed_rows *self, const struct graft_call *call,
                                           const struct graft_linear_args *args, struct graft_loop *loop,
                                           struct graft_error *error) {
    struct graft_packed_rows_work *work = NULL;
    if (!graft_call_is_few(call, args->tokens)) {
        return graft_packed_many_as_loop(self, graft_packed_rows_how(self, call, args->tokens), self->in_features,
                                         self->out_features, self->bias, call, args, loop, error);
    }
    work = (struct graft_packed_rows_work *)graft_scratch_zeroed(call, (int64_t)sizeof *work, error);
    if (work == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    work->self = self;
    work->x = args->x;
    work->tokens = args->tokens;
    work->y = args->y;
    int status = graft_packed_bias(self->bias, call, self->out_features, &work->bias, error);
    if (status == GRAFT_OK) {
        status = graft_packed_rows_make_inputs(call, work, error);
    }
    if (status == GRAFT_OK) {
        graft_loop_set(loop, graft_packed_rows_blocks(self->out_features, GRAFT_PACKED_ROWS_TILE),
                       1 + GRAFT_PACKED_ROWS_GRAIN / (GRAFT_PACKED_ROWS_TILE * self->row_bytes),
                       graft_packed_rows_tiles, work);
        graft_loop_set_outputs(loop, GRAFT_PACKED_ROWS_TILE);
    }
    return status;
}

/* [forward] Many tokens with portions or panels of the weight. */
GRAFT_INLINE int graft_packed_rows_many(const struct graft_packed_rows *self, const struct graft_call *call,
                                        const struct graft_linear_args *args, struct graft_error *error) {
    struct graft_panels panels;
    panels.weight = self;
    panels.rows = self->out_features;
    panels.columns = self->in_features;
    panels.unit = 1;
    panels.widen = graft_packed_rows_widen;
    panels.turn = graft_packed_rows_turns(self) ? graft_packed_rows_turn : NULL;
    int status = graft_panels_multiply(&panels, call, args->x, args->tokens, args->y, error);
    return status == GRAFT_OK
               ? graft_packed_add_bias(self->bias, call, self->out_features, args->tokens, args->y, error)
               : status;
}

/* [forward] What graft_linear.forward of such a class does: y [tokens, out_features] = x W^T + b. */
GRAFT_INLINE int graft_packed_rows_forward(const struct graft_packed_rows *self, const struct graft_call *call,
                                           const struct graft_linear_args *args, struct graft_error *error) {
    struct graft_loop loop = graft_loop_none();
    int status = graft_packed_rows_as_loop(self, call, args, &loop, error);
    if (status == GRAFT_OK && loop.items > 0) {
        graft_loops_run(call->threads, &loop, 1);
    } else if (status == GRAFT_OK) {
        status = graft_packed_rows_many(self, call, args, error);
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
