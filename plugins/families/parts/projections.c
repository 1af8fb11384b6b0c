/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/describe.h"
#include "parts.h"

int parts_projections_describe(const struct parts_projection_names *names, const struct graft_args *args,
                               const struct graft_sink *sink, struct graft_error *error) {
    int64_t hidden_size = graft_args_int(args, "hidden_size", 0);
    int64_t heads = 0;
    int64_t head_dim = 0;
    int status = graft_args_size(args, "num_attention_heads", PARTS_MAX_SIZE, sink->path, &heads, error);
    if (status == GRAFT_OK) {
        status = graft_args_size(args, "head_dim", PARTS_MAX_SIZE, sink->path, &head_dim, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, names->qkv, hidden_size, 3 * heads * head_dim,
                                       graft_args_int(args, "qkv_bias", 0) != 0, error);
    }
    return status == GRAFT_OK ? graft_describe_linear(sink, names->output, heads * head_dim, hidden_size,
                                                      graft_args_int(args, "o_proj_bias", 0) != 0, error)
                              : status;
}

int parts_projections_find(const struct parts_projection_names *names, const struct graft_build *build,
                           struct parts_projections *projections, struct graft_error *error) {
    int status = GRAFT_OK;
    projections->heads = graft_args_int(build->args, "num_attention_heads", 0);
    projections->head_dim = graft_args_int(build->args, "head_dim", 0);
    projections->qkv = graft_build_child(build, names->qkv, &status, error);
    projections->output = graft_build_child(build, names->output, &status, error);
    return status;
}
