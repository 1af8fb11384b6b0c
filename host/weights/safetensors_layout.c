/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/safetensors_layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { LENGTH_BYTES = 8 };

static int compare_name(const void *left, const void *right) {
    const struct graft_tensor_view *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

/* The rank of a type in the official implementation's order, so that files it wrote are written again byte for byte. */
static size_t place_of(graft_dtype dtype) {
    static const char *const places[] = {"U64",         "I64",     "F64",     "C64",     "F32", "U32",
                                         "I32",         "BF16",    "F16",     "U16",     "I16", "F8_E5M2FNUZ",
                                         "F8_E4M3FNUZ", "F8_E8M0", "F8_E4M3", "F8_E5M2", "I8",  "U8",
                                         "F6_E3M2",     "F6_E2M3", "F4",      "BOOL"};
    const char *name = graft_stored_dtype_name(dtype);
    size_t place = 0;
    while (place < sizeof places / sizeof places[0] && strcmp(places[place], name) != 0) {
        place++;
    }
    return place;
}

static int compare_place(const void *left, const void *right) {
    const struct graft_tensor_view *const *a = left, *const *b = right;
    size_t a_place = place_of((*a)->dtype), b_place = place_of((*b)->dtype);
    return a_place != b_place ? (a_place < b_place ? -1 : 1) : compare_name(left, right);
}

/* Checks tensors, which are sorted by name. */
static int check_tensors(const char *path, const struct graft_tensor_view *const *sorted, size_t n,
                         struct graft_error *error) {
    for (size_t i = 0; i < n; i++) {
        const struct graft_tensor_view *view = sorted[i];
        size_t length = strlen(view->name);
        if (i > 0 && strcmp(sorted[i - 1]->name, view->name) == 0) {
            return graft_error_set(error, GRAFT_ERROR_INTERNAL, path, "two tensors are called \"%.300s\"", view->name);
        }
        if (graft_utf8_valid_prefix(view->name, length) != length || strcmp(view->name, "__metadata__") == 0) {
            return graft_error_set(error, GRAFT_ERROR_INTERNAL, path, "a tensor cannot be called \"%.300s\"",
                                   view->name);
        }
        int64_t size = graft_tensor_view_size(view->dtype, view->rank, view->shape);
        if (size != view->bytes || graft_stored_dtype_bits(view->dtype) == 0) {
            return graft_error_set(error, GRAFT_ERROR_INTERNAL, path,
                                   "tensor \"%.300s\": %" PRId64 " bytes, expected %" PRId64 " by dtype %s and shape",
                                   view->name, view->bytes, size, graft_stored_dtype_name(view->dtype));
        }
    }
    return GRAFT_OK;
}

/* Adds `value` as JSON, and frees it. */
static void add_json_take(struct graft_text *text, graft_json *value_take) {
    char *dump = value_take != NULL ? graft_json_dump(value_take, 0) : NULL;
    if (dump != NULL) {
        graft_text_add_string(text, dump);
    } else {
        text->failed = 1;
    }
    graft_free(dump);
    graft_json_free(value_take);
}

/* Adds an object of strings without spaces. */
static void add_metadata(struct graft_text *text, const graft_json *metadata) {
    void *iterator = NULL;
    const char *key;
    const graft_json *value;
    const char *separator = "";
    graft_text_add_string(text, "\"__metadata__\":{");
    while (graft_json_next(metadata, &iterator, &key, &value)) {
        size_t length;
        const char *string = graft_json_string(value, &length);
        graft_text_add_string(text, separator);
        add_json_take(text, graft_json_new_string(key));
        graft_text_add_string(text, ":");
        add_json_take(text, graft_json_new_string_n(string != NULL ? string : "", length));
        separator = ",";
    }
    graft_text_add_string(text, "}");
}

static void add_tensor(struct graft_text *text, const struct graft_tensor_view *view, int64_t offset) {
    add_json_take(text, graft_json_new_string(view->name));
    graft_text_printf(text, ":{\"dtype\":\"%s\",\"shape\":[", graft_stored_dtype_name(view->dtype));
    for (int32_t i = 0; i < view->rank; i++) {
        graft_text_printf(text, "%s%" PRId64, i > 0 ? "," : "", view->shape[i]);
    }
    graft_text_printf(text, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", offset, offset + view->bytes);
}

/* Makes the length and the header, padded with spaces so that the data begin at a multiple of `boundary`. */
static int make_header(const char *path, const struct graft_tensor_view *const *sorted, size_t n,
                       const graft_json *metadata, size_t boundary, struct graft_text *text,
                       struct graft_error *error) {
    static const char no_length[LENGTH_BYTES] = {0};
    int64_t offset = 0;
    graft_text_add(text, no_length, LENGTH_BYTES);
    graft_text_add_string(text, "{");
    if (metadata != NULL) {
        add_metadata(text, metadata);
    }
    for (size_t i = 0; i < n; i++) {
        graft_text_add_string(text, i > 0 || metadata != NULL ? "," : "");
        add_tensor(text, sorted[i], offset);
        offset += sorted[i]->bytes;
    }
    graft_text_add_string(text, "}");
    while (!text->failed && text->length % boundary != 0) {
        graft_text_add_string(text, " ");
    }
    if (text->failed) {
        return graft_fail_memory(error, path);
    }
    uint64_t length = text->length - LENGTH_BYTES;
    for (int i = 0; i < LENGTH_BYTES; i++) {
        text->bytes[i] = (char)(unsigned char)(length >> (8 * i));
    }
    return GRAFT_OK;
}

int graft_safetensors_layout_make(const char *path, const struct graft_tensor_view *tensors, size_t n,
                                  const graft_json *metadata, size_t boundary, struct graft_safetensors_layout *layout,
                                  struct graft_error *error) {
    *layout = (struct graft_safetensors_layout){.order = graft_alloc(n, sizeof *layout->order)};
    if (layout->order == NULL) {
        return graft_fail_memory(error, path);
    }
    for (size_t i = 0; i < n; i++) {
        layout->order[i] = &tensors[i];
    }
    qsort(layout->order, n, sizeof *layout->order, compare_name);
    int status = check_tensors(path, layout->order, n, error);
    if (status == GRAFT_OK) {
        qsort(layout->order, n, sizeof *layout->order, compare_place);
        status = make_header(path, layout->order, n, metadata, boundary, &layout->header, error);
    }
    if (status != GRAFT_OK) {
        graft_safetensors_layout_finish(layout);
    }
    return status;
}

void graft_safetensors_layout_finish(struct graft_safetensors_layout *layout) {
    graft_text_free(&layout->header);
    graft_free(layout->order);
    *layout = (struct graft_safetensors_layout){0};
}
