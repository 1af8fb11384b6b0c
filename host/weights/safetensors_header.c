/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/safetensors_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

/* The official implementation's bound. */
#define MAX_HEADER_BYTES UINT64_C(100000000)

static const char metadata_key[] = "__metadata__";

/* What the entries of one header are read against. */
struct reader {
    const char *path;
    const unsigned char *data; /* the tensors' bytes */
    int64_t data_bytes;
    struct graft_error *error;
};

static int read_dtype(const struct reader *reader, const graft_json *value, struct graft_tensor_view *view) {
    const char *name = graft_json_string(value, NULL);
    if (name == NULL) {
        return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                          "tensor \"%.300s\": expected dtype to be a string, found %s", view->name,
                          graft_json_type_name(value));
    }
    view->dtype = graft_dtype_from_name(name);
    if (view->dtype == GRAFT_DTYPE_NONE) {
        return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                          "tensor \"%.300s\": dtype \"%.40s\" is not supported, expected F64, F32, F16, BF16, F8_E4M3, "
                          "F8_E5M2, I64 to I8, U64 to U8 or BOOL",
                          view->name, name);
    }
    return GRAFT_OK;
}

static int read_shape(const struct reader *reader, const graft_json *value, struct graft_tensor_view *view) {
    size_t rank = graft_json_size(value);
    if (graft_json_type(value) != GRAFT_JSON_ARRAY) {
        return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                          "tensor \"%.300s\": expected shape to be an array, found %s", view->name,
                          graft_json_type_name(value));
    }
    if (rank > GRAFT_MAX_RANK) {
        return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                          "tensor \"%.300s\": shape has %zu dimensions, expected at most %d", view->name, rank,
                          GRAFT_MAX_RANK);
    }
    view->rank = (int32_t)rank;
    for (size_t i = 0; i < GRAFT_MAX_RANK; i++) {
        const graft_json *dimension = graft_json_at(value, i);
        view->shape[i] = i < rank ? graft_json_int(dimension) : 1;
        if (view->shape[i] < 0 || (i < rank && graft_json_type(dimension) != GRAFT_JSON_INT)) {
            return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                              "tensor \"%.300s\": expected dimension %zu of shape to be an integer of at least 0, "
                              "found %s",
                              view->name, i, view->shape[i] < 0 ? "less" : graft_json_type_name(dimension));
        }
    }
    view->bytes = graft_tensor_view_size(view->dtype, view->rank, view->shape);
    if (view->bytes < 0) {
        return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                          "tensor \"%.300s\": the size that shape gives overflows", view->name);
    }
    return GRAFT_OK;
}

static int read_offsets(const struct reader *reader, const graft_json *value, struct graft_tensor_view *view) {
    const graft_json *first = graft_json_at(value, 0);
    const graft_json *second = graft_json_at(value, 1);
    int64_t begin = graft_json_int(first);
    int64_t end = graft_json_int(second);
    if (graft_json_size(value) != 2 || graft_json_type(first) != GRAFT_JSON_INT ||
        graft_json_type(second) != GRAFT_JSON_INT || begin < 0) {
        return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                          "tensor \"%.300s\": expected data_offsets to be two integers of at least 0", view->name);
    }
    if (begin > end || end > reader->data_bytes) {
        return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                          "tensor \"%.300s\": data_offsets [%" PRId64 ", %" PRId64
                          "] are no range of the file's %" PRId64 " bytes of data",
                          view->name, begin, end, reader->data_bytes);
    }
    if (end - begin != view->bytes) {
        return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                          "tensor \"%.300s\": data_offsets hold %" PRId64 " bytes, expected %" PRId64
                          " by dtype %s and shape",
                          view->name, end - begin, view->bytes, graft_dtype_name(view->dtype));
    }
    view->data = reader->data + begin;
    return GRAFT_OK;
}

static int read_tensor(const struct reader *reader, const graft_json *entry, struct graft_tensor_view *view) {
    if (graft_json_type(entry) != GRAFT_JSON_OBJECT) {
        return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                          "tensor \"%.300s\": expected an object, found %s", view->name, graft_json_type_name(entry));
    }
    int status = read_dtype(reader, graft_json_get(entry, "dtype"), view);
    if (status == GRAFT_OK) {
        status = read_shape(reader, graft_json_get(entry, "shape"), view);
    }
    if (status == GRAFT_OK) {
        status = read_offsets(reader, graft_json_get(entry, "data_offsets"), view);
    }
    view->file = reader->path;
    return status;
}

/* Copies `__metadata__`, so that the parsed header, which takes much more memory than the views, can go. */
static int read_metadata(const struct reader *reader, const graft_json *value, graft_json **metadata) {
    void *iterator = NULL;
    const char *key;
    const graft_json *member;
    if (graft_json_type(value) == GRAFT_JSON_NULL) {
        return GRAFT_OK; /* the official implementation takes that for none */
    }
    if (graft_json_type(value) != GRAFT_JSON_OBJECT) {
        return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path, "expected %s to be an object, found %s",
                          metadata_key, graft_json_type_name(value));
    }
    *metadata = graft_json_new_object();
    if (*metadata == NULL) {
        return graft_fail_memory(reader->error, reader->path);
    }
    while (graft_json_next(value, &iterator, &key, &member)) {
        size_t length;
        const char *text = graft_json_string(member, &length);
        if (text == NULL) {
            return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                              "%s: expected \"%.300s\" to be a string, found %s", metadata_key, key,
                              graft_json_type_name(member));
        }
        if (graft_json_set_take(*metadata, key, graft_json_new_string_n(text, length)) != 0) {
            return graft_fail_memory(reader->error, reader->path);
        }
    }
    return GRAFT_OK;
}

