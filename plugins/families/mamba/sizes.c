/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mamba.h"

enum { MAX_SIZE = 1 << 24, MAX_LAYERS = 1 << 12, MAX_WIDTH = 1 << 12, MAX_KERNEL = 64 };

static int read_integers(const struct graft_config *config, struct mamba_sizes *sizes, struct graft_error *error) {
    const struct {
        const char *name;
        int64_t minimum;
        int64_t maximum;
        int64_t *value;
    } fields[] = {
        {"vocab_size", 1, MAX_SIZE, &sizes->vocab_size},
        {"hidden_size", 1, MAX_SIZE / MAX_WIDTH * 16, &sizes->hidden_size},
        {"num_hidden_layers", 1, MAX_LAYERS, &sizes->num_hidden_layers},
        {"state_size", 1, MAX_WIDTH, &sizes->state_size},
        {"conv_kernel", 2, MAX_KERNEL, &sizes->conv_kernel},
    };
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && status == GRAFT_OK; i++) {
        status =
            graft_config_need_int(config, fields[i].name, fields[i].minimum, fields[i].maximum, fields[i].value, error);
    }
    return status;
}

/* Where config.json gives the size, `expand` says nothing: published files of Falcon Mamba have one that does not fit.
 */
static int read_intermediate_size(const struct graft_config *config, struct mamba_sizes *sizes,
                                  struct graft_error *error) {
    int64_t expand = 0;
    if (graft_config_has(config, "intermediate_size")) {
        return graft_config_need_int(config, "intermediate_size", 1, MAX_SIZE, &sizes->intermediate_size, error);
    }
    int status = graft_config_need_int(config, "expand", 1, MAX_KERNEL, &expand, error);
    sizes->intermediate_size = expand * sizes->hidden_size;
    return status == GRAFT_OK
               ? graft_config_int(config, "intermediate_size", 1, MAX_SIZE, &sizes->intermediate_size, error)
               : status;
}

static int read_time_step_rank(const struct graft_config *config, struct mamba_sizes *sizes,
                               struct graft_error *error) {
    const char *word = config->string(config->data, "time_step_rank");
    sizes->time_step_rank = (sizes->hidden_size + 15) / 16;
    if (word != NULL && strcmp(word, "auto") == 0) {
        return GRAFT_OK;
    }
    return graft_config_int(config, "time_step_rank", 1, MAX_SIZE, &sizes->time_step_rank, error);
}

static int read_booleans(const struct graft_config *config, struct mamba_sizes *sizes, struct graft_error *error) {
    int status = graft_config_bool(config, "use_bias", &sizes->use_bias, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "use_conv_bias", &sizes->use_conv_bias, error);
    }
    return status == GRAFT_OK ? graft_config_bool(config, "tie_word_embeddings", &sizes->tie_word_embeddings, error)
                              : status;
}

int mamba_sizes_read(const struct graft_config *config, struct mamba_sizes *sizes, struct graft_error *error) {
    *sizes = (struct mamba_sizes){
        .layer_norm_epsilon = 1e-5, .mixer_rms_eps = 1e-6, .use_conv_bias = 1, .tie_word_embeddings = 1};
    int status = read_integers(config, sizes, error);
    if (status == GRAFT_OK) {
        status = read_intermediate_size(config, sizes, error);
    }
    if (status == GRAFT_OK) {
        status = read_time_step_rank(config, sizes, error);
    }
    if (status == GRAFT_OK) {
        status = read_booleans(config, sizes, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_real_from(config, "layer_norm_epsilon", 0.0, &sizes->layer_norm_epsilon, error);
    }
    return status == GRAFT_OK ? graft_config_real_from(config, "mixer_rms_eps", 0.0, &sizes->mixer_rms_eps, error)
                              : status;
}
