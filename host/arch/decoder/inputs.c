/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/inputs.h"

#include <math.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/role.h"

/* The number of learned positions, without the rows before position 0 (position.offset); 0: none. */
static int64_t position_rows(struct graft_reader *reader) {
    return graft_description_name(reader->description, D_POSITION_NAME) != NULL &&
                   graft_read_is_null(reader, D_POSITION_SINES)
               ? graft_read_int(reader, D_POSITION_ROWS)
               : 0;
}

int64_t graft_inputs_max_positions(struct graft_reader *reader) {
    const int64_t rows =
        graft_read_bool(reader, D_ROTARY_TABLE) ? graft_read_int(reader, D_ROTARY_POSITIONS) : position_rows(reader);
    const int64_t limit = graft_read_int(reader, D_POSITION_LIMIT);
    return limit > 0 && (rows == 0 || limit < rows) ? limit : rows;
}

int64_t graft_inputs_token_types(struct graft_reader *reader) {
    const int has_types = graft_description_name(reader->description, D_EMBEDDING_TYPES) != NULL;
    const int64_t rows = has_types ? graft_read_int(reader, D_EMBEDDING_TYPE_ROWS) : 0;
    return graft_description_name(reader->description, D_CLASS_MASKED_LM) == NULL ? 0 : rows > 0 ? rows : 1;
}

int64_t graft_inputs_output_size(struct graft_reader *reader) {
    const int64_t width = graft_read_int(reader, D_EMBEDDING_SIZE);
    const int projects = width > 0 && graft_description_name(reader->description, D_EMBEDDING_PROJECT_OUT) != NULL;
    return projects ? width : graft_read_int(reader, D_HIDDEN_SIZE);
}

void graft_inputs_outline_numbers(struct graft_outline *of, int64_t token_types) {
    const int64_t positions = graft_inputs_max_positions(&of->reader);
    graft_outline_number(of, "vocab_size", graft_read_int(&of->reader, D_VOCAB_SIZE));
    graft_outline_number(of, "hidden_size", graft_inputs_output_size(&of->reader));
    if (token_types > 0) {
        graft_outline_number(of, "token_types", token_types);
    }
    if (positions > 0) {
        graft_outline_number(of, "max_positions", positions);
    }
}

static void read(struct graft_reader *reader, struct graft_inputs *self) {
    const int64_t width = graft_read_int(reader, D_EMBEDDING_SIZE);
    self->hidden_size = graft_read_int(reader, D_HIDDEN_SIZE);
    self->width = width > 0 ? width : self->hidden_size;
    self->position_offset = graft_read_int(reader, D_POSITION_OFFSET);
    self->position_skipped =
        graft_read_is_null(reader, D_POSITION_SKIPPED) ? -1 : graft_read_int(reader, D_POSITION_SKIPPED);
    self->sines = graft_read_real(reader, D_POSITION_SINES);
    self->scale = (float)graft_read_real(reader, D_EMBEDDING_SCALE);
    self->norms_sum = graft_read_bool(reader, D_EMBEDDING_NORM_SUM);
    self->project_sum = graft_read_bool(reader, D_EMBEDDING_PROJECT_SUM);
    self->position_width = self->project_sum ? self->width : self->hidden_size;
    if (self->position_skipped >= 0 && self->position_offset == 0) {
        graft_reader_fail(reader, D_POSITION_SKIPPED, "there is no row before that of position 0");
    }
    if (self->sines > 0.0 && self->position_width % 2 != 0) {
        graft_reader_fail(reader, D_HIDDEN_SIZE, "expected an even number, for sines and cosines, got %lld",
                          (long long)self->position_width);
    }
}

/* Lays out the norm. If it has the name of the model's last norm, both are the same module, which has no weight; the
 * model declares it. */
