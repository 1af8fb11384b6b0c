/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of both families, a file each. */
#ifndef MAMBA_H
#define MAMBA_H

#include "graft/class.h"
#include "graft/config.h"
#include "graft/error.h"
#include "graft/mixer.h"
#include "graft/norm.h"

/* What config.json says; sizes.c has checked that no product of the numbers overflows. */
struct mamba_sizes {
    int64_t vocab_size;
    int64_t hidden_size;
    int64_t num_hidden_layers;
    int64_t state_size;
    int64_t conv_kernel;
    int64_t intermediate_size; /* without the field: expand * hidden_size */
    int64_t time_step_rank;    /* "auto": hidden_size / 16, rounded up */
    double layer_norm_epsilon;
    double mixer_rms_eps;
    int32_t use_bias;
    int32_t use_conv_bias;
    int32_t tie_word_embeddings;
};

/* [load] Reads and checks them; errors name file and field. */
int mamba_sizes_read(const struct graft_config *config, struct mamba_sizes *sizes, struct graft_error *error);

/* How the families differ. */
struct mamba_traits {
    const char *weightless_norm; /* the class of what norms B, C and steps; NULL: nothing does */
};

/* Functions of classes, as in struct graft_class. A mixer's `data` is a struct mamba_traits. */
int mamba_mixer_describe(const struct graft_class *cls, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);
int mamba_mixer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                       struct graft_error *error);
int mamba_weightless_norm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                 struct graft_error *error);

extern const struct graft_mixer mamba_mixer_vtable;
extern const struct graft_norm mamba_weightless_norm_vtable;

#endif
