/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/inputs.h"

#include <math.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"

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

static void read(struct graft_reader *reader, struct graft_inputs_kept *kept) {
    const int64_t width = graft_read_int(reader, D_EMBEDDING_SIZE);
    kept->hidden_size = graft_read_int(reader, D_HIDDEN_SIZE);
    kept->width = width > 0 ? width : kept->hidden_size;
    kept->position_offset = graft_read_int(reader, D_POSITION_OFFSET);
    kept->position_skipped =
        graft_read_is_null(reader, D_POSITION_SKIPPED) ? -1 : graft_read_int(reader, D_POSITION_SKIPPED);
    kept->sines = graft_read_real(reader, D_POSITION_SINES);
    kept->scale = graft_read_real(reader, D_EMBEDDING_SCALE);
    kept->has_norm = graft_description_name(reader->description, D_EMBEDDING_NORM) != NULL &&
                     graft_read_bool(reader, D_EMBEDDING_NORMED);
    kept->norms_sum = graft_read_bool(reader, D_EMBEDDING_NORM_SUM);
    kept->projects = kept->width != kept->hidden_size || graft_read_bool(reader, D_EMBEDDING_PROJECT_EQUAL);
    kept->project_sum = graft_read_bool(reader, D_EMBEDDING_PROJECT_SUM);
    kept->has_positions = position_rows(reader) > 0;
    kept->has_types = graft_description_name(reader->description, D_EMBEDDING_TYPES) != NULL &&
                      !graft_read_is_null(reader, D_EMBEDDING_TYPE_ROWS);
    kept->has_tasks = graft_description_name(reader->description, D_EMBEDDING_TASKS) != NULL &&
                      !graft_read_is_null(reader, D_EMBEDDING_TASK_ROWS);
    kept->position_width = kept->project_sum ? kept->width : kept->hidden_size;
    if (kept->position_skipped >= 0 && kept->position_offset == 0) {
        graft_reader_fail(reader, D_POSITION_SKIPPED, "there is no row before that of position 0");
    }
    if (kept->sines > 0.0 && kept->position_width % 2 != 0) {
        graft_reader_fail(reader, D_HIDDEN_SIZE, "expected an even number, for sines and cosines, got %lld",
                          (long long)kept->position_width);
    }
}

static void describe_norm(struct graft_reader *reader, const struct graft_sink *sink,
                          const struct graft_inputs_kept *kept, struct graft_error *error) {
    const int32_t bias = graft_read_bool(reader, D_NORM_BIAS);
    const struct graft_arg args[] = {
        graft_int_arg("hidden_size", kept->norms_sum ? kept->position_width : kept->hidden_size),
        graft_real_arg("eps", graft_read_real(reader, D_NORM_EPS)), graft_int_arg("bias", 0)};
    const char *name = graft_description_name(reader->description, D_EMBEDDING_NORM);
    const char *last = graft_description_name(reader->description, D_MODEL_NORM);
    /* If it has the name of the model's final norm, both are the same module, which has no weight; the model declares
     * it. */
    const int is_last = kept->has_norm && last != NULL && strcmp(name, last) == 0;
    if (kept->has_norm && !is_last) {
        graft_describe_child(sink, name, graft_description_name(reader->description, D_CLASS_NORM),
                             GRAFT_INTERFACE_NORM, args, bias ? 2 : 3, error);
    }
}

/* Declares an embedding that a choice names; its class is another choice, or Embedding. */
static void describe_embedding(struct graft_reader *reader, int32_t name, int64_t rows, int64_t width,
                               const struct graft_sink *sink, struct graft_error *error) {
    const char *class_name =
        name == D_EMBEDDING_NAME ? graft_description_name(reader->description, D_CLASS_EMBEDDING) : "Embedding";
    graft_describe_embedding(sink, graft_description_name(reader->description, name), class_name, rows, width, error);
}

int graft_inputs_describe(struct graft_reader *reader, const struct graft_sink *sink, struct graft_inputs_kept *kept,
                          struct graft_error *error) {
    read(reader, kept);
    const int64_t positions = position_rows(reader);
    const int64_t rows =
        graft_read_int(reader, graft_read_is_null(reader, D_EMBEDDING_ROWS) ? D_VOCAB_SIZE : D_EMBEDDING_ROWS);
    if (reader->status != GRAFT_OK) {
        return reader->status;
    }
    describe_embedding(reader, D_EMBEDDING_NAME, rows, kept->width, sink, error);
    if (kept->projects) {
        graft_describe_linear(sink, graft_description_name(reader->description, D_EMBEDDING_PROJECT_IN), kept->width,
                              kept->hidden_size, graft_read_bool(reader, D_EMBEDDING_PROJECT_BIAS), error);
    }
    describe_norm(reader, sink, kept, error);
    if (kept->has_types) {
        describe_embedding(reader, D_EMBEDDING_TYPES, graft_read_int(reader, D_EMBEDDING_TYPE_ROWS),
                           kept->position_width, sink, error);
    }
    if (kept->has_tasks) {
        describe_embedding(reader, D_EMBEDDING_TASKS, graft_read_int(reader, D_EMBEDDING_TASK_ROWS),
                           kept->position_width, sink, error);
    }
    if (positions > 0) {
        describe_embedding(reader, D_POSITION_NAME, positions + kept->position_offset, kept->position_width, sink,
                           error);
    }
    return error->code;
}

