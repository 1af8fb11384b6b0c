/* SPDX-License-Identifier: Apache-2.0 */
#include "encode/dense.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "graft/convert.h"
#include "weights/checkpoint.h"

enum { MAX_FILE_BYTES = 1 << 20, MAX_SIZE = 1 << 20 };

static int read_size(const char *file, const graft_json *document, const char *field, int64_t *size,
                     struct graft_error *error) {
    const graft_json *value = graft_json_get(document, field);
    *size = graft_json_type(value) == GRAFT_JSON_INT ? graft_json_int(value) : 0;
    return *size >= 1 && *size <= MAX_SIZE
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, file, "%s: expected an integer from 1 to %d", field,
                                 (int)MAX_SIZE);
}

/* Reads the class of the activation; without the field it is tanh, as in sentence-transformers. */
static int read_activation(const char *file, const graft_json *document, int32_t *is_tanh, struct graft_error *error) {
    const char *name = graft_json_string(graft_json_get(document, "activation_function"), NULL);
    const char *dot = name != NULL ? strrchr(name, '.') : NULL;
    const char *last = dot != NULL ? dot + 1 : name;
    *is_tanh = last == NULL || strcmp(last, "Tanh") == 0;
    return *is_tanh || strcmp(last, "Identity") == 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, file,
                                 "activation_function: expected Tanh or Identity, got \"%s\"", name);
}

/* Refuses fields that would change what the module computes. */
static int refuse_others(const char *file, const graft_json *document, struct graft_error *error) {
    static const char *const names[] = {"module_input_name", "module_output_name"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *name = graft_json_string(graft_json_get(document, names[i]), NULL);
        if (name != NULL && strcmp(name, "sentence_embedding") != 0) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, file, "%s: expected \"sentence_embedding\", got \"%s\"",
                                   names[i], name);
        }
    }
    return graft_json_bool(graft_json_get(document, "use_residual"))
               ? graft_error_set(error, GRAFT_ERROR_MODEL, file, "use_residual: true is not supported")
               : GRAFT_OK;
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

static int read_config(const char *file, const graft_json *document, int64_t in_features, struct graft_dense *dense,
                       struct graft_error *error) {
    int status = read_size(file, document, "in_features", &dense->in_features, error);
    if (status == GRAFT_OK && dense->in_features != in_features) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, file,
                                 "in_features: expected %lld, the size of the vectors from the module before",
                                 (long long)in_features);
    }
    if (status == GRAFT_OK) {
        status = read_size(file, document, "out_features", &dense->out_features, error);
    }
    if (status == GRAFT_OK) {
        status = read_activation(file, document, &dense->tanh, error);
    }
    return status == GRAFT_OK ? refuse_others(file, document, error) : status;
}

static int read_weights(const char *folder, const graft_json *document, struct graft_dense *dense,
                        struct graft_error *error) {
    const graft_json *bias = graft_json_get(document, "bias");
    struct graft_checkpoint *checkpoint = NULL;
    int status = graft_checkpoint_open(folder, &checkpoint, error);
    if (status == GRAFT_OK) {
        status = read_tensor(folder, checkpoint, "linear.weight", dense->out_features, dense->in_features,
                             &dense->weight, error);
    }
    if (status == GRAFT_OK && (graft_json_type(bias) != GRAFT_JSON_BOOL || graft_json_bool(bias))) {
        status = read_tensor(folder, checkpoint, "linear.bias", dense->out_features, 0, &dense->bias, error);
    }
    graft_checkpoint_close(checkpoint);
    return status;
}

int graft_dense_read(const char *folder, int64_t in_features, struct graft_dense *dense, struct graft_error *error) {
    graft_json *document = NULL;
    char *file = graft_path_join(folder, "config.json");
    *dense = (struct graft_dense){.in_features = in_features};
    int status =
        file != NULL ? graft_json_read(file, MAX_FILE_BYTES, &document, error) : graft_fail_memory(error, folder);
    if (status == GRAFT_OK) {
        status = read_config(file, document, in_features, dense, error);
    }
    if (status == GRAFT_OK) {
        status = read_weights(folder, document, dense, error);
    }
    graft_json_free(document);
    graft_free(file);
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