/* Makes room for a view a tensor, and for the bytes of all names. */
static int allocate_views(const struct reader *reader, const graft_json *object,
                          struct graft_safetensors_header *header) {
    void *iterator = NULL;
    const char *key;
    const graft_json *value;
    size_t bytes = 0;
    while (graft_json_next(object, &iterator, &key, &value)) {
        bytes += strlen(key) + 1;
    }
    header->views = graft_alloc(graft_json_size(object), sizeof *header->views);
    header->names = graft_alloc(bytes, 1);
    return header->views != NULL && header->names != NULL ? GRAFT_OK : graft_fail_memory(reader->error, reader->path);
}

static int read_members(const struct reader *reader, const graft_json *object,
                        struct graft_safetensors_header *header) {
    void *iterator = NULL;
    const char *key;
    const graft_json *value;
    int status = allocate_views(reader, object, header);
    char *name = header->names;
    while (status == GRAFT_OK && graft_json_next(object, &iterator, &key, &value)) {
        if (strcmp(key, metadata_key) == 0) {
            status = read_metadata(reader, value, &header->metadata);
            continue;
        }
        struct graft_tensor_view *view = &header->views[header->count++];
        size_t bytes = strlen(key) + 1;
        view->name = memcpy(name, key, bytes);
        name += bytes;
        status = read_tensor(reader, value, view);
    }
    return status;
}

static int compare_place(const void *left, const void *right) {
    const struct graft_tensor_view *a = left, *b = right;
    const unsigned char *a_data = a->data, *b_data = b->data;
    if (a_data != b_data) {
        return a_data < b_data ? -1 : 1;
    }
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int compare_name(const void *left, const void *right) {
    return strcmp(((const struct graft_tensor_view *)left)->name, ((const struct graft_tensor_view *)right)->name);
}

/* In the order of their places the tensors must cover the data exactly: no hole could hide bytes, and no two tensors
 * share any. */
static int check_cover(const struct reader *reader, const struct graft_safetensors_header *header) {
    int64_t covered = 0;
    for (size_t i = 0; i < header->count; i++) {
        const struct graft_tensor_view *view = &header->views[i];
        int64_t begin = (const unsigned char *)view->data - reader->data;
        if (begin != covered) {
            return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                              "tensor \"%.300s\": data_offsets begin at %" PRId64 ", expected %" PRId64 ": %s",
                              view->name, begin, covered, begin > covered ? "a hole" : "another tensor's bytes");
        }
        covered += view->bytes;
    }
    if (covered != reader->data_bytes) {
        return graft_fail(reader->error, GRAFT_ERROR_MODEL, reader->path,
                          "the tensors have %" PRId64 " bytes, the file has %" PRId64, covered, reader->data_bytes);
    }
    return GRAFT_OK;
}

/* The header's length, which the file's first eight bytes give, little-endian. */
static int read_length(const char *path, const unsigned char *map, size_t size, size_t *length,
                       struct graft_error *error) {
    uint64_t number = 0;
    for (int i = 7; i >= 0; i--) {
        number = number << 8 | map[i];
    }
    if (number > MAX_HEADER_BYTES || number > size - 8) {
        return graft_fail(error, GRAFT_ERROR_MODEL, path,
                          "header of %" PRIu64 " bytes, expected at most %" PRIu64
                          " and no more than the file's %zu: no safetensors file, or one that was cut",
                          number, MAX_HEADER_BYTES, size - 8);
    }
    if (number == 0 || map[8] != '{') {
        return graft_fail(error, GRAFT_ERROR_MODEL, path, "expected the header to begin with '{'");
    }
    *length = (size_t)number;
    return GRAFT_OK;
}

int graft_safetensors_header_read(const char *path, const unsigned char *map, size_t size,
                                  struct graft_safetensors_header *header, struct graft_error *error) {
    size_t length = 0;
    graft_json *document = NULL;
    memset(header, 0, sizeof *header);
    int status = read_length(path, map, size, &length, error);
    if (status == GRAFT_OK) {
        status = graft_json_parse((const char *)map + 8, length, path, &document, error);
    }
    if (status == GRAFT_OK) {
        const struct reader reader = {path, map + 8 + length, (int64_t)(size - 8 - length), error};
        status = read_members(&reader, document, header);
        if (status == GRAFT_OK) {
            qsort(header->views, header->count, sizeof *header->views, compare_place);
            status = check_cover(&reader, header);
        }
    }
    graft_json_free(document);
    if (status != GRAFT_OK) {
        graft_safetensors_header_finish(header);
        return status;
    }
    qsort(header->views, header->count, sizeof *header->views, compare_name);
    return GRAFT_OK;
}

void graft_safetensors_header_finish(struct graft_safetensors_header *header) {
    graft_free(header->views);
    graft_free(header->names);
    graft_json_free(header->metadata);
    memset(header, 0, sizeof *header);
}
