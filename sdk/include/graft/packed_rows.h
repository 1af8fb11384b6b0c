/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed Linears (packed.h) whose codes lie in rows, as those of an unpacked weight do:
 *
 *     W[o, i] = scales[o / block_rows, g] * (code[o, i] - z[o, g]),   g the group of input i
 *
 * Codes have 4 or 8 bits, integers or float8; packed_rows_loops.h reads them. What such a class (plugins/fp8,
 * plugins/compressed_tensors) was given is read where it lies, in one block of rows or in several, as joined
 * projections have them.
 */
#ifndef GRAFT_PACKED_ROWS_H
#define GRAFT_PACKED_ROWS_H

#include "describe.h"
#include "packed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The plugin's own, as graft_packed. Of that, `words` and `scales` are not used, nor `order` and `starts`. */
struct graft_packed_rows {
    struct graft_packed packed;        /* first, so that loops are given both; `zeros` [.., groups], along outputs */
    const struct graft_weight *codes;  /* [out_features, ..], whole bytes or words a row */
    const struct graft_weight *scales; /* [ceil(out_features / block_rows), groups] F32, F16 or BF16 */
    int64_t row_bytes;                 /* of a row's codes */
    int64_t block_rows;                /* rows that share their scales */
    const int32_t *group_of;           /* [in_features] each input's group, checked; NULL: input / group_size */
};

GRAFT_ASSERT_SIZE(struct graft_packed_rows, 136);

/* [any] The struct that a class's loops are given. */
GRAFT_INLINE const struct graft_packed_rows *graft_packed_rows_of(const struct graft_packed *packed) {
    return (const struct graft_packed_rows *)(const void *)packed;
}

/* [any] The block that has row `row` of a weight, which becomes that row's number in it. */
GRAFT_INLINE const struct graft_row_block *graft_packed_rows_block(const struct graft_weight *weight, int64_t *row) {
    int32_t i = 0;
    while (*row >= graft_weight_block(weight, i)->rows) {
        *row -= graft_weight_block(weight, i)->rows;
        i++;
    }
    return graft_weight_block(weight, i);
}

/* [any] How many blocks of `size` there are in `count`, the last perhaps smaller. */
GRAFT_INLINE int64_t graft_packed_rows_blocks(int64_t count, int64_t size) {
    return count / size + (count % size != 0);
}

/* [load] In `describe`: the sizes that the parent gives. */
GRAFT_INLINE int graft_packed_rows_sizes(const struct graft_args *args, const char *path,
                                         struct graft_packed_rows *self, struct graft_error *error) {
    int status = graft_args_size(args, "in_features", INT32_MAX, path, &self->packed.in_features, error);
    return status == GRAFT_OK
               ? graft_args_size(args, "out_features", INT32_MAX, path, &self->packed.out_features, error)
               : status;
}

/* [load] Describes the sizes and the bias of a module, which the checkpoint may have without the architecture. */
GRAFT_INLINE int graft_packed_rows_describe(const struct graft_sink *sink, const struct graft_packed *self,
                                            const struct graft_args *args, struct graft_error *error) {
    int32_t bias = graft_args_int(args, "bias", 1) != 0 ? GRAFT_INIT_NONE : GRAFT_INIT_ZEROS;
    int status = graft_describe_number(sink, "in_features", self->in_features, error);
    if (status == GRAFT_OK) {
        status = graft_describe_number(sink, "out_features", self->out_features, error);
    }
    return status == GRAFT_OK ? graft_describe_parameter(sink, "bias", 1, &self->out_features, 0, bias, error) : status;
}

/* [load] Describes the codes of a row each: in one block, or in several, as joined projections have them. */
GRAFT_INLINE int graft_packed_rows_codes(const struct graft_sink *sink, const char *name, int64_t rows, int64_t columns,
                                         graft_dtype dtype, struct graft_error *error) {
    struct graft_parameter_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    info.name = name;
    info.rank = 2;
    info.dtype = dtype;
    info.shape[0] = rows;
    info.shape[1] = columns;
    return sink->parameter(sink->data, &info, error);
}

/* [load] In `create`: points to codes, scales and bias, as they were described. */
GRAFT_INLINE int graft_packed_rows_bind(const struct graft_build *build, const char *codes, const char *scales,
                                        struct graft_packed_rows *self, struct graft_error *error) {
    int status = GRAFT_OK;
    self->codes = graft_build_weight(build, codes, &status, error);
    self->scales = graft_build_weight(build, scales, &status, error);
    self->packed.bias = graft_build_weight(build, "bias", &status, error);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
