/* SPDX-License-Identifier: Apache-2.0 */
/* The model with its head. */
#include "../parts/parts.h"
#include "mamba2.h"

int mamba2_causal_lm_describe(const struct graft_class *cls, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct mamba2_sizes sizes = {0};
    (void)args;
    int status = mamba2_sizes_read(config, &sizes, error);
    return status == GRAFT_OK ? parts_causal_lm_declare(cls->data, sizes.vocab_size, sizes.hidden_size,
                                                        sizes.tie_word_embeddings, sink, error)
                              : status;
}
