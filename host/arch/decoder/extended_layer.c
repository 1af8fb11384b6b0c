/* SPDX-License-Identifier: Apache-2.0 */
/* A layer with more than attention, MLP and norms: a low-rank branch beside attention, experts beside the MLP, an input
 * of its own, several streams of hidden states, or a factor of its output. */
#include <stdio.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/decoder/layer_input.h"
#include "arch/decoder/streams.h"
#include "arch/moe/mixture.h"
#include "arch/role.h"
#include "graft/describe.h"

enum { MAX_NAME = 256 };

struct extended_layer {
    struct graft_instance base;
    void *plain; /* the plain layer, made by graft_parts_layer_create */
    int64_t hidden_size;
    /* Modules that the layer does not have are NULL. */
    const struct graft_module *low_rank_left;  /* hidden_size -> rank */
    const struct graft_module *low_rank_right; /* rank -> hidden_size */
    const struct graft_module *low_rank_norm;
    int64_t low_rank_size; /* inner width of the low-rank branch */
    const struct graft_module *beside_mlp_norm;
    const struct graft_module *beside_norm;
    const struct graft_module *beside_output_norm;
    struct graft_mixture beside; /* experts beside the MLP, with these norms */
    struct graft_layer_gate gate;
    struct graft_stream_update streams;
    const struct graft_weight *scalar; /* [1] */
};

static const char *low_rank_child(const struct graft_description *description, const char *child, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "%s.%s", graft_description_name(description, D_LAYER_LOW_RANK), child);
    return name;
}

static void describe_low_rank(struct graft_reader *reader, const struct graft_args *args, const struct graft_sink *sink,
                              struct graft_error *error) {
    const struct graft_description *description = reader->description;
    const int64_t width = graft_args_int(args, "hidden_size", 0);
    char name[MAX_NAME];
    if (graft_description_name(description, D_LAYER_LOW_RANK) == NULL) {
        return;
    }
    const int64_t size = graft_read_int(reader, D_LAYER_LOW_RANK_SIZE);
    if (!graft_read_bool(reader, D_LAYER_HAS_ATTENTION)) {
        graft_reader_fail(reader, D_LAYER_HAS_ATTENTION, "expected true, as layer.low_rank is beside attention");
    }
    graft_describe_linear(sink, low_rank_child(description, "linear_left", name), width, size, 0, error);
    graft_describe_linear(sink, low_rank_child(description, "linear_right", name), size, width, 0, error);
    graft_describe_given(sink, low_rank_child(description, "post_laurel_norm", name),
                         graft_description_name(description, D_CLASS_NORM), GRAFT_INTERFACE_NORM, args, error);
}

static void describe_beside(struct graft_reader *reader, const struct graft_args *args, const struct graft_sink *sink,
                            struct graft_error *error) {
    static const int32_t norms[] = {D_LAYER_BESIDE_MLP_NORM, D_LAYER_BESIDE_NORM, D_LAYER_BESIDE_OUTPUT_NORM};
    if (!graft_read_bool(reader, D_LAYER_EXPERTS_BESIDE)) {
        return;
    }
    if (!graft_read_bool(reader, D_LAYER_HAS_MLP)) {
        graft_reader_fail(reader, D_LAYER_HAS_MLP, "expected true, as layer.experts_beside is beside the MLP");
    }
    for (size_t i = 0; i < sizeof norms / sizeof norms[0]; i++) {
        graft_describe_given(sink, graft_description_name(reader->description, norms[i]),
                             graft_description_name(reader->description, D_CLASS_NORM), GRAFT_INTERFACE_NORM, args,
                             error);
    }
    graft_mixture_describe(reader, graft_args_int(args, "hidden_size", 0), args, sink, error);
}

int graft_extended_layer_describe(const struct graft_class *self, const struct graft_config *config,
                                  const struct graft_args *args, const struct graft_sink *sink,
                                  struct graft_error *error) {
    const char *scalar = graft_description_name(self->data, D_LAYER_SCALAR);
    struct graft_reader reader;
    graft_reader_start(&reader, self->data, config, graft_args_int(args, "layer_idx", 0), error);
    graft_decoder_layer_describe(self, config, args, sink, error);
    describe_low_rank(&reader, args, sink, error);
    describe_beside(&reader, args, sink, error);
    graft_layer_gate_describe(&reader, config, args, sink, error);
    graft_stream_update_describe(&reader, args, sink, error);
    if (scalar != NULL) {
        graft_describe_vector(sink, scalar, 1, error);
    }
    return error->code;
}

