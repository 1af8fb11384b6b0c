/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed weights with loops that put inputs into a form of their own first, and many tokens times such a weight: the
 * inputs, then panels of outputs in one loop.
 */
#ifndef GRAFT_PACKED_MANY_H
#define GRAFT_PACKED_MANY_H

#include "args.h"
#include "isa.h"
#include "linear.h"
#include "option.h"
#include "packed_bias.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GRAFT_PACKED_PANEL = 64 /* outputs that stay in one thread */ };

/* Products with inputs in another order, with --dtype other than float32. Where they are of bf16 or of integers, inputs
 * are rounded; codes and scales are not. The plugin's own, as all here: it does not cross to the host. */
struct graft_packed_prepared {
    /* [any] Bytes of a token's inputs as prepared, a multiple of 64; 0 if the weight has groups of sizes that these
     * loops are not for. */
    int64_t (*size)(const void *weight);
    /* [any] Fills in `inputs` for x [in_features]. */
    void (*prepare)(const void *weight, const float *x, void *inputs);
    /* [any] y [tokens, n] = x W^T for outputs [first, first + n), of inputs as prepared, token after token; rows of y
     * lie out_features apart. The same to the bit, whichever outputs and tokens are done in one call. */
    void (*multiply)(const void *weight, int64_t first, int64_t n, const void *inputs, int64_t tokens, float *y);
};

/* What the bodies of parallel loops are given. */
struct graft_packed_many_work {
    const void *weight;                      /* what is multiplied */
    const struct graft_packed_prepared *how; /* by which loops */
    int64_t in_features;                     /* of the weight */
    int64_t out_features;                    /* likewise */
    const float *x;                          /* [tokens, in_features] */
    int64_t tokens;                          /* rows of x and y */
    float *y;                                /* [tokens, out_features] */
    char *inputs;                            /* [tokens, size] */
    int64_t size;                            /* of a token's, in bytes */
    const float *bias;                       /* [out_features]; NULL: there is none */
};

GRAFT_ASSERT_SIZE(struct graft_packed_prepared, 24);
GRAFT_ASSERT_SIZE(struct graft_packed_many_work, 80);

/* Defines the static graft_packed_prepared `name`, which is for no weight. */
#define GRAFT_PACKED_UNPREPARED(name)                \
    static int64_t name##_size(const void *weight) { \
        (void)weight;                                \
        return 0;                                    \
    }                                                \
    static const struct graft_packed_prepared name = {name##_size, NULL, NULL};

/* The initialisers of a plugin's option that lets activations be rounded, for graft_packed_input_bits. */
#define GRAFT_PACKED_ACTIVATION_BITS(bits)                                                                 \
    .struct_size = sizeof(struct graft_option), .kind = GRAFT_OPTION_INT, .name = "activation_bits",       \
    .help = "8: activations of many tokens, as prompts have, are rounded to 8 bits and multiplied faster", \
    .default_value = (bits), .choices = (const char *const[]) {                                            \
        "8", "16", NULL                                                                                    \
    }

/* [load] What such an option makes of a weight's input_bits. Tiles multiply bf16 faster than other instructions do
 * bytes. */
GRAFT_INLINE int32_t graft_packed_input_bits(const struct graft_args *options) {
    return graft_args_int(options, "activation_bits", 16) == 8 && !graft_isa_has_tiles() ? 8 : 0;
}

/* [any] Which loops multiply many tokens: `bytes` if inputs may be rounded to 8 bits, else `many`; NULL: neither is for
 * the weight. Both may be NULL. */
GRAFT_INLINE const struct graft_packed_prepared *graft_packed_choose_many(const void *weight, int32_t input_bits,
                                                                          const struct graft_packed_prepared *many,
                                                                          const struct graft_packed_prepared *bytes) {
    if (input_bits == 8 && bytes != NULL && bytes->size(weight) > 0) {
        return bytes;
    }
    return many != NULL && many->size(weight) > 0 ? many : NULL;
}

/* [any] A body: tokens [begin, end) of the input. */
GRAFT_INLINE void graft_packed_many_prepare(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_many_work *work = (const struct graft_packed_many_work *)data;
    for (int64_t t = begin; t < end; t++) {
        work->how->prepare(work->weight, work->x + t * work->in_features, work->inputs + t * work->size);
    }
}

/* [any] A body: panels [begin, end) of all tokens. */
GRAFT_INLINE void graft_packed_many_panels(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_many_work *work = (const struct graft_packed_many_work *)data;
    const int64_t first = begin * GRAFT_PACKED_PANEL, last = end * GRAFT_PACKED_PANEL;
    const int64_t n = (last < work->out_features ? last : work->out_features) - first;
    work->how->multiply(work->weight, first, n, work->inputs, work->tokens, work->y + first);
    if (work->bias != NULL) {
        graft_packed_add_row(work->bias + first, n, work->tokens, work->y + first, work->out_features);
    }
}

/* [forward] Makes the inputs, and fills in the loop that is left to do, as graft_linear.as_loop; where `how` is NULL,
 * nothing. So may the bias be. */
GRAFT_INLINE int graft_packed_many_as_loop(const void *weight, const struct graft_packed_prepared *how,
                                           int64_t in_features, int64_t out_features, const struct graft_weight *bias,
                                           const struct graft_call *call, const struct graft_linear_args *args,
                                           struct graft_loop *loop, struct graft_error *error) {
    struct graft_packed_many_work *work = NULL;
    if (how == NULL) {
        return GRAFT_OK;
    }
    work = (struct graft_packed_many_work *)graft_scratch_zeroed(call, (int64_t)sizeof *work, error);
    if (work == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    work->weight = weight;
    work->how = how;
    work->in_features = in_features;
    work->out_features = out_features;
    work->x = args->x;
    work->tokens = args->tokens;
    work->y = args->y;
    work->size = how->size(weight);
    work->inputs = (char *)graft_scratch_floats(call, work->tokens, work->size / (int64_t)sizeof(float), error);
    int status =
        work->inputs != NULL ? graft_packed_bias(bias, call, out_features, &work->bias, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        call->threads->parallel_for(work->tokens, 4, graft_packed_many_prepare, work);
        graft_loop_set(loop, (out_features + GRAFT_PACKED_PANEL - 1) / GRAFT_PACKED_PANEL, 1, graft_packed_many_panels,
                       work);
        graft_loop_set_outputs(loop, GRAFT_PACKED_PANEL);
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
