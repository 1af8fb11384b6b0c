/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder with its head, or an encoder with the same head, which predicts masked tokens. */
#include <stdio.h>

#include "arch/decoder/choices.h"
#include "arch/decoder/inputs.h"
#include "arch/decoder/roles.h"
#include "arch/decoder/rotary.h"
#include "arch/role.h"
#include "graft/describe.h"

enum { MAX_PATH = 256 };

/* Declares the encoder, whose description is part of the decoder's. */
static void add_encoder(const struct graft_description *description, const struct graft_config *config,
                        struct graft_parts_causal_lm *part, struct graft_parts_causal_lm_sizes *sizes,
                        struct graft_reader *reader) {
    const struct graft_description *encoder = graft_description_encoder(description);
    struct graft_reader own;
    graft_reader_start(&own, encoder, config, -1, reader->error);
    part->encoder = graft_description_name(description, D_MODEL_ENCODER);
    part->encoder_class = graft_description_name(encoder, D_CLASS_MODEL);
    part->encoder_embeddings = graft_description_name(encoder, D_EMBEDDING_NAME);
    part->model_embeddings = graft_description_name(description, D_EMBEDDING_NAME);
    part->shared = graft_description_name(description, D_MODEL_SHARED);
    part->logits_bias = graft_description_name(description, D_HEAD_LOGITS_BIAS);
    sizes->encoder_size = graft_read_int(&own, D_HIDDEN_SIZE);
    sizes->encoder_positions = graft_inputs_max_positions(&own);
    if (own.status == GRAFT_OK && reader->status == GRAFT_OK && sizes->encoder_size != sizes->hidden_size) {
        graft_reader_fail(reader, D_HIDDEN_SIZE, "expected that of the encoder (%lld), got %lld",
                          (long long)sizes->encoder_size, (long long)sizes->hidden_size);
    }
    reader->status = reader->status == GRAFT_OK ? own.status : reader->status;
}

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    int has_encoder, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = self->data;
    const char *model = graft_description_name(description, D_MODEL_NAME);
    const char *shared = graft_description_name(description, D_MODEL_SHARED);
    const char *tied_to = has_encoder ? NULL : graft_description_name(description, D_HEAD_TIED_TO);
    char made[MAX_PATH];
    struct graft_reader reader;
    if (has_encoder) {
        (void)snprintf(made, sizeof made, "%s.weight", shared);
    } else {
        (void)snprintf(made, sizeof made, "%s.%s.weight", model, graft_description_name(description, D_EMBEDDING_NAME));
    }
    graft_reader_start(&reader, description, config, -1, error);
    const int64_t positions = graft_inputs_max_positions(&reader);
    const char *transform = graft_description_name(description, D_HEAD_TRANSFORM);
    struct graft_parts_causal_lm part = {
        .model = model,
        .model_class = graft_decoder_class_name(description, D_CLASS_BASE_MODEL),
        .tied_weight = tied_to != NULL ? tied_to : made,
        .head = graft_description_name(description, D_HEAD_NAME),
        .learned_positions = positions > 0,
        .transform = transform,
        .transform_act = graft_description_name(description, D_HEAD_TRANSFORM_ACT_NAME),
        .transform_norm = graft_description_name(description, D_HEAD_TRANSFORM_NORM),
        .transform_norm_class = graft_description_name(description, D_CLASS_NORM),
        .tied_bias = graft_description_name(description, D_HEAD_TIED_BIAS),
    };
    const int32_t causal = graft_read_bool(&reader, D_CAUSAL);
    const int64_t width = graft_read_int(&reader, D_EMBEDDING_SIZE);
    const int64_t hidden_size = graft_read_int(&reader, D_HIDDEN_SIZE);
    int32_t tied = 0; /* tie_word_embeddings of the whole config, if the decoder's fields are in a section */
    if (reader.status == GRAFT_OK && reader.file != config) {
        reader.status = graft_config_bool(config, "tie_word_embeddings", &tied, error);
    }
    const int64_t renewed_after = graft_read_int(&reader, D_ROTARY_RENEWED_AFTER);
    struct graft_parts_causal_lm_sizes sizes = {
        .vocab_size = graft_read_int(&reader, D_VOCAB_SIZE),
        .hidden_size = transform != NULL ? graft_read_int(&reader, D_HEAD_TRANSFORM_SIZE)
                       : width > 0 && graft_description_name(description, D_EMBEDDING_PROJECT_OUT) != NULL
                           ? width
                           : hidden_size,
        .max_position_embeddings = positions,
        .logit_scale = graft_args_real(args, "logit_scale", graft_read_real(&reader, D_HEAD_SCALE)),
        .softcap = graft_args_real(args, "softcap", graft_read_real(&reader, D_HEAD_SOFTCAP)),
        .tie_word_embeddings = graft_read_bool(&reader, D_HEAD_TIED) || tied,
        .bidirectional = graft_args_int(args, "bidirectional", !causal) != 0,
        .bias = graft_read_bool(&reader, D_HEAD_BIAS),
        .transform_bias = graft_read_bool(&reader, D_HEAD_TRANSFORM_BIAS),
        .transform_norm_bias = graft_read_bool(&reader, D_NORM_BIAS),
        .transform_size = hidden_size,
        .transform_eps = graft_read_real(&reader, D_NORM_EPS),
        .act = transform != NULL ? graft_read_text(&reader, D_HEAD_TRANSFORM_ACT) : NULL,
    };
    if (has_encoder) {
        add_encoder(description, config, &part, &sizes, &reader);
    }
    int status = reader.status == GRAFT_OK ? graft_parts_causal_lm_declare(&part, &sizes, sink, error) : reader.status;
    const int changes =
        status == GRAFT_OK && renewed_after > 0 && graft_rotary_changes(&reader, sink->host, renewed_after);
    status = status == GRAFT_OK ? reader.status : status;
    return status == GRAFT_OK && changes ? graft_describe_number(sink, "renewed_after", renewed_after, error) : status;
}

int graft_causal_lm_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    return describe(self, config, args, 0, sink, error);
}

int graft_conditional_describe(const struct graft_class *self, const struct graft_config *config,
                               const struct graft_args *args, const struct graft_sink *sink,
                               struct graft_error *error) {
    return describe(self, config, args, 1, sink, error);
}

int graft_masked_lm_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_reader reader;
    graft_causal_lm_describe(self, config, args, sink, error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    graft_reader_start(&reader, self->data, config, -1, error);
    const int64_t types = graft_inputs_token_types(&reader);
    return reader.status == GRAFT_OK ? graft_describe_number(sink, "token_types", types, error) : reader.status;
}