/* Finds the children that the layer has. */
static void find(struct extended_layer *self, struct graft_reader *reader, const struct graft_build *build,
                 struct graft_error *error) {
    const struct graft_description *description = reader->description;
    const char *scalar = graft_description_name(description, D_LAYER_SCALAR);
    char name[MAX_NAME];
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    if (graft_description_name(description, D_LAYER_LOW_RANK) != NULL) {
        self->low_rank_size = graft_read_int(reader, D_LAYER_LOW_RANK_SIZE);
        self->low_rank_left = graft_build_child(build, low_rank_child(description, "linear_left", name), error);
        self->low_rank_right = graft_build_child(build, low_rank_child(description, "linear_right", name), error);
        self->low_rank_norm = graft_build_child(build, low_rank_child(description, "post_laurel_norm", name), error);
    }
    if (graft_read_bool(reader, D_LAYER_EXPERTS_BESIDE)) {
        self->beside_mlp_norm =
            graft_build_child(build, graft_description_name(description, D_LAYER_BESIDE_MLP_NORM), error);
        self->beside_norm = graft_build_child(build, graft_description_name(description, D_LAYER_BESIDE_NORM), error);
        self->beside_output_norm =
            graft_build_child(build, graft_description_name(description, D_LAYER_BESIDE_OUTPUT_NORM), error);
        graft_mixture_find(&self->beside, reader, build, error);
    }
    graft_layer_gate_find(&self->gate, reader, build, error);
    graft_stream_update_find(&self->streams, reader, build, error);
    self->scalar = scalar != NULL ? graft_build_weight(build, scalar, error) : NULL;
}

int graft_extended_layer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                struct graft_error *error) {
    struct graft_reader reader;
    struct extended_layer *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, cls->data, build->config, graft_args_int(build->args, "layer_idx", 0), error);
    find(self, &reader, build, error);
    if (error->code == GRAFT_OK) {
        (void)graft_parts_layer_create(cls, build, &self->plain, error);
    }
    return graft_instance_finish(self, instance, error);
}

void graft_extended_layer_destroy(void *instance) {
    struct extended_layer *self = instance;
    if (self != NULL) {
        graft_instance_destroy(self->plain);
        graft_instance_destroy(self);
    }
}

/* --- Steps --- */

static int run_norm(const struct graft_module *norm, const struct graft_call *call, int64_t tokens, float *x, float *y,
                    struct graft_error *error) {
    const struct graft_norm_args args = {sizeof args, 0, tokens, x, NULL, y};
    return graft_norm_forward(norm, call, &args, error);
}

/* output = seen + norm(right(left(seen))) */
static int run_low_rank(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                        const float *seen, float *output, struct graft_error *error) {
    const struct extended_layer *self = instance;
    const int64_t tokens = args->batch->tokens, width = self->hidden_size;
    float *narrow = graft_scratch_floats(call, tokens, self->low_rank_size, error);
    float *wide = graft_scratch_floats(call, tokens, width, error);
    if (narrow == NULL || wide == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_linear_args left_args = {sizeof left_args, 0, tokens, seen, narrow};
    const struct graft_linear_args right_args = {sizeof right_args, 0, tokens, narrow, wide};
    int status = graft_linear_forward(self->low_rank_left, call, &left_args, error);
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->low_rank_right, call, &right_args, error);
    }
    if (status == GRAFT_OK) {
        status = run_norm(self->low_rank_norm, call, tokens, wide, output, error);
    }
    return status == GRAFT_OK ? call->kernels->add(call, output, seen, tokens * width, error) : status;
}

/* output = norm(output) + norm(experts(norm(hidden_states))); the router's input is hidden_states without a norm. */
static int add_experts(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                       float *output, struct graft_error *error) {
    const struct extended_layer *self = instance;
    const int64_t tokens = args->batch->tokens, width = self->hidden_size;
    float *x = graft_scratch_floats(call, tokens, width, error);
    float *y = graft_scratch_floats(call, tokens, width, error);
    struct graft_experts_args experts_args;
    int status = x != NULL && y != NULL
                     ? graft_mixture_route(&self->beside, call, tokens, args->hidden_states, &experts_args, error)
                     : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = run_norm(self->beside_norm, call, tokens, args->hidden_states, x, error);
    }
    if (status == GRAFT_OK) {
        experts_args.hidden_states = x;
        experts_args.output = y;
        status = graft_experts_forward(self->beside.experts, call, &experts_args, error);
    }
    if (status == GRAFT_OK) {
        status = run_norm(self->beside_output_norm, call, tokens, y, x, error);
    }
    if (status == GRAFT_OK) {
        memcpy(y, output, (size_t)(tokens * width) * sizeof *y);
        status = run_norm(self->beside_mlp_norm, call, tokens, y, output, error);
    }
    return status == GRAFT_OK ? call->kernels->add(call, output, x, tokens * width, error) : status;
}