static void outline_norm(struct graft_outline *of, struct graft_inputs *self) {
    const char *name = graft_outline_name(of, D_EMBEDDING_NORM), *last = graft_outline_name(of, D_MODEL_NORM);
    const int32_t bias = graft_read_bool(&of->reader, D_NORM_BIAS);
    const double eps = graft_read_real(&of->reader, D_NORM_EPS);
    if (name == NULL || !graft_read_bool(&of->reader, D_EMBEDDING_NORMED)) {
        return;
    }
    if (last != NULL && strcmp(name, last) == 0) {
        graft_outline_find_child(of, &self->norm, name);
    } else {
        graft_outline_norm_biased(of, &self->norm, name, graft_outline_name(of, D_CLASS_NORM),
                                  self->norms_sum ? self->position_width : self->hidden_size, eps, bias);
    }
}

/* Lays out embeddings that a choice names, if there is a number of them. */
static void outline_rows(struct graft_outline *of, const struct graft_module **child, int32_t name, int32_t rows,
                         int64_t width) {
    if (graft_outline_name(of, name) != NULL && !graft_read_is_null(&of->reader, rows)) {
        graft_outline_embedding(of, child, graft_outline_name(of, name), graft_read_int(&of->reader, rows), width);
    }
}

void graft_inputs_outline(struct graft_outline *of, struct graft_inputs *self) {
    struct graft_reader *reader = &of->reader;
    read(reader, self);
    const int64_t positions = position_rows(reader);
    const struct graft_arg args[] = {
        graft_int_arg(
            "num_embeddings",
            graft_read_int(reader, graft_read_is_null(reader, D_EMBEDDING_ROWS) ? D_VOCAB_SIZE : D_EMBEDDING_ROWS)),
        graft_int_arg("embedding_dim", self->width)};
    graft_outline_child(of, &self->embeddings, graft_outline_name(of, D_EMBEDDING_NAME),
                        graft_outline_name(of, D_CLASS_EMBEDDING), GRAFT_INTERFACE_EMBEDDING, args, 2);
    if (self->width != self->hidden_size || graft_read_bool(reader, D_EMBEDDING_PROJECT_EQUAL)) {
        graft_outline_linear(of, &self->project_in, graft_outline_name(of, D_EMBEDDING_PROJECT_IN), self->width,
                             self->hidden_size, graft_read_bool(reader, D_EMBEDDING_PROJECT_BIAS));
    }
    outline_norm(of, self);
    outline_rows(of, &self->types, D_EMBEDDING_TYPES, D_EMBEDDING_TYPE_ROWS, self->position_width);
    outline_rows(of, &self->tasks, D_EMBEDDING_TASKS, D_EMBEDDING_TASK_ROWS, self->position_width);
    graft_outline_embedding(of, &self->positions, positions > 0 ? graft_outline_name(of, D_POSITION_NAME) : NULL,
                            positions + self->position_offset, self->position_width);
}

/* Writes to ids [tokens] the rows of learned positions for the tokens of sequence `s`. */
static void find_rows(const struct graft_inputs *self, const struct graft_base_model_args *args, int32_t s,
                      int32_t *ids) {
    const struct graft_batch *batch = args->batch;
    int64_t skipped = 0;
    for (int64_t t = batch->cu_seqlens[s]; t < batch->cu_seqlens[s + 1]; t++) {
        const int is_skipped = self->position_skipped >= 0 && args->input_ids[t] == self->position_skipped;
        const int64_t position = batch->positions[t] - skipped;
        ids[t] = (int32_t)(self->position_offset + (is_skipped ? -1 : position));
        skipped += is_skipped;
    }
}

/* x [tokens, position_width] += the rows `ids` of the embedding `module`. */
static void add_rows(const struct graft_inputs *self, const struct graft_module *module, const struct graft_pass *pass,
                     const int32_t *ids, float *x) {
    float *embedded = graft_pass_floats(pass, self->position_width);
    graft_pass_embed(pass, module, ids, embedded);
    graft_pass_add(pass, x, embedded, self->position_width);
}

