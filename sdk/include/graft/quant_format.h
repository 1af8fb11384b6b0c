/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of quantized checkpoints: helpers with which a plugin declares the tensors of a Linear and what they mean.
 * The host does the rest: the weight that a replacement of Linear describes here is an ordinary weight for the Linear
 * it replaces, so such a class has only a `describe` and inherits everything else.
 *
 *   static int describe(const struct graft_class *cls, const struct graft_config *config,
 *                       const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
 *       struct graft_scheme scheme;
 *       if (graft_scheme_of_linear(&scheme, args, sink->path, error) == GRAFT_OK) {
 *           scheme.codec.kind = GRAFT_CODE_INT;
 *           scheme.codec.bits = 8;
 *           graft_scheme_codes(&scheme, "weight", scheme.codec.columns, GRAFT_DTYPE_I8);
 *           graft_scheme_scales(&scheme, "weight_scale", GRAFT_DTYPE_NONE);
 *           graft_scheme_describe_linear(&scheme, args, sink, error);
 *       }
 *       return error->code;
 *   }
 *
 * All functions are [load]. */
#ifndef GRAFT_QUANT_FORMAT_H
#define GRAFT_QUANT_FORMAT_H

#include "codec.h"
#include "describe.h"
#include "isa.h"
#include "option.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The maximum number of tensors of a weight. */
enum { GRAFT_SCHEME_TENSORS = 10 };

/* A coded weight that is being described. Belongs to the plugin and is not passed to the host. Names must stay valid
 * until it is described. */
struct graft_scheme {
    struct graft_codec codec;                                  /* complete except for its weights */
    int32_t n;                                                 /* number of tensors so far */
    uint32_t flags;                                            /* GRAFT_CODED_OWN_LOOPS, or 0 */
    int32_t roles[GRAFT_SCHEME_TENSORS];                       /* [n] GRAFT_CODED_... */
    struct graft_parameter_info tensors[GRAFT_SCHEME_TENSORS]; /* [n] */
    /* [load] `finish` of struct graft_coded_info; NULL: none. */
    int (*finish)(const struct graft_build *build, const void *context, struct graft_codec *codec,
                  struct graft_error *error);
    const void *context;   /* likewise */
    int64_t context_bytes; /* likewise */
};

/* A weight of that many rows and columns, stored in rows with one scale each. */
GRAFT_INLINE struct graft_scheme graft_scheme_of(int64_t rows, int64_t columns) {
    struct graft_scheme scheme;
    memset(&scheme, 0, sizeof scheme);
    scheme.codec.struct_size = (uint32_t)sizeof scheme.codec;
    scheme.codec.rows = rows;
    scheme.codec.columns = columns;
    scheme.codec.block_rows = 1;
    scheme.codec.group_size = columns;
    return scheme;
}

/* Makes a scheme for a Linear, whose sizes the parent passes as arguments. */
GRAFT_INLINE int graft_scheme_of_linear(struct graft_scheme *scheme, const struct graft_args *args, const char *path,
                                        struct graft_error *error) {
    int64_t rows = 0, columns = 0;
    graft_args_size(args, "in_features", INT32_MAX, path, &columns, error);
    graft_args_size(args, "out_features", INT32_MAX, path, &rows, error);
    *scheme = graft_scheme_of(rows, columns);
    return error->code;
}

/* Adds a tensor; `dtype` 0: any that kernels read. Returns it, so that the caller can set flags, an initial value, and
 * the dimensions of outputs (`join`) and inputs. */
GRAFT_INLINE struct graft_parameter_info *graft_scheme_add(struct graft_scheme *scheme, int32_t role, const char *name,
                                                           graft_dtype dtype, int32_t rank, const int64_t *shape) {
    struct graft_parameter_info *info = &scheme->tensors[scheme->n];
    scheme->roles[scheme->n++] = role;
    memset(info, 0, sizeof *info);
    info->struct_size = (uint32_t)sizeof *info;
    info->name = name;
    info->rank = rank;
    info->dtype = dtype;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        info->shape[i] = i < rank ? shape[i] : 1;
    }
    return info;
}

