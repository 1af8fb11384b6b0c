/* SPDX-License-Identifier: Apache-2.0 */
/* The norms of a decoder: RMSNorm or LayerNorm, with or without a weight, or with a weight for each of several heads.
 */
#include <math.h>

#include "arch/decoder/choices.h"
#include "arch/pass.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"

struct norm {
    struct graft_instance base;
    float eps;
    float offset; /* number that is added to the weight */
    int64_t width;
    int64_t heads;                     /* rows of the weight: vector i uses row i % heads; 0: one weight for all */
    int32_t kind;                      /* D_NORM_... */
    const struct graft_weight *weight; /* [width] or [heads, width]; NULL: none */
    const struct graft_weight *bias;   /* [width]; NULL: none */
};

/* The argument `name`, or what the family says. */
static float real_of(struct graft_outline *of, const char *name, int32_t choice) {
    return (float)(graft_args_find(of->args, name, GRAFT_ARG_REAL) != NULL ? graft_args_real(of->args, name, 0.0)
                                                                           : graft_read_real(&of->reader, choice));
}

static void outline(struct graft_outline *of, struct norm *self) {
    of->reader.layer = -1;
    self->kind = graft_read_word(&of->reader, D_NORM_KIND);
    self->width = graft_outline_hidden_size(of);
    self->heads = graft_args_int(of->args, "heads", 0);
    self->offset = real_of(of, "offset", D_NORM_OFFSET);
    self->eps = real_of(of, "eps", D_NORM_EPS);
    const int has_weight = graft_args_int(of->args, "weight", graft_read_bool(&of->reader, D_NORM_WEIGHT)) != 0;
    const int has_bias = graft_args_int(of->args, "bias", graft_read_bool(&of->reader, D_NORM_BIAS)) != 0;
    const int64_t shape[] = {self->heads, self->width};
    if (has_weight && of->error->code == GRAFT_OK) {
        graft_describe_parameter(of->sink, "weight", self->heads > 0 ? 2 : 1, self->heads > 0 ? shape : shape + 1,
                                 GRAFT_PARAMETER_CONTIGUOUS, GRAFT_INIT_NONE, of->error);
    }
    if (has_weight && has_bias && self->kind == D_NORM_LAYER && of->error->code == GRAFT_OK) {
        graft_describe_vector(of->sink, "bias", self->width, of->error);
    }
    graft_outline_find_weight(of, &self->weight, "weight");
    graft_outline_find_weight(of, &self->bias, "bias");
}

GRAFT_OUTLINED_FROM(graft_outline_start, graft_decoder_norm, struct norm, 2)

/* y [width] = x [width], normalised, without weight and bias. */
static void norm_vector(const struct norm *self, const float *x, float *y) {
    const int64_t width = self->width;
    float mean = 0.0f, squares = 0.0f;
    for (int64_t i = 0; i < width && self->kind == D_NORM_LAYER; i++) {
        mean += x[i] / (float)width;
    }
    for (int64_t i = 0; i < width; i++) {
        squares += (x[i] - mean) * (x[i] - mean);
    }
    const float scale = 1.0f / sqrtf(squares / (float)width + self->eps);
    for (int64_t i = 0; i < width; i++) {
        y[i] = (x[i] - mean) * scale;
    }
}

/* Whether the loop in this file has to run, because no kernel supports the norm: no weight, a weight for each head, or
 * a LayerNorm with an offset. */
static int is_plain(const struct norm *self) {
    return self->weight == NULL || self->heads > 0 || (self->kind == D_NORM_LAYER && self->offset != 0.0);
}

static void norm_plainly(const struct norm *self, const struct graft_pass *pass, const struct graft_norm_args *args) {
    const int64_t width = self->width, heads = self->heads > 0 ? self->heads : 1;
    const float *weight = graft_pass_widen(pass, self->weight), *bias = graft_pass_widen(pass, self->bias);
    for (int64_t t = 0; graft_pass_ok(pass) && t < args->tokens; t++) {
        float *y = args->output + t * width;
        norm_vector(self, args->hidden_states + t * width, y);
        const float *row = weight != NULL ? weight + t % heads * width : NULL;
        for (int64_t i = 0; row != NULL && i < width; i++) {
            y[i] = y[i] * (row[i] + self->offset) + (bias != NULL ? bias[i] : 0.0f);
        }
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_norm_args *args,
                   struct graft_error *error) {
    const struct norm *self = instance;
    const struct graft_pass pass = {call, args->tokens, error};
    const int64_t width = self->width;
    if (args->residual != NULL) {
        graft_pass_add(&pass, args->hidden_states, args->residual, width);
    }
    if (is_plain(self)) {
        norm_plainly(self, &pass, args);
        return error->code;
    }
    return error->code != GRAFT_OK ? error->code
           : self->kind == D_NORM_RMS
               ? call->kernels->rms_norm(call, self->weight, self->offset, self->eps, args->hidden_states, width,
                                         args->tokens, width, args->output, width, error)
               : call->kernels->layer_norm(call, self->weight, self->bias, self->eps, args->hidden_states, width,
                                           args->tokens, width, args->output, width, error);
}

const struct graft_norm graft_decoder_norm_vtable = {.struct_size = sizeof graft_decoder_norm_vtable,
                                                     .forward = forward};