/* x [tokens, position_width] += learned positions. The host keeps positions below the root's `max_positions`. */
static void add_learned(const struct graft_inputs *self, const struct graft_pass *pass,
                        const struct graft_base_model_args *args, float *x) {
    int32_t *ids = graft_scratch_ints(pass->call, pass->rows, pass->error);
    for (int32_t s = 0; ids != NULL && s < args->batch->sequences; s++) {
        find_rows(self, args, s, ids);
    }
    add_rows(self, self->positions, pass, ids, x);
}

/* x [tokens, position_width] += sines of the token's position, followed by its cosines (in Vaswani et al. 2017, 3.5,
 * they alternate). */
static void add_sines(const struct graft_inputs *self, const struct graft_pass *pass, const struct graft_batch *batch,
                      float *x) {
    const struct graft_pass one = {pass->call, 1, pass->error};
    const int64_t half = self->position_width / 2;
    float *frequencies = graft_pass_floats(&one, half);
    for (int64_t i = 0; graft_pass_ok(pass) && i < half; i++) {
        frequencies[i] = (float)pow(10000.0, -(double)i / self->sines);
    }
    for (int64_t t = 0; graft_pass_ok(pass) && t < batch->tokens; t++, x += 2 * half) {
        const float position = (float)(batch->positions[t] + self->position_offset);
        for (int64_t i = 0; i < half; i++) {
            x[i] += sinf(position * frequencies[i]);
            x[half + i] += cosf(position * frequencies[i]);
        }
    }
}

/* x [tokens, position_width] += the first row of `module`; does nothing if `module` is NULL. */
static void add_first(const struct graft_inputs *self, const struct graft_module *module, const struct graft_pass *pass,
                      float *x) {
    static const int32_t id = 0;
    const struct graft_pass one = {pass->call, 1, pass->error};
    const int64_t width = self->position_width;
    if (module == NULL) {
        return;
    }
    float *row = graft_pass_floats(&one, width);
    graft_pass_embed(&one, module, &id, row);
    for (int64_t t = 0; graft_pass_ok(pass) && t < pass->rows; t++) {
        graft_pass_add(&one, x + t * width, row, width);
    }
}

/* x [tokens, width] = scaled embeddings: those that the caller provides, else those of the tokens. */
static float *embed(const struct graft_inputs *self, const struct graft_pass *pass,
                    const struct graft_base_model_args *args) {
    const int64_t width = self->width;
    float *x = graft_pass_floats(pass, width);
    graft_pass_embed(pass, self->embeddings, args->input_ids, x);
    for (int64_t i = 0; i < args->n_embeddings && graft_pass_ok(pass); i++) {
        memcpy(x + args->embedding_rows[i] * width, args->embeddings + i * width, (size_t)width * sizeof *x);
    }
    graft_pass_scale(pass, x, width, self->scale);
    return x;
}

/* The product of x with project_in; x itself where there is none. */
static float *project(const struct graft_inputs *self, const struct graft_pass *pass, float *x) {
    return self->project_in != NULL ? graft_pass_product(pass, self->project_in, x, self->hidden_size) : x;
}

float *graft_inputs_forward(const struct graft_inputs *self, const struct graft_pass *pass,
                            const struct graft_base_model_args *args) {
    float *x = embed(self, pass, args);
    x = self->project_sum ? x : project(self, pass, x);
    x = self->norms_sum ? x : graft_pass_normed(pass, self->norm, x, self->hidden_size);
    if (self->positions != NULL) {
        add_learned(self, pass, args, x);
    } else if (self->sines > 0.0) {
        add_sines(self, pass, args->batch, x);
    }
    if (self->types != NULL && args->token_type_ids != NULL) {
        add_rows(self, self->types, pass, args->token_type_ids, x);
    } else {
        add_first(self, self->types, pass, x);
    }
    add_first(self, self->tasks, pass, x);
    x = self->norms_sum ? graft_pass_normed(pass, self->norm, x, self->position_width) : x;
    return self->project_sum ? project(self, pass, x) : x;
}
