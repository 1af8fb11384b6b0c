/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "graft/describe.h"
#include "graft/parts.h"

static int read_sizes(const struct graft_args *args, const char *path, struct graft_parts_attention_sizes *sizes,
                      struct graft_error *error) {
    const struct {
        const char *name;
        int64_t *value;
    } needed[] = {
        {"hidden_size", &sizes->hidden_size},
        {"num_attention_heads", &sizes->heads},
        {"num_key_value_heads", &sizes->kv_heads},
        {"head_dim", &sizes->head_dim},
    };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        graft_args_size(args, needed[i].name, GRAFT_PARTS_MAX_SIZE, path, needed[i].value, error);
    }
    return error->code;
}

int graft_parts_read_attention_sizes(const struct graft_args *args, const char *path,
                                     struct graft_parts_attention_sizes *sizes, struct graft_error *error) {
    int64_t layer = graft_args_int(args, "layer_idx", -1);
    if (read_sizes(args, path, sizes, error) != GRAFT_OK) {
        return error->code;
    }
    if (layer < 0 || layer >= GRAFT_PARTS_MAX_LAYERS) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                               "argument layer_idx: expected 0 to %d from the parent, got %lld",
                               (int)GRAFT_PARTS_MAX_LAYERS - 1, (long long)layer);
    }
    sizes->rotary_width = graft_args_int(args, "rotary_width", sizes->head_dim);
    int is_part = sizes->rotary_width != sizes->head_dim; /* without rotation, an odd head_dim is fine */
    if (is_part && (sizes->rotary_width < 2 || sizes->rotary_width > sizes->head_dim || sizes->rotary_width % 2 != 0)) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                               "argument rotary_width: expected an even number up to head_dim (%lld), got %lld",
                               (long long)sizes->head_dim, (long long)sizes->rotary_width);
    }
    sizes->scaling = graft_args_real(args, "scaling", 1.0 / sqrt((double)sizes->head_dim));
    sizes->softcap = graft_args_real(args, "softcap", 0.0);
    sizes->rope_layout = graft_args_int(args, "rope_interleave", 0) != 0 ? GRAFT_ROPE_INTERLEAVED : GRAFT_ROPE_HALVES;
    sizes->layer = (int32_t)layer;
    sizes->qkv_bias = graft_args_int(args, "qkv_bias", 0) != 0;
    sizes->o_proj_bias = graft_args_int(args, "o_proj_bias", 0) != 0;
    return GRAFT_OK;
}
