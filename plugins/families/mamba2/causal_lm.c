/* SPDX-License-Identifier: Apache-2.0 */
/* The model, with its head and without. */
#include "graft/parts.h"
#include "mamba2.h"

int mamba2_causal_lm_describe(const struct graft_class *cls, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct mamba2_sizes read = {0};
    (void)args;
    int status = mamba2_sizes_read(config, &read, error);
    const struct graft_parts_causal_lm_sizes sizes = {
        .vocab_size = read.vocab_size,
        .hidden_size = read.hidden_size,
        .tie_word_embeddings = read.tie_word_embeddings,
    };
    return status == GRAFT_OK ? graft_parts_causal_lm_declare(cls->data, &sizes, sink, error) : status;
}

int mamba2_model_describe(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct mamba2_sizes read = {0};
    (void)args;
    int status = mamba2_sizes_read(config, &read, error);
    const struct graft_arg items[] = {graft_int_arg("hidden_size", read.hidden_size),
                                      graft_real_arg("eps", read.layer_norm_epsilon)};
    const struct graft_args layer_args = graft_args_of(items, 2);
    const struct graft_parts_model_sizes sizes = {
        .vocab_size = read.vocab_size,
        .hidden_size = read.hidden_size,
        .num_hidden_layers = read.num_hidden_layers,
        .eps = read.layer_norm_epsilon,
        .layer_args = &layer_args,
    };
    return status == GRAFT_OK ? graft_parts_model_declare(cls->data, &sizes, sink, error) : status;
}
