/* SPDX-License-Identifier: Apache-2.0 */
/* A layer with more than attention, MLP and norms: a low-rank branch parallel to attention, experts parallel to the
 * MLP, an input of its own, several streams of hidden states, or a factor of its output. */
#include "arch/decoder/choices.h"
#include "arch/decoder/layer.h"
#include "arch/decoder/layer_input.h"
#include "arch/decoder/streams.h"
#include "arch/moe/mixture.h"
#include "arch/role.h"

struct extended_layer {
    struct graft_instance base;
    struct graft_layer plain; /* what every layer has */
    /* Modules that the layer does not have are NULL. */
    const struct graft_module *low_rank_left;  /* hidden_size -> rank */
    const struct graft_module *low_rank_right; /* rank -> hidden_size */
    const struct graft_module *low_rank_norm;
    int64_t low_rank_size; /* inner width of the low-rank branch */
    const struct graft_module *beside_mlp_norm;
    const struct graft_module *beside_norm;
    const struct graft_module *beside_output_norm;
    struct graft_mixture beside; /* experts parallel to the MLP, with these norms */
    struct graft_layer_gate gate;
    struct graft_stream_update streams;
    const struct graft_weight *scalar; /* [1] */
};

static void outline_low_rank(struct graft_outline *of, struct extended_layer *self) {
    const int64_t width = self->plain.hidden_size;
    if (graft_outline_name(of, D_LAYER_LOW_RANK) == NULL) {
        return;
    }
    self->low_rank_size = graft_read_int(&of->reader, D_LAYER_LOW_RANK_SIZE);
    if (!graft_read_bool(&of->reader, D_LAYER_HAS_ATTENTION)) {
        graft_reader_fail(&of->reader, D_LAYER_HAS_ATTENTION, "expected true, as layer.low_rank is beside attention");
    }
    of->prefix = graft_outline_name(of, D_LAYER_LOW_RANK);
    graft_outline_linear(of, &self->low_rank_left, "linear_left", width, self->low_rank_size, 0);
    graft_outline_linear(of, &self->low_rank_right, "linear_right", self->low_rank_size, width, 0);
    graft_outline_given(of, &self->low_rank_norm, "post_laurel_norm", graft_outline_name(of, D_CLASS_NORM),
                        GRAFT_INTERFACE_NORM);
    of->prefix = NULL;
}

static void outline_beside(struct graft_outline *of, struct extended_layer *self) {
    static const int32_t names[] = {D_LAYER_BESIDE_MLP_NORM, D_LAYER_BESIDE_NORM, D_LAYER_BESIDE_OUTPUT_NORM};
    const struct graft_module **const norms[] = {&self->beside_mlp_norm, &self->beside_norm, &self->beside_output_norm};
    if (!graft_read_bool(&of->reader, D_LAYER_EXPERTS_BESIDE)) {
        return;
    }
    if (!graft_read_bool(&of->reader, D_LAYER_HAS_MLP)) {
        graft_reader_fail(&of->reader, D_LAYER_HAS_MLP, "expected true, as layer.experts_beside is beside the MLP");
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        graft_outline_given(of, norms[i], graft_outline_name(of, names[i]), graft_outline_name(of, D_CLASS_NORM),
                            GRAFT_INTERFACE_NORM);
    }
    graft_mixture_outline(of, &self->beside, self->plain.hidden_size);
}

static void outline(struct graft_outline *of, struct extended_layer *self) {
    graft_layer_outline(of, &self->plain);
    outline_low_rank(of, self);
    outline_beside(of, self);
    graft_layer_gate_outline(of, &self->gate);
    graft_stream_update_outline(of, &self->streams);
    graft_outline_vector(of, &self->scalar, graft_outline_name(of, D_LAYER_SCALAR), 1);
}

GRAFT_OUTLINED(graft_extended_layer, struct extended_layer)

/* output = seen + norm(right(left(seen))) */
static void run_low_rank(const void *instance, const struct graft_layer_pass *pass, const float *seen, float *output) {
    const struct extended_layer *self = instance;
    float *narrow = graft_pass_product(&pass->of, self->low_rank_left, seen, self->low_rank_size);
    float *wide = graft_pass_product(&pass->of, self->low_rank_right, narrow, self->plain.hidden_size);
    graft_pass_norm(&pass->of, self->low_rank_norm, wide, NULL, output);
    graft_pass_add(&pass->of, output, seen, self->plain.hidden_size);
}

