/* SPDX-License-Identifier: Apache-2.0 */
/* Stacked experts with quantized rows. */
#include <stdio.h>

#include "graft/describe.h"
#include "graft/expert_parts.h"
#include "graft/swiglu.h"

enum { MAX_NAME = 64 };

struct experts {
    const struct graft_parts_coded_experts *part;
    const struct graft_sink *sink;
    struct graft_expert_sizes sizes;
    int32_t has_bias;
};

/* Declares the stack `name`, with `rows` outputs and `columns` inputs for each expert, and NAME_bias if experts have
 * biases. */
static int describe_stack(const struct experts *experts, const char *name, int64_t rows, int64_t columns,
                          int is_gate_up, struct graft_error *error) {
    const struct graft_parts_coded_experts *part = experts->part;
    const struct graft_sink *sink = experts->sink;
    const int64_t n = experts->sizes.num_experts, biases[2] = {n, rows};
    struct graft_scheme scheme = graft_scheme_of(n * rows, columns);
    struct graft_parts_stack stack = {.path = sink->path,
                                      .columns_field = is_gate_up ? "hidden_size" : "intermediate_size",
                                      .codec = &scheme.codec,
                                      .rank = 1};
    char codes_name[MAX_NAME], scales_name[MAX_NAME], bias_name[MAX_NAME];
    if (part->read(&stack, error) != GRAFT_OK) {
        return error->code;
    }
    const int64_t codes[4] = {n, rows, stack.shape[0], stack.shape[1]};
    const int64_t scales[3] = {n, rows, graft_codec_groups(&scheme.codec)};
    (void)snprintf(codes_name, sizeof codes_name, "%s_%s", name, part->codes);
    (void)snprintf(scales_name, sizeof scales_name, "%s_%s", name, part->scales);
    (void)snprintf(bias_name, sizeof bias_name, "%s_bias", name);
    graft_scheme_add(&scheme, GRAFT_CODED_CODES, codes_name, stack.code_dtype, 2 + stack.rank, codes)->flags =
        GRAFT_PARAMETER_CONTIGUOUS;
    graft_scheme_add(&scheme, GRAFT_CODED_SCALES, scales_name, stack.scale_dtype, 3, scales)->flags =
        GRAFT_PARAMETER_CONTIGUOUS;
    scheme.codec.by_turns = part->by_turns && is_gate_up ? rows : 0;
    graft_scheme_describe(&scheme, name, sink, error);
    if (experts->has_bias) {
        graft_describe_parameter(sink, bias_name, 2, biases, 0, GRAFT_INIT_NONE, error);
    }
    return error->code;
}

int graft_parts_coded_experts_describe(const struct graft_class *self, const struct graft_config *config,
                                       const struct graft_args *args, const struct graft_sink *sink,
                                       struct graft_error *error) {
    const uint32_t features = graft_experts_features(args);
    struct experts experts = {.part = self->data, .sink = sink, .has_bias = (features & GRAFT_EXPERTS_BIASES) != 0};
    const struct graft_expert_sizes *sizes = &experts.sizes;
    graft_args_expert_sizes(args, sink->path, &experts.sizes, error);
    if ((features & GRAFT_EXPERTS_GATING) != 0) {
        graft_swiglu_check(args, sink->path, error);
    }
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    describe_stack(&experts, "gate_up_proj", 2 * sizes->intermediate_size, sizes->hidden_size, 1, error);
    describe_stack(&experts, "down_proj", sizes->hidden_size, sizes->intermediate_size, 0, error);
    if ((features & GRAFT_EXPERTS_GATING) == 0) {
        graft_describe_activation(sink, "act_fn", config, args, "hidden_act", error);
    }
    return error->code;
}
