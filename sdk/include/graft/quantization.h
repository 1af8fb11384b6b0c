/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats that a plugin can turn float weights into while a model is loaded: what `--quantize NAME[:GROUP]` names.
 *
 * The plugin says what tensors a weight becomes, how rows are quantized, and what config.json says of the result. The
 * host chooses the modules, as transformers does: all of a class but those right below the root, such as the language
 * model head. It goes through the rows with all threads, and opens the model as if its files had these tensors, so the
 * plugin's own classes read them. Saved, it is a checkpoint of the plugin's method.
 *
 *     static const char *const weights[] = {"weight", NULL};
 *     static const char *const tensors[] = {"weight", "weight_scale", NULL};
 *
 *     static const struct graft_quantization quantization = {
 *         .struct_size = sizeof quantization,
 *         .name = "acme",
 *         .config = "{\"quant_method\": \"acme\"}",
 *         .left_out = "ignore",
 *         .module = "Linear",
 *         .weights = weights,
 *         .tensors = tensors,
 *         .row_step = 1,
 *         .shape = shape,
 *         .quantize = quantize,
 *     };
 */
#ifndef GRAFT_QUANTIZATION_H
#define GRAFT_QUANTIZATION_H

#include "abi.h"
#include "custom_operation.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A weight, and the tensors that it becomes. The host's, until the function returns. */
struct graft_quantize_shapes {
    uint32_t struct_size;
    int32_t n_tensors;
    uint32_t info_stride;                  /* from one element of `tensors` to the next */
    int32_t stays;                         /* `shape` sets it to 1: this weight stays as it is */
    const char *name;                      /* of the weight in the checkpoint, for errors */
    const struct graft_value_info *weight; /* F32, F16 or BF16; [.., outputs, inputs] */
    struct graft_value_info *tensors;      /* [n_tensors] */
};

/* [any] Tensor number `i`. */
GRAFT_INLINE struct graft_value_info *graft_quantize_tensor(const struct graft_quantize_shapes *shapes, int32_t i) {
    return (struct graft_value_info *)(void *)((char *)shapes->tensors + (size_t)i * shapes->info_stride);
}

/* Some of its rows. Likewise. */
struct graft_quantize_work {
    uint32_t struct_size;
    uint32_t reserved;
    const struct graft_quantize_shapes *shapes; /* what `shape` was asked */
    int64_t rows;                               /* of the weight: outputs; of stacked matrices, all of theirs */
    int64_t columns;                            /* inputs */
    int64_t begin;        /* rows [begin, end) are to be done; `begin` is a multiple of row_step */
    int64_t end;          /* likewise, or `rows` */
    const float *weights; /* [end - begin, columns] */
    void *const *tensors; /* [n_tensors] the whole of each, zeroed at first; row-major */
};

enum {
    /* Experts that the checkpoint has one by one are quantized like Linears, each by itself, with the tensors' names
     * behind theirs: "experts.0.gate_proj.weight_scale". Without it they stay as they are, as stacked ones always do.
     */
    GRAFT_QUANTIZATION_EXPERTS = 1
};

/* Const, and valid until the plugin's `deinit`. */
struct graft_quantization {
    uint32_t struct_size;
    int32_t group_size; /* what follows the name behind a colon; 0: nothing. Of several of a name, without a colon, the
                           first is meant */
    const char *name;   /* [a-z0-9_]+: "int4" */
    const char *config; /* a JSON object: quantization_config, with a quant_method of the plugin's `quant_methods` */
    const char *left_out; /* its member that lists modules of `module` that stay as they are, "ignore"; NULL: none */
    const char *module;   /* the class of the modules, as the architecture names it: "Linear" */
    const char *const *weights; /* their parameters, NULL-terminated: {"weight"} */
    const char *const *tensors; /* what a weight becomes, NULL-terminated: names in its module, of which a `*` at the
                                   beginning stands for the weight's */
    uint32_t flags;             /* GRAFT_QUANTIZATION_... */
    uint32_t reserved;
    int64_t row_step; /* rows that are quantized together: 1, or those of a block; several threads have other ones */
    const void *data; /* the format's own; may be NULL */
    /* [load] Sets types and shapes of the tensors, whose struct_size is set, all else zero; or `stays`, where the
     * method's own quantizer passes a weight over. One that cannot be quantized so is GRAFT_ERROR_MODEL. Required. */
    int (*shape)(const struct graft_quantization *self, struct graft_quantize_shapes *shapes,
                 struct graft_error *error);
    /* [any] Fills in what follows from these rows. 0, or -1 where one of the weights is infinite or not a number.
     * Required. */
    int32_t (*quantize)(const struct graft_quantization *self, const struct graft_quantize_work *work);
};

#define GRAFT_QUANTIZATION_SIZE_1_0 GRAFT_END_OF(struct graft_quantization, quantize)

GRAFT_ASSERT_SIZE(struct graft_quantize_shapes, 40);
GRAFT_ASSERT_SIZE(struct graft_quantize_work, 64);
GRAFT_ASSERT_SIZE(struct graft_quantization, 96);

/* [any] Sets what is known of a tensor. */
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