/* output = norm(output) + norm(experts(norm(hidden_states))); the router's input is hidden_states without a norm. */
static void add_experts(const void *instance, const struct graft_layer_pass *pass, float *output) {
    const struct extended_layer *self = instance;
    const struct graft_mixture *mixture = &self->beside;
    const int64_t width = self->plain.hidden_size;
    float *x = pass->args->hidden_states, *y = graft_pass_floats(&pass->of, width);
    struct graft_experts_args args =
        graft_mixture_route(mixture->router, &pass->of, mixture->num_experts, mixture->k, x);
    graft_mixture_run(mixture, &pass->of, &args, graft_pass_normed(&pass->of, self->beside_norm, x, width), y);
    const float *added = graft_pass_normed(&pass->of, self->beside_output_norm, y, width);
    float *own = graft_pass_columns(&pass->of, output, width, 0, width);
    graft_pass_norm(&pass->of, self->beside_mlp_norm, own, NULL, output);
    graft_pass_add(&pass->of, output, added, width);
}

/* Applies the gate to `computed` [tokens, hidden_size] and the layer's input, and adds the result to the hidden states;
 * with several streams to all streams but the first. */
static void take_input(const struct extended_layer *self, const struct graft_pass *pass,
                       const struct graft_decoder_layer_args *args, float *computed) {
    const int64_t width = self->plain.hidden_size, count = self->streams.count;
    if (!GRAFT_HAS(args, struct graft_decoder_layer_args, layer_input_stride) || args->layer_input == NULL) {
        (void)graft_error_set(pass->error, GRAFT_ERROR_INTERNAL, self->base.path,
                              "the model has given the layer no input");
        return;
    }
    if (self->streams.is_scaled) {
        graft_pass_multiply(pass, computed, width, self->streams.scale);
    }
    const float *added =
        graft_layer_gate_forward(&self->gate, pass, computed, args->layer_input, args->layer_input_stride);
    for (int64_t i = count > 0 ? 1 : 0; i < (count > 0 ? count : 1); i++) {
        graft_pass_add(pass, args->hidden_states + i * pass->rows * width, added, width);
    }
}

/* Runs the plain layer on the active stream, and updates the others. Returns a copy of the active stream's result,
 * [tokens, hidden_size]. */
static float *run_streams(const struct extended_layer *self, const struct graft_layer_steps *steps,
                          const struct graft_pass *pass, const struct graft_decoder_layer_args *args) {
    const struct graft_stream_update *streams = &self->streams;
    const int64_t width = self->plain.hidden_size, active = streams->active * pass->rows * width;
    struct graft_decoder_layer_args own;
    graft_struct_copy(&own, sizeof own, args);
    float *predicted = graft_stream_update_predict(streams, pass, args->hidden_states);
    own.hidden_states = graft_pass_ok(pass) ? graft_pass_columns(pass, predicted + active, width, 0, width) : NULL;
    graft_layer_run(&self->plain, steps, pass, &own);
    graft_stream_update_correct(streams, pass, predicted, own.hidden_states, args->hidden_states);
    return graft_pass_columns(pass, args->hidden_states + active, width, 0, width);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                   struct graft_error *error) {
    const struct extended_layer *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const struct graft_pass streams = {call, pass.rows * (self->streams.count > 0 ? self->streams.count : 1), error};
    const struct graft_layer_steps steps = {self->low_rank_left != NULL ? run_low_rank : NULL,
                                            self->beside.experts != NULL ? add_experts : NULL, self};
    float *computed = args->hidden_states;
    if (self->streams.count > 0) {
        computed = run_streams(self, &steps, &pass, args);
    } else {
        graft_layer_run(&self->plain, &steps, &pass, args);
    }
    if (self->gate.gate != NULL) {
        take_input(self, &pass, args, computed);
    }
    graft_pass_multiply(&streams, args->hidden_states, self->plain.hidden_size, self->scalar);
    return error->code;
}

const struct graft_decoder_layer graft_extended_layer_vtable = {
    .struct_size = sizeof graft_extended_layer_vtable,
    .features = GRAFT_DECODER_LAYER_INPUT | GRAFT_DECODER_LAYER_STREAMS | GRAFT_DECODER_LAYER_SHARED_KEYS,
    .forward = forward,
};