void graft_inputs_create(struct graft_inputs *self, const struct graft_description *description,
                         const struct graft_inputs_kept *kept, const struct graft_build *build,
                         struct graft_error *error) {
    const struct {
        int32_t is_there;
        int32_t name;
        const struct graft_module **module;
    } children[] = {
        {1, D_EMBEDDING_NAME, &self->embeddings},
        {kept->has_norm, D_EMBEDDING_NORM, &self->norm},
        {kept->projects, D_EMBEDDING_PROJECT_IN, &self->project_in},
        {kept->has_positions, D_POSITION_NAME, &self->positions},
        {kept->has_types, D_EMBEDDING_TYPES, &self->types},
        {kept->has_tasks, D_EMBEDDING_TASKS, &self->tasks},
    };
    self->kept = *kept;
    for (size_t i = 0; i < sizeof children / sizeof children[0]; i++) {
        if (children[i].is_there) {
            *children[i].module =
                graft_build_child(build, graft_description_name(description, children[i].name), error);
        }
    }
}

/* Writes to ids [tokens] the rows of learned positions for the tokens of sequence `s`. */
static void find_rows(const struct graft_inputs_kept *kept, const struct graft_base_model_args *args, int32_t s,
                      int32_t *ids) {
    const struct graft_batch *batch = args->batch;
    int64_t skipped = 0;
    for (int64_t t = batch->cu_seqlens[s]; t < batch->cu_seqlens[s + 1]; t++) {
        const int is_skipped = kept->position_skipped >= 0 && args->input_ids[t] == kept->position_skipped;
        const int64_t position = batch->positions[t] - skipped;
        ids[t] = (int32_t)(kept->position_offset + (is_skipped ? -1 : position));
        skipped += is_skipped;
    }
}

/* x [tokens, position_width] += the rows `ids` of the embedding `module`. */
static int add_rows(const struct graft_inputs *self, const struct graft_module *module, const struct graft_call *call,
                    int64_t tokens, const int32_t *ids, float *x, struct graft_error *error) {
    const int64_t width = self->kept.position_width;
    float *embedded = graft_scratch_floats(call, tokens, width, error); /* [tokens, width] */
    const struct graft_embedding_args args = {sizeof args, 0, tokens, ids, embedded};
    int status = embedded != NULL ? graft_embedding_forward(module, call, &args, error) : GRAFT_ERROR_INTERNAL;
    return status == GRAFT_OK ? call->kernels->add(call, x, embedded, tokens * width, error) : status;
}

/* x [tokens, position_width] += learned positions. The host keeps positions below the root's `max_positions`. */
static int add_learned(const struct graft_inputs *self, const struct graft_call *call,
                       const struct graft_base_model_args *args, float *x, struct graft_error *error) {
    int32_t *ids = graft_scratch_ints(call, args->batch->tokens, error);
    if (ids == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t s = 0; s < args->batch->sequences; s++) {
        find_rows(&self->kept, args, s, ids);
    }
    return add_rows(self, self->positions, call, args->batch->tokens, ids, x, error);
}

/* x [tokens, position_width] += sines of the token's position, followed by its cosines (in Vaswani et al. 2017, 3.5,
 * they alternate). */
static int add_sines(const struct graft_inputs *self, const struct graft_call *call, const struct graft_batch *batch,
                     float *x, struct graft_error *error) {
    const int64_t half = self->kept.position_width / 2;
    float *frequencies = graft_scratch_floats(call, 1, half, error);
    if (frequencies == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < half; i++) {
        frequencies[i] = (float)pow(10000.0, -(double)i / self->kept.sines);
    }
    for (int64_t t = 0; t < batch->tokens; t++, x += 2 * half) {
        const float position = (float)(batch->positions[t] + self->kept.position_offset);
        for (int64_t i = 0; i < half; i++) {
            x[i] += sinf(position * frequencies[i]);
            x[half + i] += cosf(position * frequencies[i]);
        }
    }
    return GRAFT_OK;
}