/* Adds codes that are stored in rows of `columns` elements, which are bytes or words of 32 bits. */
GRAFT_INLINE void graft_scheme_codes(struct graft_scheme *scheme, const char *name, int64_t columns,
                                     graft_dtype dtype) {
    const int64_t shape[2] = {scheme->codec.rows, columns};
    const int32_t bits = dtype == GRAFT_DTYPE_I32 ? 32 : 8;
    struct graft_parameter_info *info = graft_scheme_add(scheme, GRAFT_CODED_CODES, name, dtype, 2, shape);
    info->join = graft_join_rows(0, 1);
    if (bits % scheme->codec.bits == 0) { /* otherwise some codes span two elements */
        info->inputs = graft_join_rows(1, bits / scheme->codec.bits);
    }
}

/* Adds scales: a row for each block of rows, a column for each group. */
GRAFT_INLINE void graft_scheme_scales(struct graft_scheme *scheme, const char *name, graft_dtype dtype) {
    const int64_t shape[2] = {graft_codec_blocks(&scheme->codec), graft_codec_groups(&scheme->codec)};
    struct graft_parameter_info *info = graft_scheme_add(scheme, GRAFT_CODED_SCALES, name, dtype, 2, shape);
    info->join = graft_join_rows(0, scheme->codec.block_rows);
    info->inputs = graft_join_rows(1, scheme->codec.group_size);
}

/* Adds a single number, whose tensor may have no dimensions. `join` is GRAFT_JOIN_EQUAL for a number that all rows
 * share, GRAFT_JOIN_EACH for one that is kept but not used, such as a scale of activations. */
GRAFT_INLINE void graft_scheme_number(struct graft_scheme *scheme, int32_t role, const char *name, graft_dtype dtype,
                                      int32_t join) {
    const int64_t one = 1;
    struct graft_parameter_info *info = graft_scheme_add(scheme, role, name, dtype, 1, &one);
    info->flags = GRAFT_PARAMETER_SCALAR;
    info->join = graft_join_whole(join);
    info->inputs = graft_join_whole(GRAFT_JOIN_EQUAL);
}

/* Adds zero points in the layout of compressed-tensors: packed along the rows of the weight. */
GRAFT_INLINE void graft_scheme_zeros(struct graft_scheme *scheme, const char *name) {
    const int64_t slots = 32 / scheme->codec.bits;
    const int64_t shape[2] = {(scheme->codec.rows + slots - 1) / slots, graft_codec_groups(&scheme->codec)};
    struct graft_parameter_info *info = graft_scheme_add(scheme, GRAFT_CODED_ZEROS, name, GRAFT_DTYPE_I32, 2, shape);
    info->flags = GRAFT_PARAMETER_CONTIGUOUS;
    info->join = graft_join_rows(0, slots);
    info->inputs = graft_join_rows(1, scheme->codec.group_size);
}

/* Declares the scheme as the parameter `name`. */
GRAFT_INLINE int graft_scheme_describe(const struct graft_scheme *scheme, const char *name,
                                       const struct graft_sink *sink, struct graft_error *error) {
    struct graft_coded_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    info.flags = scheme->flags;
    info.name = name;
    info.codec = &scheme->codec;
    info.tensors = scheme->tensors;
    info.roles = scheme->roles;
    info.n_tensors = scheme->n;
    info.tensor_stride = (uint32_t)sizeof scheme->tensors[0];
    info.finish = scheme->finish;
    info.context = scheme->context;
    info.context_bytes = scheme->context_bytes;
    return sink->coded(sink->data, &info, error);
}

/* Declares a Linear with this weight. The checkpoint may have a bias even if the architecture has none: old tools wrote
 * zeros, and some methods keep corrections there. If a class above gives the module only a share of the inputs, that
 * class adds the bias (linear.h). */
