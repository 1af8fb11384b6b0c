/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weight conversions: how the tensors of a checkpoint become the parameters of a class. Data, not code: the host plans
 * them before a byte is read, makes views of them where it can, and can run them backwards.
 *
 * They belong to a class and apply at the modules where it won; names are relative to the module, and may be those of
 * parameters below it ("gate_up_proj.weight" of a child). `*` in a name stands for one index ("*.gate_proj.weight" is
 * one tensor per expert). Operations are transformers' (WeightConverter), applied in order to the list of values that
 * the sources give, one per source.
 *
 * A renaming (no operations) may also have a child module as its target: then all of its parameters, and of what is
 * below it, are looked for under the other name as well. It belongs to the class that gives the child its name, so it
 * holds whatever class the child is.
 *
 * A conversion whose targets this module does not have ("q_proj.bias" without biases) is left out, and so is one whose
 * targets the checkpoint holds under their own names; but where a source has its target's own name ("c_proj.weight",
 * transposed) it is done. A checkpoint with some of its sources but not all is an error.
 */
#ifndef GRAFT_CONVERSION_H
#define GRAFT_CONVERSION_H

#include "abi.h"
#include "custom_operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Operations under transformers' names. Those marked "each" do the same to every value they are given. A `dim` below 0
 * counts from the last dimension. */
enum {
    GRAFT_OP_CONCATENATE = 1,      /* all values into one, joined along `dim` */
    GRAFT_OP_CHUNK = 2,            /* one value into one per target, along `dim`: sized as the targets' parameters where
                                    * they are known, else equal; with `num_shards_attribute` into as many values of a
                                    * `*` target as the config says */
    GRAFT_OP_MERGE_MODULELIST = 3, /* the tensors of each `*` source, 0 to n - 1, stacked along a new `dim` */
    GRAFT_OP_SPLIT_MODULELIST = 4, /* one value into those of a `*` target, one for each index along `dim` */
    GRAFT_OP_SPLIT = 5,            /* as Chunk, always sized as the targets' parameters */
    GRAFT_OP_INTERLEAVE = 6,       /* each: `dim` as pairs [n / 2, 2] becomes [2, n / 2]; `inverse`: the other way */
    GRAFT_OP_TRANSPOSE = 7, /* each: `dim` and `dim1` change places; with `check_dims` only a value whose shape is
                             * not that of the (first) target's parameter */
    GRAFT_OP_CONV3D_TO_LINEAR = 8, /* each: [out, in, t, h, w] becomes [out, in * t * h * w]; a matrix stays as it is */
    GRAFT_OP_LINEAR_TO_CONV3D = 9, /* each: the reverse, by `in_channels` and `kernel_size` */
    GRAFT_OP_PERMUTE_FOR_ROPE = 10, /* each: rows [heads, half, 2] become [heads, 2, half], with the config's
                                     * `num_attention_heads` (1 without it); `inverse`: the other way. A value of more
                                     * than two dimensions stays as it is, and so does one whose name holds none of
                                     * `permute_layer_names` */
    GRAFT_OP_CUSTOM = 11,           /* the plugin's own operation `custom` */
    GRAFT_OP_SLICE = 12,            /* each: of `dim`, divided into `of` equal pieces, `length` pieces from number
                                     * `begin` on; with `of` 0 so many indices. With `parts` it does so in each of
                                     * them. The rest is dropped: it counts as another process's, and a save in the
                                     * original layout takes it from the files */
    /* From several sources to several targets. The values of each `*` source in as many groups as there are targets,
     * one behind the other and equally large (the last may be smaller): group i of each is stacked along a new `dim`,
     * and those of all sources are joined along `dim1`, which is target i. */
    GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS = 13,
    /* The reverse. Each source in as many equal pieces along `dim1` as there are targets: `*` target i is the values
     * along `dim` of pieces i, one source behind the other. */
    GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS = 14
};

enum { GRAFT_SLICE_PARTS = 4 };

/* Const, as all that it points to, and valid as long as the class that it is a part of. */
struct graft_operation {
    uint32_t struct_size;
    int32_t kind;                     /* GRAFT_OP_... */
    int64_t dim;                      /* of the kinds that name it above */
    int64_t dim1;                     /* Transpose */
    int32_t check_dims;               /* Transpose */
    int32_t inverse;                  /* Interleave, PermuteForRope */
    const char *num_shards_attribute; /* Chunk and its reverse: a field of the text part of the config; NULL: none */
    const char *subconfig_key;        /* PermuteForRope: the part of the config to look in; NULL: all of it */
    const char *const *permute_layer_names;      /* PermuteForRope: NULL-terminated; NULL: all */
    int64_t in_channels;                         /* LinearToConv3d, and the reverse of Conv3dToLinear */
    int64_t kernel_size[3];                      /* the same: time, height, width */
    const struct graft_custom_operation *custom; /* GRAFT_OP_CUSTOM; else not read */
    int64_t begin;                               /* Slice: from 0 on */
    int64_t length;                              /* Slice: at least 1 */
    int64_t of;                                  /* Slice: how many pieces `dim` has, which divides its size; or 0 */
    /* Slice: `dim` has parts in the ratio of these numbers (4, 1, 1: queries, keys and values of a projection of all
     * three), and what is taken of each lies one behind the other. Those from the first 0 on are not read; a first one
     * of 0: it is one part. */
    int64_t parts[GRAFT_SLICE_PARTS];
};

/* Likewise. */
struct graft_conversion {
    uint32_t struct_size;
    int32_t n_sources;                        /* 1 to 1024 */
    const char *const *sources;               /* [n_sources] names in the checkpoint: "q_proj.weight" */
    const char *const *targets;               /* [n_targets] names of parameters: "qkv_proj.weight" */
    const struct graft_operation *operations; /* [n_operations], in the order in which they act */
    int32_t n_targets;                        /* 1 to 1024 */
    int32_t n_operations; /* at most 64; 0: a renaming, one source and one target, of a parameter or a module */
    uint32_t operation_stride;
    uint32_t reserved;
};

#define GRAFT_OPERATION_SIZE_1_0 GRAFT_END_OF(struct graft_operation, parts)
#define GRAFT_CONVERSION_SIZE_1_0 GRAFT_END_OF(struct graft_conversion, reserved)

GRAFT_ASSERT_SIZE(struct graft_operation, 152);
GRAFT_ASSERT_SIZE(struct graft_conversion, 48);

/* A conversion without operations, as an initialiser: `source` and `target` are arrays of one name. In languages
 * without designated initialisers, graft_renaming(). */
#define GRAFT_RENAMING(source, target)                                                                        \
    {                                                                                                         \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 1, .sources = source, .targets = target, \
        .n_targets = 1                                                                                        \
    }

/* [any] A conversion without operations. `source` and `target` are arrays of one name, which it borrows. */
GRAFT_INLINE struct graft_conversion graft_renaming(const char *const *source, const char *const *target) {
    struct graft_conversion renaming;
    memset(&renaming, 0, sizeof renaming);
    renaming.struct_size = (uint32_t)sizeof renaming;
    renaming.n_sources = 1;
    renaming.sources = source;
    renaming.targets = target;
    renaming.n_targets = 1;
    return renaming;
}

/* [any] Operation number `i`. */
GRAFT_INLINE const struct graft_operation *graft_conversion_operation(const struct graft_conversion *conversion,
                                                                      int32_t i) {
    const char *at = (const char *)conversion->operations + (size_t)i * conversion->operation_stride;
    return (const struct graft_operation *)(const void *)at;
}

#ifdef __cplusplus
}
#endif

#endif