/* x [tokens, position_width] += the first row of `module`; does nothing if `module` is NULL. */
static int add_first(const struct graft_inputs *self, const struct graft_module *module, const struct graft_call *call,
                     int64_t tokens, float *x, struct graft_error *error) {
    static const int32_t id = 0;
    const int64_t width = self->kept.position_width;
    if (module == NULL) {
        return GRAFT_OK;
    }
    float *row = graft_scratch_floats(call, 1, width, error);
    const struct graft_embedding_args args = {sizeof args, 0, 1, &id, row};
    int status = row != NULL ? graft_embedding_forward(module, call, &args, error) : GRAFT_ERROR_INTERNAL;
    for (int64_t t = 0; t < tokens && status == GRAFT_OK; t++) {
        status = call->kernels->add(call, x + t * width, row, width, error);
    }
    return status;
}

int graft_inputs_project(const struct graft_module *linear, const struct graft_call *call, int64_t tokens, int64_t to,
                         float **x, struct graft_error *error) {
    if (linear == NULL) {
        return GRAFT_OK;
    }
    float *projected = graft_scratch_floats(call, tokens, to, error);
    const struct graft_linear_args args = {sizeof args, 0, tokens, *x, projected};
    if (projected == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *x = projected;
    return graft_linear_forward(linear, call, &args, error);
}

int graft_inputs_norm(const struct graft_module *module, const struct graft_call *call, int64_t tokens, int64_t width,
                      float **x, struct graft_error *error) {
    if (module == NULL) {
        return GRAFT_OK;
    }
    float *normed = graft_scratch_floats(call, tokens, width, error);
    const struct graft_norm_args args = {sizeof args, 0, tokens, *x, NULL, normed};
    if (normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *x = normed;
    return graft_norm_forward(module, call, &args, error);
}

/* x [tokens, width] = scaled embeddings: those that the caller provides, else those of the tokens. */
static int embed(const struct graft_inputs *self, const struct graft_call *call,
                 const struct graft_base_model_args *args, float *x, struct graft_error *error) {
    const int64_t tokens = args->batch->tokens, width = self->kept.width;
    const float scale = (float)self->kept.scale;
    const struct graft_embedding_args embedding_args = {sizeof embedding_args, 0, tokens, args->input_ids, x};
    int status = graft_embedding_forward(self->embeddings, call, &embedding_args, error);
    for (int64_t i = 0; i < args->n_embeddings && status == GRAFT_OK; i++) {
        memcpy(x + args->embedding_rows[i] * width, args->embeddings + i * width, (size_t)width * sizeof *x);
    }
    for (int64_t i = 0; scale != 1.0f && i < tokens * width; i++) {
        x[i] *= scale;
    }
    return status;
}

static int add_positions(const struct graft_inputs *self, const struct graft_call *call,
                         const struct graft_base_model_args *args, float *x, struct graft_error *error) {
    return self->positions != NULL  ? add_learned(self, call, args, x, error)
           : self->kept.sines > 0.0 ? add_sines(self, call, args->batch, x, error)
                                    : GRAFT_OK;
}

int graft_inputs_forward(const struct graft_inputs *self, const struct graft_call *call,
                         const struct graft_base_model_args *args, float **hidden_states, struct graft_error *error) {
    const struct graft_inputs_kept *kept = &self->kept;
    const int64_t tokens = args->batch->tokens;
    float *x = graft_scratch_floats(call, tokens, kept->width, error);
    int status = x != NULL ? embed(self, call, args, x, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && !kept->project_sum) {
        status = graft_inputs_project(self->project_in, call, tokens, kept->hidden_size, &x, error);
    }
    if (status == GRAFT_OK && !kept->norms_sum) {
        status = graft_inputs_norm(self->norm, call, tokens, kept->hidden_size, &x, error);
    }
    if (status == GRAFT_OK) {
        status = add_positions(self, call, args, x, error);
    }
    if (status == GRAFT_OK) {
        status = self->types != NULL && args->token_type_ids != NULL
                     ? add_rows(self, self->types, call, tokens, args->token_type_ids, x, error)
                     : add_first(self, self->types, call, tokens, x, error);
    }
    if (status == GRAFT_OK) {
        status = add_first(self, self->tasks, call, tokens, x, error);
    }
    if (status == GRAFT_OK && kept->norms_sum) {
        status = graft_inputs_norm(self->norm, call, tokens, kept->position_width, &x, error);
    }
    if (status == GRAFT_OK && kept->project_sum) {
        status = graft_inputs_project(self->project_in, call, tokens, kept->hidden_size, &x, error);
    }
    *hidden_states = x;
    return status;
}
