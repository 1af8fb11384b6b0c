/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "mamba2.h"

enum { MAX_SIZE = 1 << 24, MAX_LAYERS = 1 << 12, MAX_HEADS = 1 << 14, MAX_WIDTH = 1 << 12, MAX_KERNEL = 64 };

static int read_integers(const struct graft_config *config, struct mamba2_sizes *sizes, struct graft_error *error) {
    const struct {
        const char *name;
        int64_t minimum;
        int64_t maximum;
        int64_t *value;
    } fields[] = {
        {"vocab_size", 1, MAX_SIZE, &sizes->vocab_size},
        {"hidden_size", 1, MAX_SIZE, &sizes->hidden_size},
        {"num_hidden_layers", 1, MAX_LAYERS, &sizes->num_hidden_layers},
        {"num_heads", 1, MAX_HEADS, &sizes->num_heads},
        {"head_dim", 1, MAX_WIDTH, &sizes->head_dim},
        {"state_size", 1, MAX_WIDTH, &sizes->state_size},
        {"n_groups", 1, MAX_HEADS, &sizes->n_groups},
        {"conv_kernel", 2, MAX_KERNEL, &sizes->conv_kernel},
    };
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && status == GRAFT_OK; i++) {
        status =
            graft_config_need_int(config, fields[i].name, fields[i].minimum, fields[i].maximum, fields[i].value, error);
    }
    return status;
}

static int read_booleans(const struct graft_config *config, struct mamba2_sizes *sizes, struct graft_error *error) {
    int status = graft_config_bool(config, "use_bias", &sizes->use_bias, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "use_conv_bias", &sizes->use_conv_bias, error);
    }
    return status == GRAFT_OK ? graft_config_bool(config, "tie_word_embeddings", &sizes->tie_word_embeddings, error)
                              : status;
}

/* Its second number is infinite in most models. */
static int read_time_step_limit(const struct graft_config *config, double limit[2], struct graft_error *error) {
    const char *const paths[] = {"time_step_limit.0", "time_step_limit.1"};
    if (!graft_config_has(config, "time_step_limit")) {
        return GRAFT_OK;
    }
    if (config->size(config->data, "time_step_limit") != 2) {
        return graft_config_expected(config, "time_step_limit", "an array of two numbers", error);
    }
    for (int i = 0; i < 2; i++) {
        int32_t kind = config->kind(config->data, paths[i]);
        if (kind != GRAFT_FIELD_INT && kind != GRAFT_FIELD_REAL) {
            return graft_config_expected(config, paths[i], "a number", error);
        }
        limit[i] = config->real(config->data, paths[i]);
        if (isnan(limit[i])) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected a number, got NaN", paths[i]);
        }
    }
    return GRAFT_OK;
}

static int check(const struct graft_config *config, const struct mamba2_sizes *sizes, int64_t expand,
                 struct graft_error *error) {
    if (sizes->hidden_size * expand != sizes->num_heads * sizes->head_dim) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "num_heads %lld times head_dim %lld is not hidden_size %lld times expand %lld",
                               (long long)sizes->num_heads, (long long)sizes->head_dim, (long long)sizes->hidden_size,
                               (long long)expand);
    }
    if (sizes->num_heads % sizes->n_groups != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "n_groups %lld does not divide num_heads %lld",
                               (long long)sizes->n_groups, (long long)sizes->num_heads);
    }
    return GRAFT_OK;
}

int mamba2_sizes_read(const struct graft_config *config, struct mamba2_sizes *sizes, struct graft_error *error) {
    int64_t expand = 0;
    *sizes = (struct mamba2_sizes){.layer_norm_epsilon = 1e-5, .time_step_limit = {0.0, INFINITY}, .use_conv_bias = 1};
    int status = read_integers(config, sizes, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "expand", 1, MAX_WIDTH, &expand, error);
    }
    if (status == GRAFT_OK) {
        status = read_booleans(config, sizes, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_real_from(config, "layer_norm_epsilon", 0.0, &sizes->layer_norm_epsilon, error);
    }
    if (status == GRAFT_OK) {
        status = read_time_step_limit(config, sizes->time_step_limit, error);
    }
    sizes->intermediate_size = sizes->num_heads * sizes->head_dim;
    sizes->conv_dim = sizes->intermediate_size + 2 * sizes->n_groups * sizes->state_size;
    return status == GRAFT_OK ? check(config, sizes, expand, error) : status;
}

int mamba2_sizes_keep(const struct graft_config *config, const struct graft_sink *sink,
                      const struct mamba2_sizes **kept, struct graft_error *error) {
    struct mamba2_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    *kept = sizes;
    return sizes != NULL ? mamba2_sizes_read(config, sizes, error) : GRAFT_ERROR_INTERNAL;
}