/* x [tokens, hidden_size] *= vector, which has 1 or hidden_size numbers. */
static int multiply(const struct graft_weight *vector, const struct graft_call *call, int64_t tokens, int64_t width,
                    float *x, struct graft_error *error) {
    const int64_t n = vector->rows * vector->columns;
    const float *numbers = graft_scratch_widened(call, vector, error);
    for (int64_t i = 0; numbers != NULL && i < tokens * width; i++) {
        x[i] *= numbers[n == 1 ? 0 : i % width];
    }
    return numbers != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

/* Applies the gate to `computed` [tokens, hidden_size] and the layer's input, and adds the result to the hidden states;
 * with several streams to all streams but the first. */
static int take_input(const struct extended_layer *self, const struct graft_call *call,
                      const struct graft_decoder_layer_args *args, float *computed, struct graft_error *error) {
    const int64_t tokens = args->batch->tokens, n = tokens * self->hidden_size;
    float *added = graft_scratch_floats(call, 1, n, error);
    if (!GRAFT_HAS(args, struct graft_decoder_layer_args, layer_input_stride) || args->layer_input == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, self->base.path, "the model has given the layer no input");
    }
    int status = added != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && self->streams.scale != NULL) {
        status = multiply(self->streams.scale, call, tokens, self->hidden_size, computed, error);
    }
    if (status == GRAFT_OK) {
        status = graft_layer_gate_forward(&self->gate, call, tokens, computed, args->layer_input,
                                          args->layer_input_stride, added, error);
    }
    if (status == GRAFT_OK && self->streams.count == 0) {
        status = call->kernels->add(call, args->hidden_states, added, n, error);
    }
    for (int64_t i = 1; i < self->streams.count && status == GRAFT_OK; i++) {
        status = call->kernels->add(call, args->hidden_states + i * n, added, n, error);
    }
    return status;
}

/* Runs the plain layer on the active stream, and updates the others. *computed [tokens, hidden_size] is a copy of the
 * active stream's result. */
static int run_streams(const struct extended_layer *self, const struct graft_parts_layer_steps *steps,
                       const struct graft_call *call, const struct graft_decoder_layer_args *args, float **computed,
                       struct graft_error *error) {
    const struct graft_stream_update *streams = &self->streams;
    const int64_t tokens = args->batch->tokens, n = tokens * self->hidden_size;
    float *predicted = graft_scratch_floats(call, streams->count, n, error);
    float *one = graft_scratch_floats(call, 1, n, error);
    struct graft_decoder_layer_args own;
    graft_struct_copy(&own, sizeof own, args);
    own.hidden_states = one;
    *computed = one;
    int status = predicted != NULL && one != NULL
                     ? graft_stream_update_predict(streams, call, tokens, args->hidden_states, predicted, error)
                     : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        memcpy(one, predicted + streams->active * n, (size_t)n * sizeof *one);
        status = graft_parts_layer_run(self->plain, steps, call, &own, error);
    }
    if (status == GRAFT_OK) {
        status = graft_stream_update_correct(streams, call, tokens, predicted, one, args->hidden_states, error);
        memcpy(one, args->hidden_states + streams->active * n, (size_t)n * sizeof *one);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                   struct graft_error *error) {
    struct extended_layer *self = instance;
    const struct graft_parts_layer_steps steps = {self->low_rank_left != NULL ? run_low_rank : NULL,
                                                  self->beside.experts != NULL ? add_experts : NULL, self};
    float *computed = args->hidden_states;
    int status = self->streams.count > 0 ? run_streams(self, &steps, call, args, &computed, error)
                                         : graft_parts_layer_run(self->plain, &steps, call, args, error);
    if (status == GRAFT_OK && self->gate.gate != NULL) {
        status = take_input(self, call, args, computed, error);
    }
    const int64_t rows = args->batch->tokens * (self->streams.count > 0 ? self->streams.count : 1);
    return status == GRAFT_OK && self->scalar != NULL
               ? multiply(self->scalar, call, rows, self->hidden_size, args->hidden_states, error)
               : status;
}

const struct graft_decoder_layer graft_extended_layer_vtable = {
    .struct_size = sizeof graft_extended_layer_vtable,
    .features = GRAFT_DECODER_LAYER_INPUT | GRAFT_DECODER_LAYER_STREAMS | GRAFT_DECODER_LAYER_SHARED_KEYS,
    .forward = forward,
};
