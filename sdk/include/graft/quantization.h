/* SPDX-License-Identifier: Apache-2.0 */
/* Formats into which a plugin can quantize float weights while a model is loaded: what `--quantize NAME[:GROUP]` names.
 * The plugin provides the tensors that a weight becomes, the quantization of rows, and the quantization_config of the
 * result. The host chooses the modules, as transformers does: all of a class except those directly below the root, such
 * as the language model head. It quantizes the rows on all threads, and opens the model as if its files held these
 * tensors, so the plugin's own classes read them. When saved, the model is a checkpoint of the plugin's method.
 *
 *   static const char *const weights[] = {"weight", NULL};
 *   static const char *const tensors[] = {"weight", "weight_scale", NULL};
 *   static const struct graft_quantization quantization = {
 *       .struct_size = sizeof quantization, .name = "acme", .config = "{\"quant_method\": \"acme\"}",
 *       .left_out = "ignore", .module = "Linear", .weights = weights, .tensors = tensors,
 *       .row_step = 1, .shape = shape, .quantize = quantize,
 *   }; */
#ifndef GRAFT_QUANTIZATION_H
#define GRAFT_QUANTIZATION_H

#include "abi.h"
#include "custom_operation.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A weight, and the tensors that it becomes. Belongs to the host; valid until the function returns. */
struct graft_quantize_shapes {
    uint32_t struct_size;
    int32_t n_tensors;
    uint32_t info_stride;                  /* stride of `tensors` */
    int32_t stays;                         /* set to 1 by `shape` if this weight is not to be quantized */
    const char *name;                      /* name of the weight in the checkpoint, for errors */
    const struct graft_value_info *weight; /* F32, F16 or BF16; [.., outputs, inputs] */
    struct graft_value_info *tensors;      /* [n_tensors] */
};

/* [any] Tensor `i`. */
GRAFT_INLINE struct graft_value_info *graft_quantize_tensor(const struct graft_quantize_shapes *shapes, int32_t i) {
    return (struct graft_value_info *)(void *)((char *)shapes->tensors + (size_t)i * shapes->info_stride);
}

/* Some rows of a weight. Belongs to the host; valid until the function returns. */
struct graft_quantize_work {
    uint32_t struct_size;
    uint32_t reserved;
    const struct graft_quantize_shapes *shapes; /* the argument of `shape` */
    int64_t rows;                               /* outputs of the weight; of stacked matrices the sum over all */
    int64_t columns;                            /* inputs */
    int64_t begin;                              /* first row to quantize, a multiple of row_step */
    int64_t end;                                /* end of the rows, a multiple of row_step or `rows` */
    const float *weights;                       /* [end - begin, columns] */
    void *const *tensors;                       /* [n_tensors] the whole of each tensor, row-major, initially zero */
};

enum {
    /* Quantizes experts that the checkpoint stores one by one, each like a Linear; the tensors' names are appended to
       theirs: "experts.0.gate_proj.weight_scale". Without this flag they are left unchanged, as stacked experts always
       are. */
    GRAFT_QUANTIZATION_EXPERTS = 1
};

/* Must not change until the plugin's `deinit`. */
struct graft_quantization {
    uint32_t struct_size;
    int32_t group_size;   /* the number after NAME: in the option; 0: none. Without a number, the first format of that
                             name is used */
    const char *name;     /* [a-z0-9_]+: "int4" */
    const char *config;   /* a JSON object: quantization_config, with a quant_method of the plugin's `quant_methods` */
    const char *left_out; /* the member of `config` that lists modules of the class `module` that are not quantized,
                             "ignore"; NULL: none */
    const char *module;   /* the class of the modules in the architecture: "Linear" */
    const char *const *weights; /* their parameters, NULL-terminated: {"weight"} */
    const char *const *tensors; /* tensors that a weight becomes, NULL-terminated: names in its module; a `*` at the
                                   beginning stands for the weight's name */
    uint32_t flags;             /* GRAFT_QUANTIZATION_... */
    uint32_t reserved;
    int64_t row_step; /* rows that are quantized together: 1, or those of a block; several threads quantize different
                         ones */
    const void *data; /* for the format's use; may be NULL */
    /* [load] Sets types and shapes of the tensors, whose struct_size is set and the rest zero; or sets `stays`, for a
     * weight that the method's own quantizer skips. A weight that cannot be quantized is GRAFT_ERROR_MODEL. Required.
     */
    int (*shape)(const struct graft_quantization *self, struct graft_quantize_shapes *shapes,
                 struct graft_error *error);
    /* [any] Fills in the rows of the tensors for these rows of weights. Returns 0, or -1 if a weight is infinite or
     * NaN. Required. */
    int32_t (*quantize)(const struct graft_quantization *self, const struct graft_quantize_work *work);
};

#define GRAFT_QUANTIZATION_SIZE_1_0 GRAFT_END_OF(struct graft_quantization, quantize)

GRAFT_ASSERT_SIZE(struct graft_quantize_shapes, 40);
GRAFT_ASSERT_SIZE(struct graft_quantize_work, 64);
GRAFT_ASSERT_SIZE(struct graft_quantization, 96);

/* [any] Sets type and shape of a tensor. */
GRAFT_INLINE void graft_quantize_set(const struct graft_quantize_shapes *shapes, int32_t i, graft_dtype dtype,
                                     int32_t rank, const int64_t *shape) {
    struct graft_value_info *info = graft_quantize_tensor(shapes, i);
    info->dtype = dtype;
    info->rank = rank;
    for (int32_t k = 0; k < GRAFT_MAX_RANK; k++) {
        info->shape[k] = k < rank ? shape[k] : 1;
    }
}

#ifdef __cplusplus
}
#endif

#endif
