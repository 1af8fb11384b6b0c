/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/describe.h"
#include "modernbert.h"

int modernbert_read(const struct graft_config *config, struct modernbert_config *read, struct graft_error *error) {
    *read = (struct modernbert_config){0};
    int status = graft_parts_read_sizes(config, &read->sizes, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "norm_bias", &read->norm_bias, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "is_causal", &read->is_causal, error);
    }
    return status == GRAFT_OK ? graft_config_bool(config, "classifier_bias", &read->classifier_bias, error) : status;
}

int modernbert_describe_norm(const struct modernbert_config *config, const char *name, const struct graft_sink *sink,
                             struct graft_error *error) {
    const struct graft_arg args[] = {
        graft_int_arg("hidden_size", config->sizes.hidden_size),
        graft_real_arg("eps", config->sizes.layer_norm_eps),
        graft_int_arg("bias", config->norm_bias),
    };
    return graft_describe_child(sink, name, "LayerNorm", GRAFT_INTERFACE_NORM, args, 3, error);
}
