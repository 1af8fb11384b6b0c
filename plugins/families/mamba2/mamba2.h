/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the family, a file each. */
#ifndef MAMBA2_H
#define MAMBA2_H

#include "graft/batch.h"
#include "graft/call.h"
#include "graft/class.h"
#include "graft/config.h"
#include "graft/error.h"
#include "graft/mixer.h"
#include "graft/module.h"

/* What config.json says; sizes.c has checked that the numbers fit together, and that no product of them overflows. */
struct mamba2_sizes {
    int64_t vocab_size;
    int64_t hidden_size;
    int64_t num_hidden_layers;
    int64_t num_heads;
    int64_t head_dim;
    int64_t state_size;
    int64_t n_groups; /* divides num_heads: heads of a group share B and C */
    int64_t conv_kernel;
    int64_t intermediate_size; /* num_heads * head_dim */
    int64_t conv_dim;          /* what the convolution is over: x, B and C one behind the other */
    double layer_norm_epsilon;
    double time_step_limit[2]; /* the shortest and the longest step; the second may be infinite */
    int32_t use_bias;
    int32_t use_conv_bias;
    int32_t tie_word_embeddings;
};

/* [load] Reads and checks them; errors name file and field. */
int mamba2_sizes_read(const struct graft_config *config, struct mamba2_sizes *sizes, struct graft_error *error);

/* [load] Reads them into memory that `create` gets as `kept`. */
int mamba2_sizes_keep(const struct graft_config *config, const struct graft_sink *sink,
                      const struct mamba2_sizes **kept, struct graft_error *error);

/* --- An interface of the plugin's own --- */

/* norm(hidden_states * silu(gate)), each group of columns by itself. Parents give hidden_size, group_size and eps. */
#define MAMBA2_INTERFACE_GATED_NORM "mamba2.gated_norm/1"

struct mamba2_gated_norm_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens;
    const float *hidden_states; /* [tokens, hidden_size] */
    float *gate;                /* [tokens, hidden_size]; overwritten */
    int64_t gate_stride;
    float *output; /* [tokens, hidden_size] */
};

extern const struct graft_mixer mamba2_mixer_vtable;
extern const struct graft_vtable mamba2_gated_norm_vtable;

/* --- Classes --- */

/* `describe` and `create` of one. */
#define MAMBA2_CLASS(name)                                                                                       \
    int mamba2_##name##_describe(const struct graft_class *self, const struct graft_config *config,              \
                                 const struct graft_args *args, const struct graft_sink *sink,                   \
                                 struct graft_error *error);                                                     \
    int mamba2_##name##_create(const struct graft_class *self, const struct graft_build *build, void **instance, \
                               struct graft_error *error)

/* The rest of these is the SDK's (graft/parts.h). */
int mamba2_causal_lm_describe(const struct graft_class *cls, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);
int mamba2_model_describe(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);
MAMBA2_CLASS(mixer);
MAMBA2_CLASS(gated_norm);

#endif
