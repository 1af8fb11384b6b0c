/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weight operations that a plugin brings: what no rearrangement does, such as quantizing. A conversion has one among
 * its operations (GRAFT_OP_CUSTOM); it takes one value per list that reaches it and makes one per target. What the
 * plugin's descriptor lists, patch files may use by name as well (plugin.h).
 *
 * The host asks `infer` while planning, before a byte is read, and calls `apply` while binding. Results are buffers of
 * the host's that live as long as the model. With `reverse` the model can be saved in the original layout, also from a
 * directory in the runtime layout that was loaded with the plugin; without it in the runtime layout only.
 */
#ifndef GRAFT_CUSTOM_OPERATION_H
#define GRAFT_CUSTOM_OPERATION_H

#include "abi.h"
#include "error.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is known of a value while planning. */
struct graft_value_info {
    uint32_t struct_size;
    graft_dtype dtype; /* of the elements */
    int32_t rank;      /* dimensions; 1 to GRAFT_MAX_RANK */
    uint32_t reserved;
    int64_t shape[GRAFT_MAX_RANK]; /* entries from `rank` on are 1 */
};

/* [any] Element `i` of an array of them. */
GRAFT_INLINE const struct graft_value_info *graft_value_info_at(const struct graft_value_info *infos, uint32_t stride,
                                                                int32_t i) {
    return (const struct graft_value_info *)(const void *)((const char *)infos + (size_t)i * stride);
}

/* What `infer` is asked. The host's, until `infer` returns. */
struct graft_custom_shapes {
    uint32_t struct_size;
    int32_t n_inputs;
    int32_t n_outputs;
    uint32_t info_stride;                  /* from one element to the next, in both arrays */
    const struct graft_value_info *inputs; /* [n_inputs] */
    struct graft_value_info *outputs;      /* [n_outputs] their struct_size is set, all else zero: to be filled in */
};

/* [load] Output number `i`. */
GRAFT_INLINE struct graft_value_info *graft_custom_output(const struct graft_custom_shapes *shapes, int32_t i) {
    return (struct graft_value_info *)(void *)((char *)shapes->outputs + (size_t)i * shapes->info_stride);
}

/* What `apply` and `reverse` are given. The host's, until they return. */
struct graft_custom_work {
    uint32_t struct_size;
    int32_t n_inputs;
    int32_t n_outputs;
    uint32_t info_stride;                   /* from one element to the next, in inputs and outputs */
    const struct graft_value_info *inputs;  /* [n_inputs] as given to `infer` */
    const struct graft_value_info *outputs; /* [n_outputs] as it made them */
    const void *const *from;                /* [n_inputs] row `begin` of each; row-major, 64-byte aligned or mapped */
    void *const *to;                        /* [n_outputs] row `begin` of each */
    /* Rows [begin, end) are to be done. Without GRAFT_CUSTOM_ROWS they are 0 and the rows of the first input, and
     * everything is to be done: each pointer leads to the whole of a value, however many rows that one has. */
    int64_t begin;
    int64_t end; /* one behind the last */
};

enum {
    /* Row r of the outputs follows from row r of the inputs alone (rows: indices of the first dimension, which is then
     * the same in all of them). The host gives a few rows at a time, several threads at once. */
    GRAFT_CUSTOM_ROWS = 1,
    /* Inputs come as f32, whatever floating-point type the file has: the target's view of them. Else as the file has
     * them. */
    GRAFT_CUSTOM_SEES_F32 = 1 << 16,
    /* Its outputs stand for other numbers than its inputs, as after rounding to int8, so the model computes something
     * else. A class whose conversions have such an operation, and where a plugin has one for its children, each that it
     * replaces others by, takes effect only where the user or program names the plugin: it is not enough that its file
     * lies in a directory of plugins. There can be no `reverse`. */
    GRAFT_CUSTOM_LOSSY = 1 << 17
};

/* Const, and valid as long as the conversions that have it: until the plugin's `deinit`. */
struct graft_custom_operation {
    uint32_t struct_size;
    uint32_t flags;   /* GRAFT_CUSTOM_... */
    const char *name; /* "int8_rows": for plans, messages and journals; what a descriptor lists has [A-Za-z0-9_-]+ */
    const void *data; /* the operation's own; may be NULL */
    /* [load] Fills in types and shapes of the outputs. Refuses inputs that it cannot work on (GRAFT_ERROR_MODEL).
     * Required. */
    int (*infer)(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error);
    /* [any] Fills rows of the outputs. Required. */
    int (*apply)(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error);
    /* [any] Undoes the operation, to the bit: fills rows of `inputs` (in `to`) from those of `outputs` (in `from`); of
     * both only row 0 is 64-byte aligned. Called while saving, for all rows or, with GRAFT_CUSTOM_ROWS, a few at a time
     * and several threads at once. Where the work's shapes come from a saved directory, `infer` was asked about them
     * first. NULL: there is no way back. */
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
