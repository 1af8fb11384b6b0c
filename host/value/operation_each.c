/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that change each value on its own: permutations and other shapes. */
#include <string.h>

#include "value/operation_run.h"

static int interleave(const struct operation_run *run, struct graft_value *value) {
    char shape[GRAFT_SHAPE_TEXT];
    int64_t dim = graft_operation_dim(run, run->operation->dim, value);
    if (dim < 0) {
        return GRAFT_ERROR_MODEL;
    }
    int64_t half = value->shape[dim] / 2;
    if (value->shape[dim] % 2 != 0) {
        return graft_operation_failed(run, GRAFT_FAULT_RESHAPE,
                                      "Interleave needs dimension %lld to be even, but the shape is %s", (long long)dim,
                                      graft_shape_text(value->shape, value->rank, shape));
    }
    return graft_value_exchange(value, dim, run->operation->inverse ? 2 : half, run->operation->inverse ? half : 2,
                                run->operations->place, run->error);
}

static int transpose(const struct operation_run *run, struct graft_value *value) {
    const struct graft_operation *operation = run->operation;
    int64_t dim0 = graft_operation_dim(run, operation->dim, value);
    int64_t dim1 = dim0 >= 0 ? graft_operation_dim(run, operation->dim1, value) : -1;
    int64_t wanted[GRAFT_MAX_RANK];
    if (dim1 < 0) {
        return GRAFT_ERROR_MODEL;
    }
    if (operation->check_dims) {
        int32_t rank = graft_operation_target_shape(run, 0, wanted);
        if (rank < 0) {
            return graft_operation_failed(run, GRAFT_FAULT_NO_SUCH_PARAMETER,
                                          "Transpose with check_dims: %s is not known", run->operations->targets[0]);
        }
        if (rank == value->rank && memcmp(wanted, value->shape, (size_t)rank * sizeof wanted[0]) == 0) {
            return GRAFT_OK;
        }
    }
    return graft_value_transpose(value, dim0, dim1, run->operations->place, run->error);
}

static int conv3d_to_linear(const struct operation_run *run, struct graft_value *value) {
    if (value->rank == 2) {
        return GRAFT_OK;
    }
    if (value->rank != 5) {
        return graft_operation_failed(run, GRAFT_FAULT_RANK, "Conv3dToLinear takes 5 dimensions or 2, got %d",
                                      (int)value->rank);
    }
    const int64_t shape[] = {value->shape[0], graft_value_extent(value, 1, 5)};
    graft_value_reshape(value, 2, shape);
    return GRAFT_OK;
}

static int linear_to_conv3d(const struct operation_run *run, struct graft_value *value) {
    const struct graft_operation *operation = run->operation;
    char text[GRAFT_SHAPE_TEXT];
    const int64_t shape[] = {value->rank > 0 ? value->shape[0] : 0, operation->in_channels, operation->kernel_size[0],
                             operation->kernel_size[1], operation->kernel_size[2]};
    int64_t wanted[GRAFT_MAX_RANK];
    if (value->rank == 2 && graft_operation_target_shape(run, 0, wanted) == 2) {
        return GRAFT_OK; /* the reverse of a Conv3dToLinear that was given a matrix */
    }
    int64_t bytes = graft_tensor_view_size(GRAFT_DTYPE_I8, 5, shape);
    if (bytes < 0 || bytes != graft_value_extent(value, 0, value->rank)) {
        return graft_operation_failed(
            run, GRAFT_FAULT_RESHAPE, "LinearToConv3d cannot make [%lld, %lld, %lld, %lld, %lld] of %s",
            (long long)shape[0], (long long)shape[1], (long long)shape[2], (long long)shape[3], (long long)shape[4],
            graft_shape_text(value->shape, value->rank, text));
    }
    graft_value_reshape(value, 5, shape);
    return GRAFT_OK;
}

static int is_permuted(const struct graft_operation *operation, const char *name) {
    const char *const *names = operation->permute_layer_names;
    for (int32_t i = 0; names != NULL && names[i] != NULL; i++) {
        if (strstr(name, names[i]) != NULL) {
            return 1;
        }
    }
    return names == NULL;
}

static int permute_for_rope(const struct operation_run *run, const char *name, struct graft_value *value) {
    const struct graft_operations *operations = run->operations;
    char text[GRAFT_SHAPE_TEXT];
    int64_t heads = 1;
    if (value->rank < 1 || value->rank > 2 || !is_permuted(run->operation, name)) {
        return GRAFT_OK;
    }
    if (operations->config_number == NULL || operations->config_number(operations->data, run->operation->subconfig_key,
                                                                       "num_attention_heads", &heads) != 0) {
        heads = 1;
    }
    if (heads <= 0 || heads > value->shape[0] || value->shape[0] % heads != 0 || value->shape[0] / heads % 2 != 0) {
        return graft_operation_failed(run, GRAFT_FAULT_RESHAPE, "PermuteForRope: %lld heads of pairs do not make up %s",
                                      (long long)heads, graft_shape_text(value->shape, value->rank, text));
    }
    int64_t half = value->shape[0] / heads / 2;
    return graft_value_exchange(value, 0, run->operation->inverse ? 2 : half, run->operation->inverse ? half : 2,
                                operations->place, run->error);
}

