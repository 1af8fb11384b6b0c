/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linear whose codes lie in words along outputs (packed_tensors.h), and that can have those of 4 bits laid in rows
 * while the model is loaded (packed_rows.h): that copies all of its weights, and few tokens are multiplied faster.
 *
 * The class has conversions of qweight, qzeros and scales to
 *
 *     weight_packed [out, in / 8], weight_zero_point [out / 8, groups], both I32, and weight_scale [out, groups],
 *
 * which are compressed-tensors' names. A module that is not laid in rows lacks these, and conversions to parameters
 * that there are not are left out.
 */
#ifndef GRAFT_PACKED_LINEAR_H
#define GRAFT_PACKED_LINEAR_H

#include "packed_rows.h"
#include "packed_tensors.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The initialiser of such a conversion, at the level of a file: a pointer to its only operation. */
#define GRAFT_PACKED_LINEAR_CONVERSION(source, target, operation)                                                 \
    {                                                                                                             \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 1, .sources = (const char *const[]){source}, \
        .targets = (const char *const[]){target}, .operations = (operation), .n_targets = 1, .n_operations = 1,   \
        .operation_stride = sizeof(struct graft_operation)                                                        \
    }

/* That of an array of all three: pointers to what is done with qweight, qzeros and scales. */
#define GRAFT_PACKED_LINEAR_CONVERSIONS(codes, zeros, scales)                     \
    {                                                                             \
        GRAFT_PACKED_LINEAR_CONVERSION("qweight", "weight_packed", codes),        \
            GRAFT_PACKED_LINEAR_CONVERSION("qzeros", "weight_zero_point", zeros), \
            GRAFT_PACKED_LINEAR_CONVERSION("scales", "weight_scale", scales),     \
    }

/* What an instance has. */
struct graft_packed_linear {
    struct graft_packed words;     /* its sizes always; its tensors where codes stay in words */
    struct graft_packed_rows rows; /* where they lie in rows */
    int32_t has_rows;              /* which of them is multiplied: 1: `rows` */
    uint32_t reserved;
};

GRAFT_ASSERT_SIZE(struct graft_packed_linear, 224);

/* [load] In `describe`, where rows are wanted: chooses them, if codes have 4 bits and words belong to one group. */
GRAFT_INLINE void graft_packed_linear_lay(struct graft_packed_linear *self) {
    const struct graft_packed *words = &self->words;
    struct graft_packed_rows *rows = &self->rows;
    self->has_rows = words->bits == 4 && !graft_packed_is_scattered(words);
    rows->in_features = words->in_features;
    rows->out_features = words->out_features;
    rows->row_bytes = words->in_features / 2;
    rows->block_rows = 1;
    rows->groups = words->groups;
    rows->group_size = words->group_size;
    rows->bits = words->bits;
    rows->input_bits = words->input_bits;
    rows->zero = words->zero_offset;
}

/* [load] Describes the parameters of rows. */
GRAFT_INLINE int graft_packed_linear_rows(const struct graft_sink *sink, const struct graft_packed_rows *rows,
                                          const struct graft_args *args, struct graft_error *error) {
    const int64_t slots = 32 / rows->bits;
    int64_t zeros[2];
    zeros[0] = rows->out_features / slots;
    zeros[1] = rows->groups;
    int status = graft_packed_rows_codes(sink, "weight_packed", rows->out_features, rows->in_features / slots,
                                         GRAFT_DTYPE_I32, error);
    if (status == GRAFT_OK) {
        status = graft_describe_joined(sink, "weight_zero_point", 2, zeros, GRAFT_DTYPE_I32, GRAFT_PARAMETER_CONTIGUOUS,
                                       graft_join_rows(0, slots), error);
    }
    if (status == GRAFT_OK) {
        status = graft_packed_rows_scales(sink, "weight_scale", rows, 0, error);
    }
    return status == GRAFT_OK ? graft_packed_rows_describe(sink, rows, args, error) : status;
}

/* [load] Describes the parameters of either, and what rows are made of; `words` and `word_rows` as
 * graft_packed_describe has them. */
