/* SPDX-License-Identifier: Apache-2.0 */
/* Models whose head classifies sequences or tokens. */
#include "graft/base_model.h"
#include "graft/describe.h"
#include "graft/encoder_parts.h"
#include "graft/instance.h"

/* Passed from `describe` to `create`. */
struct kept {
    const char *model;
    const char *decoder;
    struct graft_parts_transform_info transform;
    int64_t hidden_size;
    int64_t pad_token_id;
    int32_t pooling;
};

struct encoder_root {
    struct graft_instance base;
    const struct graft_module *model;
    struct graft_parts_transform transform;
    const struct graft_module *decoder;
    int64_t hidden_size;
    int64_t pad_token_id;
    int32_t pooling;
};

int graft_parts_encoder_numbers(const struct graft_parts_encoder_sizes *sizes, const struct graft_sink *sink,
                                struct graft_error *error) {
    int status = graft_describe_number(sink, "vocab_size", sizes->vocab_size, error);
    if (status == GRAFT_OK) {
        status = graft_describe_number(sink, "hidden_size", sizes->hidden_size, error);
    }
    if (status == GRAFT_OK && sizes->token_types > 0) {
        status = graft_describe_number(sink, "token_types", sizes->token_types, error);
    }
    return status == GRAFT_OK && sizes->max_positions > 0
               ? graft_describe_number(sink, "max_positions", sizes->max_positions, error)
               : status;
}

static int declare_children(const struct graft_parts_encoder_root *part, const struct graft_parts_encoder_sizes *sizes,
                            const struct kept *kept, const struct graft_sink *sink, struct graft_error *error) {
    const int32_t pools = sizes->pooling == GRAFT_POOLING_POOLER;
    const struct graft_arg args[] = {graft_int_arg("add_pooling_layer", 1)};
    graft_describe_child(sink, part->model, part->model_class, GRAFT_INTERFACE_BASE_MODEL, args, pools, error);
    graft_parts_transform_declare(&kept->transform, sink, error);
    graft_describe_linear(sink, part->decoder, sizes->hidden_size, sizes->logits, sizes->decoder_bias, error);
    return error->code;
}

int graft_parts_encoder_root_declare(const struct graft_parts_encoder_root *part,
                                     const struct graft_parts_encoder_sizes *sizes, const struct graft_sink *sink,
                                     struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *kept = (struct kept){
        .model = part->model,
        .decoder = part->decoder,
        .transform = {.dense = part->transform,
                      .act = part->transform_act,
                      .norm = part->transform_norm,
                      .norm_class = part->transform_norm_class,
                      .act_name = sizes->act,
                      .in_features = sizes->hidden_size,
                      .out_features = sizes->hidden_size,
                      .eps = sizes->transform_eps,
                      .bias = sizes->transform_bias,
                      .norm_bias = sizes->transform_norm_bias},
        .hidden_size = sizes->hidden_size,
        .pad_token_id = sizes->pad_token_id,
        .pooling = sizes->pooling,
    };
    graft_parts_encoder_numbers(sizes, sink, error);
    if (sizes->classifies) {
        graft_describe_number(sink, "num_labels", sizes->logits, error);
    }
    if (sizes->answers) {
        graft_describe_number(sink, "answers", 1, error);
    }
    declare_children(part, sizes, kept, sink, error);
    return error->code;
}

static int create(const struct graft_build *build, void **instance, struct graft_error *error) {
    const struct kept *kept = build->kept;
    struct encoder_root *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = kept->hidden_size;
    self->pad_token_id = kept->pad_token_id;
    self->pooling = kept->pooling;
    self->model = graft_build_child(build, kept->model, error);
    graft_parts_transform_find(&self->transform, &kept->transform, build, error);
    self->decoder = graft_build_child(build, kept->decoder, error);
    return graft_instance_finish(self, instance, error);
}

static int decode(const struct encoder_root *self, const struct graft_call *call, int64_t rows, const float *x,
                  float *logits, struct graft_error *error) {
    const struct graft_linear_args args = {sizeof args, 0, rows, x, logits};
    return graft_linear_forward(self->decoder, call, &args, error);
}

/* logits [rows, logits of a row] = head(hidden_states [rows, hidden_size]). */
static int find_logits(const struct encoder_root *self, const struct graft_call *call, int64_t rows,
                       float *hidden_states, float *logits, struct graft_error *error) {
    int status = graft_parts_transform_apply(&self->transform, call, rows, &hidden_states, error);
    return status == GRAFT_OK ? decode(self, call, rows, hidden_states, logits, error) : status;
}

/* --- graft.sequence_classifier/1 --- */

int graft_parts_sequence_classifier_create(const struct graft_class *cls, const struct graft_build *build,
                                           void **instance, struct graft_error *error) {
    (void)cls;
    return create(build, instance, error);
}

/* The token that represents a sequence: the first with GRAFT_POOLING_CLS, else the last that is not padding. */
static int64_t telling(const struct encoder_root *self, const struct graft_batch *batch, const int32_t *input_ids,
                       int32_t sequence) {
    int64_t first = batch->cu_seqlens[sequence];
    int64_t last = batch->cu_seqlens[sequence + 1] - 1;
    if (self->pooling == GRAFT_POOLING_CLS) {
        return first;
    }
    for (int64_t t = last; t >= first; t--) {
        if (input_ids[t] != self->pad_token_id) {
            return t;
        }
    }
    return first;
}

