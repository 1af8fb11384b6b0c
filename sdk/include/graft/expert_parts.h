/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of mixtures of experts (experts.h), for plugins that keep experts otherwise than stacked in the checkpoint's
 * own type: as a list of MLPs, or as stacks of codes. As those of parts.h they are linked into the plugin, from
 * libgraft-sdk.a. All functions are [load].
 */
#ifndef GRAFT_EXPERT_PARTS_H
#define GRAFT_EXPERT_PARTS_H

#include "condition.h"
#include "experts.h"
#include "parts.h"
#include "quant_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- A list --- */

/*
 * graft.experts/1: children "0", "1" and so on, one after the other, in ascending order. Results are those of stacked
 * experts, to the bit where the Linears' are. For checkpoints that have experts one by one in a packed form: stacked
 * parameters cannot hold that, but the method's Linears can. A plugin that brings those (plugins/fp8) has a class of
 * this kind as well, which gives way (GRAFT_REPLACEMENT_GIVES_WAY) to plugins that take experts apart anyway. No
 * biases, and no gating but act_fn's.
 */
struct graft_parts_expert_list {
    const char *expert_class; /* of each child: "MoeMLP", of graft.mlp/1 */
};

/* Of the class's `data`. */
graft_parts_describe graft_parts_expert_list_describe;
graft_parts_create graft_parts_expert_list_create;
extern const struct graft_experts graft_parts_expert_list_vtable;

/* The `data` of a class of such children that is a graft_parts_mlp: gate_proj, up_proj, down_proj, act_fn. */
extern const struct graft_parts_mlp graft_parts_expert;

/* Its conversions: Mixtral calls the gated projection w1, the other w3, and w2 what goes back to the hidden size. */
enum { GRAFT_PARTS_EXPERT_RENAMINGS = 3 };
extern const struct graft_conversion graft_parts_expert_renamings[GRAFT_PARTS_EXPERT_RENAMINGS];

/* The initialisers of that class. */
#define GRAFT_PARTS_EXPERT_CLASS(class_name)                                                                          \
    GRAFT_PARTS_CLASS(class_name, GRAFT_INTERFACE_MLP, graft_parts_mlp),                                              \
        .flags = GRAFT_CLASS_SAME_ANYWHERE, .data = &graft_parts_expert, .conversions = graft_parts_expert_renamings, \
        .n_conversions = GRAFT_PARTS_EXPERT_RENAMINGS, .conversion_stride = sizeof(struct graft_conversion)

/* The initialisers of a replacement by a class of such a list, which gives way; `array`: the conditions. */
#define GRAFT_PARTS_LISTED_EXPERTS(cls, array)                                                       \
    .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_PATTERN, .target = "Experts$", \
    .replacement = (cls), .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS | GRAFT_REPLACEMENT_GIVES_WAY,    \
    .conditions = (array), .n_conditions = sizeof(array) / sizeof(array)[0], .condition_stride = sizeof(array)[0]

/* --- Stacks of codes --- */

/*
 * graft.experts/1: the stacked experts that a class replaces, of codes. It describes NAME_CODES and NAME_SCALES of
 * `gate_up_proj` [experts, 2 * intermediate_size, ..] and `down_proj` [experts, hidden_size, ..], and with biases
 * `gate_up_proj_bias` and `down_proj_bias` as they are. Everything else is that of the class it replaces.
 */

/* A stack that is described. */
struct graft_parts_stack {
    const char *path;          /* of the module, for errors */
    const char *columns_field; /* what the number of columns is called: "hidden_size" */
    struct graft_codec *codec; /* to be filled in but for the sizes; `rows` are those of all experts */
    int64_t shape[2];          /* to be filled in, as all below: dimensions of a row of codes */
    int32_t rank;              /* how many these are */
    graft_dtype code_dtype;    /* of the codes */
    graft_dtype scale_dtype;   /* of the scales */
};

struct graft_parts_coded_experts {
    const char *codes;  /* "qweight": of the parameter gate_up_proj_qweight */
    const char *scales; /* "scales" */
    /* [load] Fills in a stack. */
    int (*read)(struct graft_parts_stack *stack, struct graft_error *error);
    int32_t by_turns; /* rows are 1: one of gate, one of up, as gpt-oss has them; 0: all of gate, then all of up */
    uint32_t reserved;
};

/* Of the class's `data`. */
graft_parts_describe graft_parts_coded_experts_describe;

/* The initialisers of such a class. */
#define GRAFT_PARTS_CODED_EXPERTS_CLASS(class_name, part)                                                \
    .struct_size = sizeof(struct graft_class), .flags = GRAFT_CLASS_CALLS_EXPERTS, .name = (class_name), \
    .interface_id = GRAFT_INTERFACE_EXPERTS, .describe = graft_parts_coded_experts_describe, .data = (part)

GRAFT_ASSERT_SIZE(struct graft_parts_expert_list, 8);
GRAFT_ASSERT_SIZE(struct graft_parts_stack, 56);
GRAFT_ASSERT_SIZE(struct graft_parts_coded_experts, 32);

#ifdef __cplusplus
}
#endif

#endif