GRAFT_INLINE int graft_packed_linear_describe(const struct graft_sink *sink, const struct graft_packed_linear *self,
                                              const struct graft_args *args, const int64_t words[2], int64_t word_rows,
                                              struct graft_error *error) {
    if (!self->has_rows) {
        return graft_packed_describe(sink, &self->words, args, words, word_rows, error);
    }
    int status = graft_packed_linear_rows(sink, &self->rows, args, error);
    return status == GRAFT_OK
               ? graft_packed_describe_tensors(sink, &self->words, words, word_rows, GRAFT_PARAMETER_SOURCE, error)
               : status;
}

/* [load] Zero points that are all the same, as those of symmetric checkpoints, are one number, which costs no time. */
GRAFT_INLINE void graft_packed_linear_zeros(struct graft_packed_rows *rows, const int32_t *zeros) {
    const int64_t n = rows->out_features * rows->bits / 32 * rows->groups;
    const int32_t code = zeros[0] & 15;
    int64_t i = 0;
    while (i < n && (uint32_t)zeros[i] == (uint32_t)code * 0x11111111U) {
        i++;
    }
    rows->zeros = i < n ? zeros : NULL;
    rows->zero += i < n ? 0 : code;
}

/* [load] In `create`: points to what was described. */
GRAFT_INLINE int graft_packed_linear_bind(const struct graft_build *build, struct graft_packed_linear *self,
                                          struct graft_error *error) {
    struct graft_packed_rows *rows = &self->rows;
    if (!self->has_rows) {
        return graft_packed_bind(build, &self->words, error);
    }
    int status = graft_packed_rows_bind(build, "weight_packed", "weight_scale", rows, error);
    const struct graft_weight *zeros = graft_build_weight(build, "weight_zero_point", &status, error);
    if (status == GRAFT_OK) {
        graft_packed_linear_zeros(rows, (const int32_t *)graft_weight_block(zeros, 0)->data);
    }
    return status;
}

/* [load] What `create` of such a class does: `*self` is what `describe` kept, bound, and `free` frees it. The loops of
 * words are the format's, those of rows graft_packed_rows_uint4. */
GRAFT_INLINE int graft_packed_linear_create(const struct graft_build *build, const struct graft_packed_loops *of_words,
                                            const struct graft_packed_rows_loops *of_rows,
                                            struct graft_packed_linear **self, struct graft_error *error) {
    struct graft_packed_linear *made = (struct graft_packed_linear *)malloc(sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, build->path);
    }
    memcpy(made, build->kept, sizeof *made);
    made->words.loops = of_words;
    made->rows.loops = of_rows;
    int status = graft_packed_linear_bind(build, made, error);
    if (status != GRAFT_OK) {
        free(made);
        return status;
    }
    *self = made;
    return GRAFT_OK;
}

/* [forward] What graft_linear.forward of such a class does. */
GRAFT_INLINE int graft_packed_linear_forward(const struct graft_packed_linear *self, const struct graft_call *call,
                                             const struct graft_linear_args *args, struct graft_error *error) {
    return self->has_rows ? graft_packed_rows_forward(&self->rows, call, args, error)
                          : graft_packed_forward(&self->words, call, args, error);
}

/* [forward] And graft_linear.as_loop. */
GRAFT_INLINE int graft_packed_linear_as_loop(const struct graft_packed_linear *self, const struct graft_call *call,
                                             const struct graft_linear_args *args, struct graft_loop *loop,
                                             struct graft_error *error) {
    return self->has_rows ? graft_packed_rows_as_loop(&self->rows, call, args, loop, error)
                          : graft_packed_as_loop(&self->words, call, args, loop, error);
}

/* [any] Likewise graft_linear.read_rows. */
GRAFT_INLINE void graft_packed_linear_read(const struct graft_packed_linear *self, int64_t first, int64_t n,
                                           float *weight, float *bias) {
    if (self->has_rows) {
        graft_packed_rows_read(&self->rows, first, n, weight, bias);
    } else {
        graft_packed_widen(&self->words, first, n, GRAFT_DTYPE_F32, weight);
        graft_packed_read_bias(self->words.bias, first, n, bias);
    }
}

#ifdef __cplusplus
}
#endif

#endif
