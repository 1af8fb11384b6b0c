/* SPDX-License-Identifier: Apache-2.0 */
/* Weight conversions: how the parameters of a class are made from the tensors of a checkpoint. They are data, not code:
 * the host plans them before it reads a byte, uses views where it can, and can reverse them.
 *
 * Conversions belong to a class and apply at the modules of that class. Names are relative to the module, and may be
 * those of parameters below it ("gate_up_proj.weight" of a child). `*` in a name stands for an index
 * ("*.gate_proj.weight" is one tensor per expert). The operations are those of transformers' WeightConverter, applied
 * in order to lists of values, one list per source.
 *
 * A conversion without operations is a renaming. Its target may also be a child module: then all parameters of the
 * child, and of the modules below it, are looked up under the other name as well. The renaming belongs to the class
 * that names the child, so it applies whatever the child's class is.
 *
 * A conversion whose targets the module does not have ("q_proj.bias" without biases) is skipped, and so is one whose
 * targets the checkpoint holds under their own names, unless a source has the same name as its target ("c_proj.weight",
 * transposed). If a checkpoint has some of its sources but not all, that is an error. */
#ifndef GRAFT_CONVERSION_H
#define GRAFT_CONVERSION_H

#include "abi.h"
#include "custom_operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Operations, under transformers' names. Those marked "each" are applied to every value. A negative `dim` counts from
 * the last dimension. */
enum {
    GRAFT_OP_CONCATENATE = 1, /* joins all values along `dim` */
    GRAFT_OP_CHUNK = 2, /* splits one value along `dim` into one per target: of the sizes of the targets' parameters if
                           they are known, else of equal sizes; with `num_shards_attribute`, into as many values of a
                           `*` target as that config field says */
    GRAFT_OP_MERGE_MODULELIST = 3, /* stacks the tensors 0 to n - 1 of each `*` source along a new `dim` */
    GRAFT_OP_SPLIT_MODULELIST = 4, /* splits one value into those of a `*` target, one for each index along `dim` */
    GRAFT_OP_SPLIT = 5,            /* like Chunk, but always of the sizes of the targets' parameters */
    GRAFT_OP_INTERLEAVE = 6, /* each: `dim`, viewed as [n / 2, 2], becomes [2, n / 2]; with `inverse` the reverse */
    GRAFT_OP_TRANSPOSE = 7,  /* each: swaps `dim` and `dim1`; with `check_dims` only if the value's shape differs from
                                that of the (first) target's parameter */
    /* each: [out, in, t, h, w] becomes [out, in * t * h * w]; a matrix is left unchanged */
    GRAFT_OP_CONV3D_TO_LINEAR = 8,
    GRAFT_OP_LINEAR_TO_CONV3D = 9, /* each: the reverse, with `in_channels` and `kernel_size` */
    /* each: rows [heads, half, 2] become [heads, 2, half], where heads is the config's `num_attention_heads` (default
       1); with `inverse` the reverse. Values of more than two dimensions are left unchanged, and so are values whose
       name contains none of `permute_layer_names` */
    GRAFT_OP_PERMUTE_FOR_ROPE = 10,
    GRAFT_OP_CUSTOM = 11, /* the plugin's own operation `custom` */
    /* each: divides `dim` into `of` equal pieces, and keeps `length` of them from number `begin` on; if `of` is 0,
       pieces are single indices. With `parts` it does so in each part. The other pieces are taken to belong to other
       processes: saving in the original layout copies them from the files */
    GRAFT_OP_SLICE = 12,
    /* From several sources to several targets. Divides the values of each `*` source into as many consecutive groups as
       there are targets, of equal size (the last may be smaller). Target i: group i of each source is stacked along a
       new `dim`, and the results of all sources are joined along `dim1`. */
    GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS = 13,
    /* The reverse. Splits each source along `dim1` into as many equal pieces as there are targets. The `*` target i is
       pieces i of all sources, each split along `dim` and concatenated. */
    GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS = 14
};

enum { GRAFT_SLICE_PARTS = 4 };

/* Must not change, like everything that it points to, as long as its class exists. */
struct graft_operation {
    uint32_t struct_size;
    int32_t kind;                     /* GRAFT_OP_... */
    int64_t dim;                      /* for the kinds that mention it above */
    int64_t dim1;                     /* Transpose */
    int32_t check_dims;               /* Transpose */
    int32_t inverse;                  /* Interleave, PermuteForRope */
    const char *num_shards_attribute; /* Chunk and its reverse: a field in the text section of the config; NULL: none */
    const char *subconfig_key;        /* PermuteForRope: the section of the config to look in; NULL: the whole config */
    const char *const *permute_layer_names;      /* PermuteForRope: NULL-terminated; NULL: all */
    int64_t in_channels;                         /* LinearToConv3d, and the reverse of Conv3dToLinear */
    int64_t kernel_size[3];                      /* for the same: time, height, width */
    const struct graft_custom_operation *custom; /* for GRAFT_OP_CUSTOM; otherwise not read */
    int64_t begin;                               /* Slice: the first piece, from 0 */
    int64_t length;                              /* Slice: at least 1 */
    int64_t of;                                  /* Slice: number of pieces, which divides the size of `dim`; or 0 */
    /* Slice: sizes of the parts of `dim`, in proportion (4, 1, 1: queries, keys and values of a fused projection). The
     * pieces kept of each part are concatenated. The list ends at the first 0; if that is its first number, `dim` is a
     * single part. */
    int64_t parts[GRAFT_SLICE_PARTS];
};

/* A conversion, which makes parameters from tensors of the checkpoint. */
struct graft_conversion {
    uint32_t struct_size;
    int32_t n_sources;                        /* 1 to 1024 */
    const char *const *sources;               /* [n_sources] names in the checkpoint: "q_proj.weight" */
    const char *const *targets;               /* [n_targets] names of parameters: "qkv_proj.weight" */
    const struct graft_operation *operations; /* [n_operations] in the order in which they are applied */
    int32_t n_targets;                        /* 1 to 1024 */
    int32_t n_operations; /* at most 64; 0: a renaming of a parameter or a module, with one source and one target */
    uint32_t operation_stride;
    uint32_t reserved;
};

#define GRAFT_OPERATION_SIZE_1_0 GRAFT_END_OF(struct graft_operation, parts)
#define GRAFT_CONVERSION_SIZE_1_0 GRAFT_END_OF(struct graft_conversion, reserved)

GRAFT_ASSERT_SIZE(struct graft_operation, 152);
GRAFT_ASSERT_SIZE(struct graft_conversion, 48);

/* Initialiser of a conversion without operations: `source` and `target` are arrays of one name. Languages without
 * designated initialisers use graft_renaming(). */
#define GRAFT_RENAMING(source, target)                                                                        \
    {                                                                                                         \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 1, .sources = source, .targets = target, \
        .n_targets = 1                                                                                        \
    }

/* [any] A conversion without operations. `source` and `target` are arrays of one name, which are borrowed. */
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

/* [any] Operation `i`. */
GRAFT_INLINE const struct graft_operation *graft_conversion_operation(const struct graft_conversion *conversion,
                                                                      int32_t i) {
    const char *at = (const char *)conversion->operations + (size_t)i * conversion->operation_stride;
    return (const struct graft_operation *)(const void *)at;
}

#ifdef __cplusplus
}
#endif

#endif