GRAFT_INLINE int graft_scheme_describe_linear(const struct graft_scheme *scheme, const struct graft_args *args,
                                              const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_codec *codec = &scheme->codec;
    const int32_t is_part = graft_args_int(args, "whole_in_features", codec->columns) > codec->columns;
    const int32_t bias = graft_args_int(args, "bias", 1) != 0 ? GRAFT_INIT_NONE : GRAFT_INIT_ABSENT;
    graft_describe_number(sink, "in_features", codec->columns, error);
    graft_describe_number(sink, "out_features", codec->rows, error);
    graft_scheme_describe(scheme, "weight", sink, error);
    if (!is_part) {
        graft_describe_parameter(sink, "bias", 1, &codec->rows, 0, bias, error);
    }
    return error->code;
}

/* For `finish`: an F32 weight without a tensor, whose rows * columns numbers at `*numbers` are to be filled in. NULL
 * with an error recorded if memory ran out. */
GRAFT_INLINE const struct graft_weight *graft_build_floats(const struct graft_build *build, int64_t rows,
                                                           int64_t columns, float **numbers,
                                                           struct graft_error *error) {
    struct graft_weight *weight = (struct graft_weight *)build->memory(build->data, (int64_t)sizeof *weight);
    struct graft_row_block *block = (struct graft_row_block *)build->memory(build->data, (int64_t)sizeof *block);
    *numbers = (float *)build->memory(build->data, rows * columns * (int64_t)sizeof(float));
    if (weight == NULL || block == NULL || *numbers == NULL) {
        (void)graft_fail_memory(error, build->path);
        return NULL;
    }
    block->struct_size = (uint32_t)sizeof *block;
    block->dtype = GRAFT_DTYPE_F32;
    block->data = *numbers;
    block->rows = rows;
    weight->struct_size = (uint32_t)sizeof *weight;
    weight->rank = 2;
    weight->shape[0] = weight->rows = rows;
    weight->shape[1] = weight->columns = columns;
    for (int32_t i = 2; i < GRAFT_MAX_RANK; i++) {
        weight->shape[i] = 1;
    }
    weight->blocks = block;
    weight->n_blocks = 1;
    weight->block_stride = (uint32_t)sizeof *block;
    return weight;
}

/* The initialisers of a plugin option that allows activations to be rounded, for graft_codec_input_bits. */
#define GRAFT_ACTIVATION_BITS(bits)                                                                        \
    .struct_size = sizeof(struct graft_option), .kind = GRAFT_OPTION_INT, .name = "activation_bits",       \
    .help = "8: activations of many tokens, as prompts have, are rounded to 8 bits and multiplied faster", \
    .default_value = (bits), .choices = (const char *const[]) {                                            \
        "8", "16", NULL                                                                                    \
    }

/* The codec's input_bits for the value of such an option. Processors with tiles multiply bf16 faster than bytes. */
GRAFT_INLINE int32_t graft_codec_input_bits(const struct graft_args *options) {
    return graft_args_int(options, "activation_bits", 16) == 8 && !graft_isa_has_tiles() ? 8 : 0;
}

GRAFT_ASSERT_SIZE(struct graft_scheme, 1472);

/* --- Where it takes effect --- */

/* The initialiser of a class of Linears that `describe` describes by a scheme. */
#define GRAFT_SCHEME_LINEAR_CLASS(class_name, describe_function)                                                 \
    {                                                                                                            \
        .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = GRAFT_INTERFACE_LINEAR, \
        .describe = (describe_function),                                                                         \
    }

/* The initialisers of conditions (condition.h): `quant_method` of the config is one of `methods`; the module has one of
 * the tensors `names`. Both are NULL-terminated. */
#define GRAFT_SCHEME_IS_METHOD(methods) \
    { sizeof(struct graft_condition), GRAFT_CONDITION_CONFIG, "quantization_config.quant_method", methods }
#define GRAFT_SCHEME_HAS_TENSOR(names) \
    { sizeof(struct graft_condition), GRAFT_CONDITION_TENSOR, NULL, names }

/* The initialiser of a replacement of Linears by `cls`; `array` has the conditions. */
#define GRAFT_SCHEME_LINEARS(cls, array)                                                               \
    {                                                                                                  \
        .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_NAME, .target = "Linear",    \
        .replacement = (cls), .conditions = (array), .n_conditions = sizeof(array) / sizeof(array)[0], \
        .condition_stride = sizeof(array)[0],                                                          \
    }

#ifdef __cplusplus
}
#endif

#endif