/* pooled [sequences, hidden_size] = the row of hidden_states [tokens, hidden_size] that represents each sequence. */
static void take_one(const struct encoder_root *self, const struct graft_batch *batch, const int32_t *input_ids,
                     const float *hidden_states, float *pooled) {
    for (int32_t s = 0; s < batch->sequences; s++) {
        memcpy(pooled + s * self->hidden_size, hidden_states + telling(self, batch, input_ids, s) * self->hidden_size,
               (size_t)self->hidden_size * sizeof *pooled);
    }
}

/* pooled [sequences, hidden_size] = the mean of each sequence's rows of hidden_states. */
static void take_mean(const struct graft_batch *batch, const float *hidden_states, int64_t hidden_size, float *pooled) {
    for (int32_t s = 0; s < batch->sequences; s++) {
        int64_t begin = batch->cu_seqlens[s];
        int64_t end = batch->cu_seqlens[s + 1];
        for (int64_t i = 0; i < hidden_size; i++) {
            double sum = 0.0;
            for (int64_t t = begin; t < end; t++) {
                sum += hidden_states[t * hidden_size + i];
            }
            pooled[s * hidden_size + i] = (float)(sum / (double)(end - begin));
        }
    }
}

/* Runs the model: hidden [tokens, hidden_size], and pooled [sequences, hidden_size] if it has a pooler and `pooled` is
 * not NULL. */
static int run_model(const struct encoder_root *self, const struct graft_call *call, const struct graft_batch *batch,
                     const int32_t *input_ids, const int32_t *token_type_ids, float *hidden, float *pooled,
                     struct graft_error *error) {
    const struct graft_base_model_args args = {
        .struct_size = sizeof args,
        .batch = batch,
        .input_ids = input_ids,
        .token_type_ids = token_type_ids,
        .last_hidden_state = hidden,
        .pooler_output = pooled,
    };
    return graft_base_model_forward(self->model, call, &args, error);
}

static int run_classifier(void *instance, const struct graft_call *call,
                          const struct graft_sequence_classifier_args *args, struct graft_error *error) {
    const struct encoder_root *self = instance;
    int32_t sequences = args->batch->sequences;
    float *pooled = graft_scratch_floats(call, sequences, self->hidden_size, error); /* [sequences, hidden_size] */
    float *hidden = args->last_hidden_state;                                         /* [tokens, hidden_size] */
    if (hidden == NULL) {
        hidden = graft_scratch_floats(call, args->batch->tokens, self->hidden_size, error);
    }
    if (hidden == NULL || pooled == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int has_pooler = self->pooling == GRAFT_POOLING_POOLER;
    int status = run_model(self, call, args->batch, args->input_ids, args->token_type_ids, hidden,
                           has_pooler ? pooled : NULL, error);
    if (status != GRAFT_OK || args->logits == NULL) {
        return status;
    }
    if (self->pooling == GRAFT_POOLING_LATE) {
        /* The reference averages the logits of all tokens. The head is linear, so averaging hidden states first gives
         * the same. */
        status = graft_parts_transform_apply(&self->transform, call, args->batch->tokens, &hidden, error);
        take_mean(args->batch, hidden, self->hidden_size, pooled);
        return status == GRAFT_OK ? decode(self, call, sequences, pooled, args->logits, error) : status;
    }
    if (self->pooling == GRAFT_POOLING_MEAN) {
        take_mean(args->batch, hidden, self->hidden_size, pooled);
    } else if (!has_pooler) {
        take_one(self, args->batch, args->input_ids, hidden, pooled);
    }
    return find_logits(self, call, sequences, pooled, args->logits, error);
}

const struct graft_sequence_classifier graft_parts_sequence_classifier_vtable = {
    .struct_size = sizeof graft_parts_sequence_classifier_vtable,
    .forward = run_classifier,
};

/* --- graft.token_classifier/1 --- */

int graft_parts_token_classifier_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                        struct graft_error *error) {
    (void)cls;
    return create(build, instance, error);
}

static int run_token_classifier(void *instance, const struct graft_call *call,
                                const struct graft_token_classifier_args *args, struct graft_error *error) {
    const struct encoder_root *self = instance;
    float *hidden = args->last_hidden_state; /* [tokens, hidden_size] */
    if (hidden == NULL) {
        hidden = graft_scratch_floats(call, args->batch->tokens, self->hidden_size, error);
    }
    int status = hidden != NULL
                     ? run_model(self, call, args->batch, args->input_ids, args->token_type_ids, hidden, NULL, error)
                     : GRAFT_ERROR_INTERNAL;
    return status == GRAFT_OK && args->logits != NULL
               ? find_logits(self, call, args->batch->tokens, hidden, args->logits, error)
               : status;
}

const struct graft_token_classifier graft_parts_token_classifier_vtable = {
    .struct_size = sizeof graft_parts_token_classifier_vtable,
    .forward = run_token_classifier,
};
