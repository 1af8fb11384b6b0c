/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/safetensors_entry.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"

int graft_safetensors_entry_place(const struct graft_safetensors_data *data, int64_t begin, int64_t end,
                                  struct graft_tensor_view *view, struct graft_error *error) {
    view->bytes = graft_tensor_view_size(view->dtype, view->rank, view->shape);
    if (view->bytes < 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, data->path,
                               "tensor \"%.300s\": the size that its shape gives %s", view->name,
                               view->bytes == GRAFT_SIZE_IN_A_BYTE ? "is not a whole number of bytes" : "overflows");
    }
    if (begin > end || end > data->bytes) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, data->path,
                               "tensor \"%.300s\": data_offsets [%" PRId64 ", %" PRId64
                               "] are not a range of the file's %" PRId64 " bytes of data",
                               view->name, begin, end, data->bytes);
    }
    if (end - begin != view->bytes) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, data->path,
                               "tensor \"%.300s\": data_offsets hold %" PRId64 " bytes, expected %" PRId64
                               " by dtype %s and shape",
                               view->name, end - begin, view->bytes, graft_stored_dtype_name(view->dtype));
    }
    view->data = data->start + begin;
    view->file = data->path;
    return GRAFT_OK;
}

static int read_dtype(const struct graft_safetensors_data *data, const graft_json *value,
                      struct graft_tensor_view *view, struct graft_error *error) {
    size_t length = 0;
    const char *name = graft_json_string(value, &length);
    if (name == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, data->path,
                               "tensor \"%.300s\": expected dtype to be a string, found %s", view->name,
                               graft_json_type_name(value));
    }
    view->dtype = strlen(name) == length ? graft_dtype_from_name(name) : GRAFT_DTYPE_NONE;
    if (strlen(name) != length) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, data->path,
                               "tensor \"%.300s\": dtype contains a NUL character", view->name);
    }
    if (view->dtype == GRAFT_DTYPE_NONE) {
        return graft_error_set(
            error, GRAFT_ERROR_MODEL, data->path,
            "tensor \"%.300s\": dtype \"%.40s\" is unknown, expected C64, F64, F32, F16, BF16, an F8_..., "
            "F6_... or F4 of the format, I64 to I8, U64 to U8 or BOOL",
            view->name, name);
    }
    return GRAFT_OK;
}

static int read_shape(const struct graft_safetensors_data *data, const graft_json *value,
                      struct graft_tensor_view *view, struct graft_error *error) {
    size_t rank = graft_json_size(value);
    if (graft_json_type(value) != GRAFT_JSON_ARRAY) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, data->path,
                               "tensor \"%.300s\": expected shape to be an array, found %s", view->name,
                               graft_json_type_name(value));
    }
    if (rank > GRAFT_MAX_RANK) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, data->path,
                               "tensor \"%.300s\": shape has %zu dimensions, expected at most %d", view->name, rank,
                               GRAFT_MAX_RANK);
    }
    view->rank = (int32_t)rank;
    for (size_t i = 0; i < GRAFT_MAX_RANK; i++) {
        const graft_json *dimension = graft_json_at(value, i);
        view->shape[i] = i < rank ? graft_json_int(dimension) : 1;
        if (view->shape[i] < 0 || (i < rank && graft_json_type(dimension) != GRAFT_JSON_INT)) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, data->path,
                                   "tensor \"%.300s\": expected dimension %zu of shape to be an integer of at least 0, "
                                   "found %s",
                                   view->name, i, view->shape[i] < 0 ? "less" : graft_json_type_name(dimension));
        }
    }
    return GRAFT_OK;
}

static int read_offsets(const struct graft_safetensors_data *data, const graft_json *value,
                        struct graft_tensor_view *view, struct graft_error *error) {
    const graft_json *first = graft_json_at(value, 0);
    const graft_json *second = graft_json_at(value, 1);
    int64_t begin = graft_json_int(first);
    int64_t end = graft_json_int(second);
    if (graft_json_size(value) != 2 || graft_json_type(first) != GRAFT_JSON_INT ||
        graft_json_type(second) != GRAFT_JSON_INT || begin < 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, data->path,
                               "tensor \"%.300s\": expected data_offsets to be two integers of at least 0", view->name);
    }
    return graft_safetensors_entry_place(data, begin, end, view, error);
}

int graft_safetensors_entry_read(const struct graft_safetensors_data *data, const graft_json *entry,
                                 struct graft_tensor_view *view, struct graft_error *error) {
    if (graft_json_type(entry) != GRAFT_JSON_OBJECT) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, data->path, "tensor \"%.300s\": expected an object, found %s",
                               view->name, graft_json_type_name(entry));
    }
    int status = read_dtype(data, graft_json_get(entry, "dtype"), view, error);
    if (status == GRAFT_OK) {
        status = read_shape(data, graft_json_get(entry, "shape"), view, error);
    }
    if (status == GRAFT_OK) {
        status = read_offsets(data, graft_json_get(entry, "data_offsets"), view, error);
    }
    return status;
}
