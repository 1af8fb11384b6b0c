/* SPDX-License-Identifier: Apache-2.0 */
#include "encode/dense.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/json_field.h"
#include "graft/convert.h"
#include "weights/checkpoint.h"

enum { MAX_FILE_BYTES = 1 << 20, MAX_SIZE = 1 << 20 };

/* Whether an activation's class is `name`, without the Python module that it is imported from. */
static int is_called(const char *activation, const char *name) {
    const char *dot = strrchr(activation, '.');
    return strcmp(dot != NULL ? dot + 1 : activation, name) == 0;
}

static int is_known(const char *activation) {
    return is_called(activation, "Tanh") || is_called(activation, "Identity");
}

/* Element `i` of a tensor, whose data may be unaligned. */
static float element(const struct graft_tensor_view *tensor, int64_t i) {
    float number;
    uint16_t half;
    if (tensor->dtype == GRAFT_DTYPE_F32) {
        memcpy(&number, (const char *)tensor->data + i * (int64_t)sizeof number, sizeof number);
        return number;
    }
    memcpy(&half, (const char *)tensor->data + i * (int64_t)sizeof half, sizeof half);
    return tensor->dtype == GRAFT_DTYPE_F16 ? graft_f32_from_f16(half) : graft_f32_from_bf16(half);
}

/* Reads a tensor [rows, columns], or [rows] if `columns` is 0, as f32. The caller frees *numbers. */
static int read_tensor(const char *folder, const struct graft_checkpoint *checkpoint, const char *name, int64_t rows,
                       int64_t columns, float **numbers, struct graft_error *error) {
    const struct graft_tensor_view *tensor = graft_checkpoint_find(checkpoint, name);
    int32_t rank = columns > 0 ? 2 : 1;
    if (tensor == NULL || tensor->rank != rank || tensor->shape[0] != rows ||
        (columns > 0 && tensor->shape[1] != columns) ||
        (tensor->dtype != GRAFT_DTYPE_F32 && tensor->dtype != GRAFT_DTYPE_F16 && tensor->dtype != GRAFT_DTYPE_BF16)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, folder,
                               "%s: expected a tensor of floats with %lld rows and as many columns as config.json says",
                               name, (long long)rows);
    }
    int64_t count = rows * (columns > 0 ? columns : 1);
    *numbers = graft_alloc((size_t)count, sizeof **numbers);
    if (*numbers == NULL) {
        return graft_fail_memory(error, folder);
    }
    for (int64_t i = 0; i < count; i++) {
        (*numbers)[i] = element(tensor, i);
    }
    return GRAFT_OK;
}

/* The fields of config.json. Without an activation it is tanh, as in sentence-transformers. */
struct fields {
    int64_t in_features, out_features;
    int input, output, use_residual, bias;
    const char *activation;
};

static int read_config(const struct graft_field *root, int64_t in_features, struct fields *fields,
                       struct graft_error *error) {
    static const char *const embedding[] = {"sentence_embedding", NULL};
    static const struct graft_member members[] = {
        {"in_features", GRAFT_MEMBER_INT, .offset = offsetof(struct fields, in_features), .least = 1, .most = MAX_SIZE},
        {"out_features", GRAFT_MEMBER_INT, .offset = offsetof(struct fields, out_features), .least = 1,
         .most = MAX_SIZE},
        {"activation_function", GRAFT_MEMBER_TEXT, offsetof(struct fields, activation), 1, .fits = is_known,
         .what = "Tanh or Identity"},
        {"module_input_name", GRAFT_MEMBER_CHOICE, offsetof(struct fields, input), 1, .names = embedding},
        {"module_output_name", GRAFT_MEMBER_CHOICE, offsetof(struct fields, output), 1, .names = embedding},
        {"use_residual", GRAFT_MEMBER_FLAG, .offset = offsetof(struct fields, use_residual), .is_optional = 1},
        {"bias", GRAFT_MEMBER_FLAG, .offset = offsetof(struct fields, bias), .is_optional = 1},
        {0},
    };
    int status = graft_field_read_some(root, members, fields, error);
    if (status == GRAFT_OK && fields->in_features != in_features) {
        const struct graft_field field = graft_field_get(root, "in_features");
        status = graft_field_error(&field, error, "expected %lld, the size of the vectors from the module before",
                                   (long long)in_features);
    }
    if (status == GRAFT_OK && fields->use_residual) {
        const struct graft_field field = graft_field_get(root, "use_residual");
        status = graft_field_error(&field, error, "true is not supported");
    }
    return status;
}

static int read_weights(const char *folder, int has_bias, struct graft_dense *dense, struct graft_error *error) {
    struct graft_checkpoint *checkpoint = NULL;
    int status = graft_checkpoint_open(folder, &checkpoint, error);
    if (status == GRAFT_OK) {
        status = read_tensor(folder, checkpoint, "linear.weight", dense->out_features, dense->in_features,
                             &dense->weight, error);
    }
    if (status == GRAFT_OK && has_bias) {
        status = read_tensor(folder, checkpoint, "linear.bias", dense->out_features, 0, &dense->bias, error);
    }
    graft_checkpoint_close(checkpoint);
    return status;
}

int graft_dense_read(const char *folder, int64_t in_features, struct graft_dense *dense, struct graft_error *error) {
    struct fields fields = {.bias = 1};
    struct graft_json_file file;
    *dense = (struct graft_dense){0};
    int status = graft_json_file_open(&file, folder, "config.json", MAX_FILE_BYTES, 0, error);
    if (status == GRAFT_OK) {
        status = read_config(&file.root, in_features, &fields, error);
    }
    if (status == GRAFT_OK) {
        dense->in_features = in_features;
        dense->out_features = fields.out_features;
        dense->tanh = fields.activation == NULL || is_called(fields.activation, "Tanh");
        status = read_weights(folder, fields.bias, dense, error);
    }
    graft_json_file_close(&file);
    if (status != GRAFT_OK) {
        graft_dense_finish(dense);
    }
    return status;
}

void graft_dense_finish(struct graft_dense *dense) {
    graft_free(dense->weight);
    graft_free(dense->bias);
    *dense = (struct graft_dense){0};
}

void graft_dense_run(const struct graft_dense *dense, const float *in, float *out) {
    for (int64_t i = 0; i < dense->out_features; i++) {
        const float *row = dense->weight + i * dense->in_features;
        double sum = dense->bias != NULL ? (double)dense->bias[i] : 0.0;
        for (int64_t j = 0; j < dense->in_features; j++) {
            sum += (double)row[j] * (double)in[j];
        }
        out[i] = (float)(dense->tanh ? tanh(sum) : sum);
    }
}
