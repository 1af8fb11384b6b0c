/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/layer_input.h"

#include <math.h>

#include "arch/decoder/choices.h"
#include "arch/role.h"

void graft_layer_inputs_outline(struct graft_outline *of, struct graft_layer_inputs *self) {
    struct graft_reader *reader = &of->reader;
    if (graft_read_is_null(reader, D_INPUT_SIZE)) {
        return;
    }
    self->hidden_size = graft_read_int(reader, D_HIDDEN_SIZE);
    self->layers = graft_read_int(reader, D_LAYERS);
    self->size = graft_read_int(reader, D_INPUT_SIZE);
    self->rows = graft_read_int(reader, D_INPUT_ROWS);
    const int64_t width = self->size * self->layers;
    const struct graft_arg args[] = {graft_int_arg("num_embeddings", self->rows), graft_int_arg("embedding_dim", width),
                                     graft_int_arg("scale_dim", self->size)};
    graft_outline_child(of, &self->embeddings, graft_outline_name(of, D_INPUT_EMBEDDINGS),
                        graft_outline_name(of, D_CLASS_EMBEDDING), GRAFT_INTERFACE_EMBEDDING, args, 3);
    graft_outline_linear(of, &self->projection, graft_outline_name(of, D_INPUT_PROJECTION), self->hidden_size, width,
                         0);
    graft_outline_norm(of, &self->norm, graft_outline_name(of, D_INPUT_NORM), graft_outline_name(of, D_CLASS_NORM),
                       self->size, graft_read_real(reader, D_NORM_EPS));
}

/* inputs = (norm(projection(x) / sqrt(hidden_size)) + the token's row) / sqrt(2) */
float *graft_layer_inputs_forward(const struct graft_layer_inputs *self, const struct graft_pass *pass,
                                  const int32_t *ids, const float *x) {
    const struct graft_pass of_layers = {pass->call, pass->rows * self->layers, pass->error};
    const int64_t width = self->layers * self->size;
    if (self->embeddings == NULL) {
        return NULL;
    }
    int32_t *rows = graft_scratch_ints(pass->call, pass->rows, pass->error);
    float *other = graft_pass_product(pass, self->projection, x, width);
    graft_pass_scale(pass, other, width, 1.0f / sqrtf((float)self->hidden_size));
    float *sum = graft_pass_normed(&of_layers, self->norm, other, self->size);
    for (int64_t t = 0; graft_pass_ok(pass) && t < pass->rows; t++) {
        rows[t] = ids[t] < self->rows ? ids[t] : 0;
    }
    graft_pass_embed(pass, self->embeddings, rows, other);
    const float of_two = 1.0f / sqrtf(2.0f);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * width; i++) {
        sum[i] = (sum[i] + other[i]) * of_two;
    }
    return sum;
}

void graft_layer_gate_outline(struct graft_outline *of, struct graft_layer_gate *self) {
    if (graft_read_is_null(&of->reader, D_INPUT_SIZE)) {
        return;
    }
    self->hidden_size = graft_outline_hidden_size(of);
    self->size = graft_read_int(&of->reader, D_INPUT_SIZE);
    graft_outline_linear(of, &self->gate, graft_outline_name(of, D_INPUT_GATE), self->hidden_size, self->size, 0);
    graft_outline_activation(of, &self->act, graft_outline_name(of, D_INPUT_ACT_NAME));
    graft_outline_linear(of, &self->output, graft_outline_name(of, D_INPUT_OUTPUT), self->size, self->hidden_size, 0);
    graft_outline_given(of, &self->norm, graft_outline_name(of, D_INPUT_OUTPUT_NORM),
                        graft_outline_name(of, D_CLASS_NORM), GRAFT_INTERFACE_NORM);
}

float *graft_layer_gate_forward(const struct graft_layer_gate *self, const struct graft_pass *pass, const float *x,
                                const float *input, int64_t stride) {
    float *gate = graft_pass_product(pass, self->gate, x, self->size);
    graft_pass_activate(pass, self->act, gate, self->size);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * self->size; i++) {
        gate[i] *= input[i / self->size * stride + i % self->size];
    }
    float *added = graft_pass_product(pass, self->output, gate, self->hidden_size);
    return graft_pass_normed(pass, self->norm, added, self->hidden_size);
}
