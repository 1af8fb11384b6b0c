/* SPDX-License-Identifier: Apache-2.0 */
/* The norms of a decoder: RMSNorm or LayerNorm, with or without a weight, or with a weight for each of several heads.
 */
#include <math.h>

#include "arch/decoder/choices.h"
#include "arch/role.h"
#include "graft/describe.h"

struct kept {
    double eps;
    double offset; /* number that is added to the weight */
    int64_t width;
    int64_t heads; /* rows of the weight: vector i uses row i % heads; 0: one weight for all */
    int32_t kind;  /* D_NORM_... */
};

struct norm {
    struct graft_instance base;
    struct kept kept;
    const struct graft_weight *weight; /* [width] or [heads, width]; NULL: none */
    const struct graft_weight *bias;   /* [width]; NULL: none */
};

static int describe_weight(const struct kept *kept, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t shape[] = {kept->heads, kept->width};
    return kept->heads > 0
               ? graft_describe_parameter(sink, "weight", 2, shape, GRAFT_PARAMETER_CONTIGUOUS, GRAFT_INIT_NONE, error)
               : graft_describe_vector(sink, "weight", kept->width, error);
}

int graft_decoder_norm_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    struct graft_reader reader;
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, self->data, config, -1, error);
    kept->kind = graft_read_word(&reader, D_NORM_KIND);
    kept->width = graft_args_int(args, "hidden_size", 0);
    kept->heads = graft_args_int(args, "heads", 0);
    kept->offset = graft_args_find(args, "offset", GRAFT_ARG_REAL) != NULL ? graft_args_real(args, "offset", 0.0)
                                                                           : graft_read_real(&reader, D_NORM_OFFSET);
    kept->eps = graft_args_find(args, "eps", GRAFT_ARG_REAL) != NULL ? graft_args_real(args, "eps", 0.0)
                                                                     : graft_read_real(&reader, D_NORM_EPS);
    const int32_t has_weight = graft_args_int(args, "weight", graft_read_bool(&reader, D_NORM_WEIGHT)) != 0;
    const int32_t has_bias = graft_args_int(args, "bias", graft_read_bool(&reader, D_NORM_BIAS)) != 0;
    int status = reader.status;
    if (status == GRAFT_OK && has_weight) {
        status = describe_weight(kept, sink, error);
    }
    return status == GRAFT_OK && has_weight && has_bias && kept->kind == D_NORM_LAYER
               ? graft_describe_vector(sink, "bias", kept->width, error)
               : status;
}

int graft_decoder_norm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    (void)cls;
    struct norm *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->kept = *(const struct kept *)build->kept;
    self->weight = build->weight(build->data, "weight");
    self->bias = build->weight(build->data, "bias");
    return graft_instance_finish(self, instance, error);
}

/* y [width] = x [width], normalised, without weight and bias. */
static void norm_vector(const struct kept *kept, const float *x, float *y) {
    const int64_t width = kept->width;
    float mean = 0.0f, squares = 0.0f;
    for (int64_t i = 0; i < width && kept->kind == D_NORM_LAYER; i++) {
        mean += x[i] / (float)width;
    }
    for (int64_t i = 0; i < width; i++) {
        squares += (x[i] - mean) * (x[i] - mean);
    }
    const float scale = 1.0f / sqrtf(squares / (float)width + (float)kept->eps);
    for (int64_t i = 0; i < width; i++) {
        y[i] = (x[i] - mean) * scale;
    }
}

/* Whether the loop in this file has to run, because no kernel supports the norm: no weight, a weight for each head, or
 * a LayerNorm with an offset. */
static int is_plain(const struct norm *self) {
    return self->weight == NULL || self->kept.heads > 0 ||
           (self->kept.kind == D_NORM_LAYER && self->kept.offset != 0.0);
}

static int norm_plainly(const struct norm *self, const struct graft_call *call, const struct graft_norm_args *args,
                        struct graft_error *error) {
    const int64_t width = self->kept.width;
    const int64_t heads = self->kept.heads > 0 ? self->kept.heads : 1;
    const float *weight = self->weight != NULL ? graft_scratch_widened(call, self->weight, error) : NULL;
    const float *bias = self->bias != NULL ? graft_scratch_widened(call, self->bias, error) : NULL;
    if ((weight == NULL && self->weight != NULL) || (bias == NULL && self->bias != NULL)) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t t = 0; t < args->tokens; t++) {
        float *y = args->output + t * width;
        norm_vector(&self->kept, args->hidden_states + t * width, y);
        const float *row = weight != NULL ? weight + t % heads * width : NULL;
        for (int64_t i = 0; row != NULL && i < width; i++) {
            y[i] = y[i] * (row[i] + (float)self->kept.offset) + (bias != NULL ? bias[i] : 0.0f);
        }
    }
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_norm_args *args,
                   struct graft_error *error) {
    const struct norm *self = instance;
    const int64_t width = self->kept.width;
    int status = GRAFT_OK;
    if (args->residual != NULL) {
        status = call->kernels->add(call, args->hidden_states, args->residual, args->tokens * width, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (is_plain(self)) {
        return norm_plainly(self, call, args, error);
    }
    return self->kept.kind == D_NORM_RMS
               ? call->kernels->rms_norm(call, self->weight, (float)self->kept.offset, (float)self->kept.eps,
                                         args->hidden_states, width, args->tokens, width, args->output, width, error)
               : call->kernels->layer_norm(call, self->weight, self->bias, (float)self->kept.eps, args->hidden_states,
                                           width, args->tokens, width, args->output, width, error);
}

const struct graft_norm graft_decoder_norm_vtable = {
    .struct_size = sizeof graft_decoder_norm_vtable,
    .forward = forward,
};