/* How many parts a Slice's dimension has. */
static int32_t count_parts(const struct graft_operation *operation, int64_t *sum) {
    int32_t n = 0;
    *sum = 0;
    while (n < GRAFT_SLICE_PARTS && operation->parts[n] > 0) {
        *sum += operation->parts[n++];
    }
    return n;
}

/* Splits a part of `size` indices into three: before the slice, within it, and after it. */
static int cut_part(const struct operation_run *run, const struct graft_value *value, int64_t dim, int64_t size,
                    int64_t sizes[3]) {
    const struct graft_operation *operation = run->operation;
    char shape[GRAFT_SHAPE_TEXT];
    int64_t pieces = operation->of > 0 ? operation->of : size;
    if (pieces == 0 || size % pieces != 0) {
        return graft_operation_failed(run, GRAFT_FAULT_SPLIT_SIZES,
                                      "Slice: dimension %lld of %s does not divide into %lld pieces", (long long)dim,
                                      graft_shape_text(value->shape, value->rank, shape), (long long)pieces);
    }
    if (operation->begin < 0 || operation->length < 1 || operation->begin > pieces - operation->length) {
        return graft_operation_failed(run, GRAFT_FAULT_SPLIT_SIZES,
                                      "Slice: dimension %lld of %s has %lld pieces, not %lld from number %lld on",
                                      (long long)dim, graft_shape_text(value->shape, value->rank, shape),
                                      (long long)pieces, (long long)operation->length, (long long)operation->begin);
    }
    sizes[0] = size / pieces * operation->begin;
    sizes[1] = size / pieces * operation->length;
    sizes[2] = size - sizes[0] - sizes[1];
    return GRAFT_OK;
}

/* Fills `sizes` with the sizes of all pieces of the dimension, three of each part. */
static int cut(const struct operation_run *run, const struct graft_value *value, int64_t dim, int64_t *sizes,
               int32_t *n) {
    char shape[GRAFT_SHAPE_TEXT];
    int64_t size = value->shape[dim], sum = 0;
    *n = count_parts(run->operation, &sum);
    int status = *n == 0 ? cut_part(run, value, dim, size, sizes) : GRAFT_OK;
    for (int32_t i = 0; i < *n && status == GRAFT_OK; i++) {
        int64_t part = run->operation->parts[i];
        status = part > INT64_MAX / (size + 1) || size * part % sum != 0
                     ? graft_operation_failed(run, GRAFT_FAULT_SPLIT_SIZES,
                                              "Slice: dimension %lld of %s has no part of %lld in %lld", (long long)dim,
                                              graft_shape_text(value->shape, value->rank, shape), (long long)part,
                                              (long long)sum)
                     : cut_part(run, value, dim, size * part / sum, sizes + (size_t)3 * (size_t)i);
    }
    *n = *n == 0 ? 3 : 3 * *n;
    return status;
}

/* Concatenates the slices of all parts as the new value. */
static int join_slices(const struct operation_run *run, const struct graft_value *cuts, int32_t n, int64_t dim,
                       struct graft_value *value) {
    const struct graft_value *taken[GRAFT_SLICE_PARTS];
    struct graft_value joined = {0};
    for (int32_t i = 1; i < n; i += 3) {
        taken[i / 3] = &cuts[i];
    }
    int status = graft_value_concatenate(taken, (size_t)n / 3, dim, run->operations->place, &joined, run->error);
    graft_value_free(value);
    *value = joined;
    return status;
}

static int slice(const struct operation_run *run, struct graft_value *value) {
    struct graft_value cuts[3 * GRAFT_SLICE_PARTS] = {{0}};
    int64_t sizes[3 * GRAFT_SLICE_PARTS];
    int32_t n = 0;
    int64_t dim = graft_operation_dim(run, run->operation->dim, value);
    int status = dim >= 0 ? cut(run, value, dim, sizes, &n) : GRAFT_ERROR_MODEL;
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_value_split(value, sizes, (size_t)n, dim, run->operations->place, cuts, run->error);
    if (status == GRAFT_OK) {
        status = join_slices(run, cuts, n, dim, value);
    }
    for (int32_t i = 0; i < n; i++) {
        if (status == GRAFT_OK && i % 3 != 1 && run->operations->drop != NULL) {
            run->operations->drop(run->operations->data, &cuts[i]);
        }
        graft_value_free(&cuts[i]);
    }
    return status;
}

int graft_operation_each(const struct operation_run *run, const char *name, struct graft_value *value) {
    switch (run->operation->kind) {
    case GRAFT_OP_INTERLEAVE:
        return interleave(run, value);
    case GRAFT_OP_TRANSPOSE:
        return transpose(run, value);
    case GRAFT_OP_CONV3D_TO_LINEAR:
        return conv3d_to_linear(run, value);
    case GRAFT_OP_LINEAR_TO_CONV3D:
        return linear_to_conv3d(run, value);
    case GRAFT_OP_SLICE:
        return slice(run, value);
    default:
        return permute_for_rope(run, name, value);
    }
}
