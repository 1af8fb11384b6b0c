/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "deepseek.h"
#include "graft/describe.h"
#include "graft/kernels.h"

/* 1 / sqrt(nope + rope), times the square of yarn's magnitude where `mscale_all_dim` asks for it. */
static int read_scaling(const struct graft_config *config, struct deepseek_sizes *sizes, struct graft_error *error) {
    int older = config->size(config->data, "rope_scaling") > 0;
    double mscale = 0.0;
    double factor = 1.0;
    int status = graft_config_real(config, older ? "rope_scaling.mscale_all_dim" : "rope_parameters.mscale_all_dim",
                                   -HUGE_VAL, &mscale, error);
    if (status == GRAFT_OK) {
        status =
            graft_config_real(config, older ? "rope_scaling.factor" : "rope_parameters.factor", 0.0, &factor, error);
    }
    double magnitude = factor > 1.0 ? 0.1 * mscale * log(factor) + 1.0 : 1.0;
    sizes->scaling = magnitude * magnitude / sqrt((double)(sizes->nope + sizes->rope));
    return status;
}

static int read_config(const struct graft_config *config, struct deepseek_sizes *sizes, struct graft_error *error) {
    int32_t interleaved = 1;
    int status = graft_config_int(config, "q_lora_rank", 1, DEEPSEEK_MAX_SIZE, &sizes->q_lora, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "kv_lora_rank", 1, DEEPSEEK_MAX_SIZE, &sizes->kv_lora, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "qk_nope_head_dim", 1, DEEPSEEK_MAX_SIZE, &sizes->nope, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "v_head_dim", 1, DEEPSEEK_MAX_SIZE, &sizes->v, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "rope_interleave", &interleaved, error);
    }
    sizes->rope_layout = interleaved ? GRAFT_ROPE_INTERLEAVED : GRAFT_ROPE_HALVES;
    return status == GRAFT_OK ? read_scaling(config, sizes, error) : status;
}

/* What the parent gives: head_dim is the part of a head that is rotated. */
static int read_args(const struct graft_args *args, const struct graft_sink *sink, struct deepseek_sizes *sizes,
                     struct graft_error *error) {
    int64_t layer = graft_args_int(args, "layer_idx", -1);
    int status = graft_args_size(args, "hidden_size", DEEPSEEK_MAX_SIZE, sink->path, &sizes->hidden, error);
    if (status == GRAFT_OK) {
        status = graft_args_size(args, "num_attention_heads", DEEPSEEK_MAX_SIZE, sink->path, &sizes->heads, error);
    }
    if (status == GRAFT_OK) {
        status = graft_args_size(args, "head_dim", DEEPSEEK_MAX_SIZE, sink->path, &sizes->rope, error);
    }
    if (status == GRAFT_OK && (layer < 0 || layer >= DEEPSEEK_MAX_LAYERS)) {
        status = graft_error_set(error, GRAFT_ERROR_PLUGIN, sink->path,
                                 "argument layer_idx: expected 0 to %d from the parent, got %lld",
                                 (int)DEEPSEEK_MAX_LAYERS - 1, (long long)layer);
    }
    sizes->layer = (int32_t)layer;
    return status;
}

/* A latent is for all heads, whatever the file says. But the reference repeats keys for as many heads as fit a group,
 * and fails where these are two or more. */
static int check_groups(const struct graft_config *config, const struct deepseek_sizes *sizes,
                        struct graft_error *error) {
    int64_t groups = sizes->heads;
    int status = graft_config_int(config, DEEPSEEK_GROUPS, 1, DEEPSEEK_MAX_SIZE, &groups, error);
    return status == GRAFT_OK && groups <= sizes->heads / 2
               ? graft_error_set(
                     error, GRAFT_ERROR_MODEL, config->file, "%s: expected num_attention_heads (%lld), got %lld",
                     graft_config_spelling(config, DEEPSEEK_GROUPS), (long long)sizes->heads, (long long)groups)
               : status;
}

int deepseek_sizes_read(const struct graft_config *config, const struct graft_args *args, const struct graft_sink *sink,
                        struct deepseek_sizes *sizes, struct graft_error *error) {
    int status = read_args(args, sink, sizes, error);
    if (status == GRAFT_OK) {
        status = check_groups(config, sizes, error);
    }
    return status == GRAFT_OK ? read_config(config, sizes, error) : status;
}
