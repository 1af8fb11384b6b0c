/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/layer_input.h"

#include <math.h>

#include "arch/decoder/choices.h"
#include "arch/role.h"
#include "graft/describe.h"

int graft_layer_inputs_describe(struct graft_reader *reader, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = reader->description;
    if (graft_read_is_null(reader, D_INPUT_SIZE)) {
        return reader->status;
    }
    const int64_t size = graft_read_int(reader, D_INPUT_SIZE);
    const int64_t width = size * graft_read_int(reader, D_LAYERS);
    const struct graft_arg args[] = {graft_int_arg("num_embeddings", graft_read_int(reader, D_INPUT_ROWS)),
                                     graft_int_arg("embedding_dim", width), graft_int_arg("scale_dim", size)};
    const int64_t hidden_size = graft_read_int(reader, D_HIDDEN_SIZE);
    const double eps = graft_read_real(reader, D_NORM_EPS);
    if (reader->status != GRAFT_OK) {
        return reader->status;
    }
    graft_describe_child(sink, graft_description_name(description, D_INPUT_EMBEDDINGS),
                         graft_description_name(description, D_CLASS_EMBEDDING), GRAFT_INTERFACE_EMBEDDING, args, 3,
                         error);
    graft_describe_linear(sink, graft_description_name(description, D_INPUT_PROJECTION), hidden_size, width, 0, error);
    graft_describe_norm(sink, graft_description_name(description, D_INPUT_NORM),
                        graft_description_name(description, D_CLASS_NORM), size, eps, error);
    return error->code;
}

void graft_layer_inputs_find(struct graft_layer_inputs *self, struct graft_reader *reader,
                             const struct graft_build *build, struct graft_error *error) {
    const struct graft_description *description = reader->description;
    if (graft_read_is_null(reader, D_INPUT_SIZE)) {
        return;
    }
    self->hidden_size = graft_read_int(reader, D_HIDDEN_SIZE);
    self->layers = graft_read_int(reader, D_LAYERS);
    self->size = graft_read_int(reader, D_INPUT_SIZE);
    self->rows = graft_read_int(reader, D_INPUT_ROWS);
    self->embeddings = graft_build_child(build, graft_description_name(description, D_INPUT_EMBEDDINGS), error);
    self->projection = graft_build_child(build, graft_description_name(description, D_INPUT_PROJECTION), error);
    self->norm = graft_build_child(build, graft_description_name(description, D_INPUT_NORM), error);
}

/* inputs = (norm(projection(x) / sqrt(hidden_size)) + the token's row) / sqrt(2) */
int graft_layer_inputs_forward(const struct graft_layer_inputs *self, const struct graft_call *call, int64_t tokens,
                               const int32_t *ids, const float *x, float **inputs, struct graft_error *error) {
    const int64_t width = self->layers * self->size;
    *inputs = NULL;
    if (self->embeddings == NULL) {
        return GRAFT_OK;
    }
    float *sum = graft_scratch_floats(call, tokens, width, error);
    float *other = graft_scratch_floats(call, tokens, width, error);
    int32_t *rows = graft_scratch_ints(call, tokens, error);
    if (sum == NULL || other == NULL || rows == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_linear_args projection_args = {sizeof projection_args, 0, tokens, x, other};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens * self->layers, other, NULL, sum};
    const struct graft_embedding_args embedding_args = {sizeof embedding_args, 0, tokens, rows, other};
    const float of_width = 1.0f / sqrtf((float)self->hidden_size), of_two = 1.0f / sqrtf(2.0f);
    int status = graft_linear_forward(self->projection, call, &projection_args, error);
    for (int64_t i = 0; i < tokens * width && status == GRAFT_OK; i++) {
        other[i] *= of_width;
    }
    if (status == GRAFT_OK) {
        status = graft_norm_forward(self->norm, call, &norm_args, error);
    }
    for (int64_t t = 0; t < tokens; t++) {
        rows[t] = ids[t] < self->rows ? ids[t] : 0;
    }
    if (status == GRAFT_OK) {
        status = graft_embedding_forward(self->embeddings, call, &embedding_args, error);
    }
    for (int64_t i = 0; i < tokens * width && status == GRAFT_OK; i++) {
        sum[i] = (sum[i] + other[i]) * of_two;
    }
    *inputs = sum;
    return status;
}

int graft_layer_gate_describe(struct graft_reader *reader, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = reader->description;
    const int64_t hidden_size = graft_args_int(args, "hidden_size", 0);
    if (graft_read_is_null(reader, D_INPUT_SIZE)) {
        return reader->status;
    }
    const int64_t size = graft_read_int(reader, D_INPUT_SIZE);
    graft_describe_linear(sink, graft_description_name(description, D_INPUT_GATE), hidden_size, size, 0, error);
    graft_describe_activation(sink, graft_description_name(description, D_INPUT_ACT_NAME), config, args, "hidden_act",
                              error);
    graft_describe_linear(sink, graft_description_name(description, D_INPUT_OUTPUT), size, hidden_size, 0, error);
    graft_describe_given(sink, graft_description_name(description, D_INPUT_OUTPUT_NORM),
                         graft_description_name(description, D_CLASS_NORM), GRAFT_INTERFACE_NORM, args, error);
    return error->code;
}

void graft_layer_gate_find(struct graft_layer_gate *self, struct graft_reader *reader, const struct graft_build *build,
                           struct graft_error *error) {
    const struct graft_description *description = reader->description;
    if (graft_read_is_null(reader, D_INPUT_SIZE)) {
        return;
    }
    self->size = graft_read_int(reader, D_INPUT_SIZE);
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->gate = graft_build_child(build, graft_description_name(description, D_INPUT_GATE), error);
    self->act = graft_build_child(build, graft_description_name(description, D_INPUT_ACT_NAME), error);
    self->output = graft_build_child(build, graft_description_name(description, D_INPUT_OUTPUT), error);
    self->norm = graft_build_child(build, graft_description_name(description, D_INPUT_OUTPUT_NORM), error);
}

int graft_layer_gate_forward(const struct graft_layer_gate *self, const struct graft_call *call, int64_t tokens,
                             const float *x, const float *input, int64_t stride, float *y, struct graft_error *error) {
    float *gate = graft_scratch_floats(call, tokens, self->size, error);
    float *added = graft_scratch_floats(call, tokens, self->hidden_size, error);
    if (gate == NULL || added == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_linear_args gate_args = {sizeof gate_args, 0, tokens, x, gate};
    const struct graft_activation_args act_args = {sizeof act_args, 0, tokens * self->size, gate, gate};
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, gate, added};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, added, NULL, y};
    int status = graft_linear_forward(self->gate, call, &gate_args, error);
    if (status == GRAFT_OK) {
        status = graft_activation_forward(self->act, call, &act_args, error);
    }
    for (int64_t i = 0; i < tokens * self->size && status == GRAFT_OK; i++) {
        gate[i] *= input[i / self->size * stride + i % self->size];
    }
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->output, call, &output_args, error);
    }
    return status == GRAFT_OK ? graft_norm_forward(self->norm, call, &norm_args, error) : status;
}
