/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of decoders, for plugins that bring a family: what its classes have in common with those of other families. A
 * class uses the functions of a part, and its `data` is the part's struct, which names the children:
 *
 *   static const struct graft_parts_mlp mlp = {.up = "c_fc", .down = "c_proj", .act = "act"};
 *   {GRAFT_PARTS_CLASS("Starcoder2MLP", GRAFT_INTERFACE_MLP, graft_parts_mlp), .data = &mlp}
 *
 * A class with a `describe` of its own calls the part's `declare` in it instead, once, and must not call sink->keep,
 * because `declare` keeps what the part's `create` needs; `data` is then free for the class's use. What has no part
 * here, a plugin derives from the built-in classes, or describes in a family file (docs/family.md).
 *
 * Parts are not an interface between host and plugin: they are linked into the plugin, from libgraft-sdk.a. All
 * functions are [load] unless they say otherwise. */
#ifndef GRAFT_PARTS_H
#define GRAFT_PARTS_H

#include "attention.h"
#include "class.h"
#include "instance.h"
#include "mlp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Far above the sizes of published models, and small enough that products of four sizes fit 64 bits. */
enum { GRAFT_PARTS_MAX_SIZE = 1 << 20, GRAFT_PARTS_MAX_LAYERS = 4096 };

/* The type of `describe` in struct graft_class. */
typedef int graft_parts_describe(const struct graft_class *self, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error);
/* As `create`. */
typedef int graft_parts_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                               struct graft_error *error);

/* The first initialisers of a class that is a part: PART_describe, PART_create and PART_vtable. */
#define GRAFT_PARTS_CLASS(class_name, interface, part)                                            \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = (interface), \
    .describe = part##_describe, GRAFT_PARTS_INSTANCE(part)

/* Only those initialisers that concern instances, for a class that has or inherits another `describe`. */
#define GRAFT_PARTS_INSTANCE(part) .create = part##_create, .destroy = graft_instance_destroy, .forward = &part##_vtable

/* --- Attention --- */

/* The arguments of an attention (attention.h). */
struct graft_parts_attention_sizes {
    int64_t hidden_size;  /* inputs of the projections, and outputs of the output projection */
    int64_t heads;        /* heads of queries: num_attention_heads */
    int64_t kv_heads;     /* heads of keys and values: num_key_value_heads */
    int64_t head_dim;     /* width of a head */
    int64_t rotary_width; /* how many numbers of a head are rotated, from the first on, if there are angles */
    double scaling;       /* factor of the scores */
    double softcap;       /* softcap of the scores; 0: none */
    int32_t layer;        /* layer_idx */
    int32_t qkv_bias;     /* 0 or 1 */
    int32_t o_proj_bias;  /* 0 or 1 */
    int32_t rope_layout;  /* GRAFT_ROPE_HALVES, ... */
};

/* Reads and checks the arguments; the error names the module: `path` is sink->path. */
int graft_parts_read_attention_sizes(const struct graft_args *args, const char *path,
                                     struct graft_parts_attention_sizes *sizes, struct graft_error *error);

/* --- MLP --- */

/* graft.mlp/1: down(act(gate(x)) * up(x)), or down(act(up(x))) without a gate; optionally with a norm of down's
 * input. */
struct graft_parts_mlp {
    const char *gate;       /* "gate_proj"; NULL: none */
    const char *up;         /* "up_proj" */
    const char *gate_up;    /* replaces both: one projection, with the gate's rows first: "gate_up_proj"; NULL: none */
    const char *down;       /* "down_proj" */
    const char *act;        /* "act_fn" */
    const char *norm;       /* norm of down's input: "ffn_sub_norm"; NULL: none */
    const char *norm_class; /* "BitNetRMSNorm" */
    double gate_scale;      /* factor of the gate before its activation; 0: 1 */
    double output_scale;    /* factor of the MLP's output; 0: 1 */
    double swiglu_alpha;    /* with swiglu_limit */
    double swiglu_limit;    /* above 0: the gating of swiglu.h, with this limit, replaces act; 0: act */
    /* With a gate: a quantile of the normal distribution that has the mean and deviation of the gate's outputs. Outputs
     * below it become 0, and it is subtracted from the others, before the activation. 0: none; less than 1. */
    double gate_quantile;
    int32_t down_bias; /* GRAFT_PARTS_AS_BIAS, ... */
    uint32_t reserved;
};

/* Whether a Linear has a bias, if that may differ from the other Linears. */
enum {
    GRAFT_PARTS_AS_BIAS = 0, /* as the other Linears */
    GRAFT_PARTS_BIAS = 1,    /* it has one */
    GRAFT_PARTS_NO_BIAS = 2  /* it has none */
};

/* Declares the children, from the arguments of graft.mlp/1. */
int graft_parts_mlp_declare(const struct graft_parts_mlp *part, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);

/* For a class whose `data` is a struct graft_parts_mlp: `describe`, `create` and the vtable. */
graft_parts_describe graft_parts_mlp_describe;
graft_parts_create graft_parts_mlp_create;
extern const struct graft_mlp graft_parts_mlp_vtable;

GRAFT_ASSERT_SIZE(struct graft_parts_attention_sizes, 72);
GRAFT_ASSERT_SIZE(struct graft_parts_mlp, 104);

#ifdef __cplusplus
}
#endif

#endif
