/* SPDX-License-Identifier: Apache-2.0 */
/* Experts of mixtures (experts.h), for plugins whose experts are not stacked in the checkpoint's own type: a list of
 * MLPs, or stacks of codes. Like parts.h, this is linked into the plugin from libgraft-sdk.a. All functions are [load].
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

/* --- Listed experts --- */

/* graft.experts/1 with an MLP for each expert: children "0", "1" and so on, computed in ascending order. If the
 * Linears' results have the same bits as the original's, so have these. For checkpoints that hold quantized experts one
 * by one: stacked parameters cannot hold them, but the method's Linears can. A plugin that has such Linears
 * (plugins/fp8) also has a class of this kind, which gives way (GRAFT_REPLACEMENT_GIVES_WAY) to other plugins that
 * split experts. Supports no biases, and no gating but act_fn's. */
struct graft_parts_expert_list {
    const char *expert_class; /* class of each child: "MoeMLP", of graft.mlp/1 */
};

/* For a class whose `data` is this struct. */
graft_parts_describe graft_parts_expert_list_describe;
graft_parts_create graft_parts_expert_list_create;
extern const struct graft_experts graft_parts_expert_list_vtable;

/* The `data` of an expert class that is a graft_parts_mlp: gate_proj, up_proj, down_proj, act_fn. */
extern const struct graft_parts_mlp graft_parts_expert;

/* The conversions of an expert class: Mixtral's names are w1 for the gate projection, w3 for the up projection, and w2
 * for the down projection. */
enum { GRAFT_PARTS_EXPERT_RENAMINGS = 3 };
extern const struct graft_conversion graft_parts_expert_renamings[GRAFT_PARTS_EXPERT_RENAMINGS];

/* The initialisers of an expert class. */
#define GRAFT_PARTS_EXPERT_CLASS(class_name)                                                                          \
    GRAFT_PARTS_CLASS(class_name, GRAFT_INTERFACE_MLP, graft_parts_mlp),                                              \
        .flags = GRAFT_CLASS_SAME_ANYWHERE, .data = &graft_parts_expert, .conversions = graft_parts_expert_renamings, \
        .n_conversions = GRAFT_PARTS_EXPERT_RENAMINGS, .conversion_stride = sizeof(struct graft_conversion)

/* Defines both classes, with these names: `expert_class`, which belongs to the plugin's `classes`, and `experts_class`,
 * which replaces listed experts. */
#define GRAFT_PARTS_LISTED_EXPERT_CLASSES(expert_name, experts_name)                        \
    static const struct graft_class expert_class = {GRAFT_PARTS_EXPERT_CLASS(expert_name)}; \
    static const struct graft_parts_expert_list expert_list = {expert_name};                \
    static const struct graft_class experts_class = {                                       \
        GRAFT_PARTS_CLASS(experts_name, GRAFT_INTERFACE_EXPERTS, graft_parts_expert_list),  \
        .data = &expert_list,                                                               \
    }

/* The initialisers of a replacement by listed experts, which gives way; `array` has the conditions. */
#define GRAFT_PARTS_LISTED_EXPERTS(cls, array)                                                       \
    .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_PATTERN, .target = "Experts$", \
    .replacement = (cls), .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS | GRAFT_REPLACEMENT_GIVES_WAY,    \
    .conditions = (array), .n_conditions = sizeof(array) / sizeof(array)[0], .condition_stride = sizeof(array)[0]

/* --- Stacked experts of codes --- */

/* graft.experts/1: a replacement of stacked experts whose weights are codes. It declares NAME_CODES and NAME_SCALES for
 * `gate_up_proj` [experts, 2 * intermediate_size, ..] and `down_proj` [experts, hidden_size, ..], and with biases
 * `gate_up_proj_bias` and `down_proj_bias` unchanged. Everything else is inherited from the class it replaces. */

/* The codes of all experts' weights, stacked. */
struct graft_parts_stack {
    const char *path;          /* path of the module, for errors */
    const char *columns_field; /* name of the config field with the number of columns: "hidden_size" */
    struct graft_codec *codec; /* to be filled in except for the sizes; `rows` counts the rows of all experts */
    int64_t shape[2];          /* dimensions of a row of codes; to be filled in, like the members below */
    int32_t rank;              /* how many dimensions */
    graft_dtype code_dtype;    /* type of the codes */
    graft_dtype scale_dtype;   /* type of the scales */
};

struct graft_parts_coded_experts {
    const char *codes;  /* "qweight" for the parameter gate_up_proj_qweight */
    const char *scales; /* "scales" */
    /* [load] Fills in a stack. */
    int (*read)(struct graft_parts_stack *stack, struct graft_error *error);
    int32_t by_turns; /* 1: rows of gate and up alternate, as in gpt-oss; 0: all rows of gate, then all of up */
    uint32_t reserved;
};

/* For a class whose `data` is this struct. */
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
