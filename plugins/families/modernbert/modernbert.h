/* SPDX-License-Identifier: Apache-2.0 */
/* ModernBERT (Warner et al. 2024): what its classes share. */
#ifndef MODERNBERT_H
#define MODERNBERT_H

#include "graft/encoder_layer.h"
#include "graft/encoder_model.h"
#include "graft/encoder_parts.h"
#include "graft/input_embeddings.h"
#include "graft/mlp.h"
#include "graft/transform.h"

/* What config.json says beside struct graft_parts_sizes. */
struct modernbert_config {
    struct graft_parts_sizes sizes;
    int32_t norm_bias;       /* whether the LayerNorms have one */
    int32_t classifier_bias; /* whether the prediction head's Linear has one */
    int32_t is_causal;       /* 0 without the field */
    uint32_t reserved;
};

/* [load] Reads and checks them; errors name file and field. */
int modernbert_read(const struct graft_config *config, struct modernbert_config *read, struct graft_error *error);

/* [load] A child LayerNorm. */
int modernbert_describe_norm(const struct modernbert_config *config, const char *name, const struct graft_sink *sink,
                             struct graft_error *error);

graft_parts_describe modernbert_embeddings_describe, modernbert_model_describe, modernbert_layer_describe,
    modernbert_mlp_describe, modernbert_head_describe;
graft_parts_create modernbert_embeddings_create, modernbert_model_create, modernbert_layer_create,
    modernbert_mlp_create, modernbert_head_create;
extern const struct graft_input_embeddings modernbert_embeddings_vtable;
extern const struct graft_encoder_model modernbert_model_vtable;
extern const struct graft_encoder_layer modernbert_layer_vtable;
extern const struct graft_mlp modernbert_mlp_vtable;
extern const struct graft_transform modernbert_head_vtable;

#endif
