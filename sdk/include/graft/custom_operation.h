/* SPDX-License-Identifier: Apache-2.0 */
/* Custom operations on weights: what no rearrangement can do, such as quantizing. A conversion lists one among its
 * operations (GRAFT_OP_CUSTOM); it takes one value from each list and makes one per target. Patch files may use the
 * operations that a plugin's descriptor lists by name (plugin.h).
 *
 * The host calls `infer` while planning, before it reads a byte, and `apply` while binding. Results are buffers of the
 * host that live as long as the model. With `reverse` the model can be saved in the original layout, also if it was
 * loaded with the plugin from a directory in the runtime layout; without it only in the runtime layout. */
#ifndef GRAFT_CUSTOM_OPERATION_H
#define GRAFT_CUSTOM_OPERATION_H

#include "abi.h"
#include "error.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Type and shape of a value, known while planning. */
struct graft_value_info {
    uint32_t struct_size;
    graft_dtype dtype; /* type of the elements */
    int32_t rank;      /* number of dimensions, 1 to GRAFT_MAX_RANK */
    uint32_t reserved;
    int64_t shape[GRAFT_MAX_RANK]; /* entries from `rank` on are 1 */
};

/* [any] Element `i` of an array. */
GRAFT_INLINE const struct graft_value_info *graft_value_info_at(const struct graft_value_info *infos, uint32_t stride,
                                                                int32_t i) {
    return (const struct graft_value_info *)(const void *)((const char *)infos + (size_t)i * stride);
}

/* The argument of `infer`. Belongs to the host; valid until `infer` returns. */
struct graft_custom_shapes {
    uint32_t struct_size;
    int32_t n_inputs;
    int32_t n_outputs;
    uint32_t info_stride;                  /* stride of both arrays */
    const struct graft_value_info *inputs; /* [n_inputs] */
    struct graft_value_info *outputs; /* [n_outputs] to be filled in: struct_size is set, everything else is zero */
};

/* [load] Output `i`. */
GRAFT_INLINE struct graft_value_info *graft_custom_output(const struct graft_custom_shapes *shapes, int32_t i) {
    return (struct graft_value_info *)(void *)((char *)shapes->outputs + (size_t)i * shapes->info_stride);
}

/* The argument of `apply` and `reverse`. Belongs to the host; valid until they return. */
struct graft_custom_work {
    uint32_t struct_size;
    int32_t n_inputs;
    int32_t n_outputs;
    uint32_t info_stride;                   /* stride of inputs and outputs */
    const struct graft_value_info *inputs;  /* [n_inputs] as passed to `infer` */
    const struct graft_value_info *outputs; /* [n_outputs] as `infer` filled them in */
    const void *const *from; /* [n_inputs] row `begin` of each input; row-major, 64-byte aligned or mapped */
    void *const *to;         /* [n_outputs] row `begin` of each output */
    /* The rows to process are [begin, end). Without GRAFT_CUSTOM_ROWS they are all rows of the first input, and the
     * whole of each value is to be processed, however many rows that value has. */
    int64_t begin;
    int64_t end; /* one after the last */
};

enum {
    /* Row r of the outputs depends only on row r of the inputs (a row is an index of the first dimension, which has the
       same size in all of them). The host passes a few rows at a time, on several threads at once. */
    GRAFT_CUSTOM_ROWS = 1,
    /* Inputs are passed as f32, whatever floating-point type the file has, and are described as such. Without this flag
       they have the file's type. */
    GRAFT_CUSTOM_SEES_F32 = 1 << 16,
    /* The outputs represent other numbers than the inputs, as after rounding to int8, so the model's results change. A
       class whose conversions have such an operation takes effect only if the user or program names its plugin; that
       the file is in a directory of plugins is not enough. The same applies to replacements of a plugin that has such a
       class for its children. There can be no `reverse`. */
    GRAFT_CUSTOM_LOSSY = 1 << 17
};

/* Must not change and must stay valid as long as conversions use it: until the plugin's `deinit`. */
struct graft_custom_operation {
    uint32_t struct_size;
    uint32_t flags; /* GRAFT_CUSTOM_... */
    const char *
        name; /* "int8_rows": shown in plans, messages and journals; in a descriptor's list it matches [A-Za-z0-9_-]+ */
    const void *data; /* for the operation's use; may be NULL */
    /* [load] Fills in types and shapes of the outputs, and refuses inputs that it cannot process (GRAFT_ERROR_MODEL).
     * Required. */
    int (*infer)(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error);
    /* [any] Fills rows of the outputs. Required. */
    int (*apply)(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error);
    /* [any] Reverses the operation bit for bit: fills rows of `inputs` (in `to`) from rows of `outputs` (in `from`);
     * only row 0 of each is 64-byte aligned. Called while saving, for all rows or, with GRAFT_CUSTOM_ROWS, for a few at
     * a time on several threads at once. If the shapes come from a saved directory, `infer` has been called with them
     * first. NULL: it cannot be reversed. */
    int (*reverse)(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                   struct graft_error *error);
};

#define GRAFT_VALUE_INFO_SIZE_1_0 GRAFT_END_OF(struct graft_value_info, shape)
#define GRAFT_CUSTOM_OPERATION_SIZE_1_0 GRAFT_END_OF(struct graft_custom_operation, reverse)

GRAFT_ASSERT_SIZE(struct graft_value_info, 80);
GRAFT_ASSERT_SIZE(struct graft_custom_shapes, 32);
GRAFT_ASSERT_SIZE(struct graft_custom_work, 64);
GRAFT_ASSERT_SIZE(struct graft_custom_operation, 48);

#ifdef __cplusplus
}
#endif

#endif
