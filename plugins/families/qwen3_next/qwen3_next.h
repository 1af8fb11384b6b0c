/* SPDX-License-Identifier: Apache-2.0 */
/* The classes that are the family's own, a file each. */
#ifndef QWEN3_NEXT_H
#define QWEN3_NEXT_H

#include "graft/attention.h"
#include "graft/class.h"
#include "graft/mixer.h"
#include "graft/module.h"

/* weight * norm(hidden_states) * silu(gate), where all other norms of the family multiply by 1 + weight. Parents give
 * hidden_size and eps. */
#define QWEN3_NEXT_INTERFACE_GATED_NORM "qwen3_next.gated_norm/1"

struct qwen3_next_gated_norm_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t rows;
    const float *hidden_states; /* [rows, hidden_size] */
    float *gate;                /* [rows, hidden_size], and the output */
};

/* `describe` and `create` of one. */
#define QWEN3_NEXT_CLASS(name)                                                                                       \
    int qwen3_next_##name##_describe(const struct graft_class *self, const struct graft_config *config,              \
                                     const struct graft_args *args, const struct graft_sink *sink,                   \
                                     struct graft_error *error);                                                     \
    int qwen3_next_##name##_create(const struct graft_class *self, const struct graft_build *build, void **instance, \
                                   struct graft_error *error)

QWEN3_NEXT_CLASS(attention);
QWEN3_NEXT_CLASS(gated_delta_net);
QWEN3_NEXT_CLASS(gated_norm);

extern const struct graft_self_attention qwen3_next_attention_vtable;
extern const struct graft_mixer qwen3_next_gated_delta_net_vtable;
extern const struct graft_vtable qwen3_next_gated_norm_vtable;

#endif
