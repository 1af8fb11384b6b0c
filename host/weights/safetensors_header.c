/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/safetensors_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/json_cost.h"
#include "base/text.h"
#include "weights/safetensors_entry.h"
#include "weights/safetensors_scan.h"

/* the official implementation's limit */
#define MAX_HEADER_BYTES UINT64_C(100000000)

/* The maximum memory that parsing a header as JSON may take, besides half the header's length. A header of the usual
 * form is not parsed so. Together with the views and the metadata, memory stays below 64 MB plus six times the header.
 */
#define MAX_TREE_BYTES ((size_t)28 << 20)

static const char metadata_key[] = "__metadata__";

/* limits how many tensors a header of a given length can hold */
#define SHORTEST_ENTRY "\"\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,0]}"

/* A header being read. */
struct reader {
    struct graft_safetensors_data data;
    const char *text;
    size_t length;
    struct graft_safetensors_header *header;
    size_t names_length;
    struct graft_error *error;
};

/* Keeps a copy of `__metadata__`, so that the parsed header, which takes much more memory than the views, can go. */
static int read_metadata(const struct reader *reader, const graft_json *value) {
    void *iterator = NULL;
    const char *key;
    const graft_json *member;
    if (graft_json_type(value) == GRAFT_JSON_NULL) {
        return GRAFT_OK; /* the official implementation treats that as absent */
    }
    if (graft_json_type(value) != GRAFT_JSON_OBJECT) {
        return graft_error_set(reader->error, GRAFT_ERROR_MODEL, reader->data.path,
                               "expected %s to be an object, found %s", metadata_key, graft_json_type_name(value));
    }
    graft_json *copy = graft_json_new_object();
    reader->header->metadata = copy;
    if (copy == NULL) {
        return graft_fail_memory(reader->error, reader->data.path);
    }
    while (graft_json_next(value, &iterator, &key, &member)) {
        size_t length;
        const char *text = graft_json_string(member, &length);
        if (text == NULL) {
            return graft_error_set(reader->error, GRAFT_ERROR_MODEL, reader->data.path,
                                   "%s: expected \"%.300s\" to be a string, found %s", metadata_key, key,
                                   graft_json_type_name(member));
        }
        if (graft_json_set_take(copy, key, graft_json_new_string_n(text, length)) != 0) {
            return graft_fail_memory(reader->error, reader->data.path);
        }
    }
    return GRAFT_OK;
}

/* Allocates the views and the bytes of all names, each with a NUL. */
static int allocate_views(const struct reader *reader, size_t views, size_t name_bytes) {
    struct graft_safetensors_header *header = reader->header;
    header->views = graft_alloc(views, sizeof *header->views);
    header->names = graft_alloc(name_bytes, 1);
    return header->views != NULL && header->names != NULL ? GRAFT_OK
                                                          : graft_fail_memory(reader->error, reader->data.path);
}

/* Adds a view with a copy of the name. */
static struct graft_tensor_view *add_view(struct reader *reader, const char *name, size_t length) {
    struct graft_tensor_view *view = &reader->header->views[reader->header->count++];
    char *copy = reader->header->names + reader->names_length;
    memcpy(copy, name, length);
    copy[length] = '\0';
    reader->names_length += length + 1;
    view->name = copy;
    return view;
}

static int is_affordable(size_t cost, size_t length) {
    return cost <= MAX_TREE_BYTES + length + length / 2;
}

/* Parses a header of any form as JSON, unless that would take more memory than a header of any real model. */
static int parse_text(const struct reader *reader, graft_json **document) {
    size_t cost = graft_json_cost(reader->text, reader->length);
    if (!is_affordable(cost, reader->length)) {
        return graft_error_set(reader->error, GRAFT_ERROR_MODEL, reader->data.path,
                               "the header's JSON has an unusual form, and would take %zu MB of memory for %zu MB",
                               cost >> 20, reader->length >> 20);
    }
    return graft_json_parse_strict(reader->text, reader->length, reader->data.path, document, reader->error);
}

/* Reads a header of any form. */
static int parse_members(struct reader *reader) {
    void *iterator = NULL;
    const char *key;
    const graft_json *value;
    size_t name_bytes = 0;
    graft_json *document = NULL;
    int status = parse_text(reader, &document);
    while (graft_json_next(document, &iterator, &key, &value)) {
        name_bytes += strlen(key) + 1;
    }
    if (status == GRAFT_OK) {
        status = allocate_views(reader, graft_json_size(document), name_bytes);
    }
    iterator = NULL;
    while (status == GRAFT_OK && graft_json_next(document, &iterator, &key, &value)) {
        if (strcmp(key, metadata_key) == 0) {
            status = read_metadata(reader, value);
        } else {
            struct graft_tensor_view *view = add_view(reader, key, strlen(key));
            status = graft_safetensors_entry_read(&reader->data, value, view, reader->error);
        }
    }
    graft_json_free(document);
    return status;
}

static int scan_tensor(struct reader *reader, const struct graft_safetensors_member *member) {
    struct graft_tensor_view *view = add_view(reader, member->name, member->name_length);
    view->dtype = member->dtype;
    view->rank = member->rank;
    memcpy(view->shape, member->shape, sizeof view->shape);
    return graft_safetensors_entry_place(&reader->data, member->begin, member->end, view, reader->error);
}

/* Parses `__metadata__`. Returns 0 if it is not an object of strings; parse_members then reports it. */
static int scan_metadata(const struct reader *reader, const struct graft_safetensors_member *member) {
    struct reader quiet = *reader;
    graft_json *document = NULL;
    quiet.error = NULL;
    int good = reader->header->metadata == NULL &&
               is_affordable(graft_json_cost(member->metadata, member->metadata_length), reader->length) &&
               graft_json_parse_strict(member->metadata, member->metadata_length, "", &document, NULL) == GRAFT_OK &&
               read_metadata(&quiet, document) == GRAFT_OK;
    graft_json_free(document);
    return good;
}

static int compare_name(const void *left, const void *right) {
    return strcmp(((const struct graft_tensor_view *)left)->name, ((const struct graft_tensor_view *)right)->name);
}

/* Sorts the views by name. Returns 0 if two have the same name. */
static int sort_by_name(struct graft_safetensors_header *header) {
    qsort(header->views, header->count, sizeof *header->views, compare_name);
    for (size_t i = 1; i < header->count; i++) {
        if (strcmp(header->views[i - 1].name, header->views[i].name) == 0) {
            return 0;
        }
    }
    return 1;
}

/* Reads a header of the usual form. `*usual` becomes 0 if it has another form; parse_members then reads or refuses
 * it. */
static int scan_members(struct reader *reader, int *usual) {
    struct graft_safetensors_scan scan = graft_safetensors_scan_begin(reader->text, reader->length);
    struct graft_safetensors_member member;
    *usual = 0;
    if (graft_utf8_valid_prefix(reader->text, reader->length) < reader->length) {
        return GRAFT_OK;
    }
    int status = allocate_views(reader, reader->length / (sizeof SHORTEST_ENTRY - 1) + 1, reader->length);
    while (status == GRAFT_OK) {
        switch (graft_safetensors_scan_next(&scan, &member)) {
        case GRAFT_SCANNED_TENSOR:
            status = scan_tensor(reader, &member);
            break;
        case GRAFT_SCANNED_METADATA:
            if (!scan_metadata(reader, &member)) {
                return GRAFT_OK;
            }
            break;
        case GRAFT_SCANNED_END:
            *usual = sort_by_name(reader->header);
            return GRAFT_OK;
        case GRAFT_SCANNED_UNUSUAL:
            return GRAFT_OK;
        }
    }
    return status;
}

static int read_members(struct reader *reader) {
    int usual;
    int status = scan_members(reader, &usual);
    if (status == GRAFT_OK && !usual) {
        graft_safetensors_header_finish(reader->header);
        reader->names_length = 0;
        status = parse_members(reader);
        if (status == GRAFT_OK) {
            (void)sort_by_name(reader->header); /* names are unique: the parser refuses duplicate keys */
        }
    }
    return status;
}

static int compare_place(const void *left, const void *right) {
    const struct graft_tensor_view *const *a = left, *const *b = right;
    const unsigned char *a_data = (*a)->data, *b_data = (*b)->data;
    if (a_data != b_data) {
        return a_data < b_data ? -1 : 1;
    }
    return ((*a)->bytes > (*b)->bytes) - ((*a)->bytes < (*b)->bytes);
}

/* Checks that the views, in the order of their offsets, cover the data exactly, without holes and without overlaps. */
static int check_places(const struct reader *reader, const struct graft_tensor_view *const *views) {
    int64_t covered = 0;
    for (size_t i = 0; i < reader->header->count; i++) {
        int64_t begin = (const unsigned char *)views[i]->data - reader->data.start;
        if (begin != covered) {
            return graft_error_set(reader->error, GRAFT_ERROR_MODEL, reader->data.path,
                                   "tensor \"%.300s\": data_offsets begin at %" PRId64 ", expected %" PRId64 ": %s",
                                   views[i]->name, begin, covered,
                                   begin > covered ? "a hole" : "another tensor's bytes");
        }
        covered += views[i]->bytes;
    }
    if (covered != reader->data.bytes) {
        return graft_error_set(reader->error, GRAFT_ERROR_MODEL, reader->data.path,
                               "the tensors have %" PRId64 " bytes, the file has %" PRId64, covered,
                               reader->data.bytes);
    }
    return GRAFT_OK;
}

static int check_cover(const struct reader *reader) {
    size_t count = reader->header->count;
    const struct graft_tensor_view **views = graft_alloc(count, sizeof *views);
    if (views == NULL) {
        return graft_fail_memory(reader->error, reader->data.path);
    }
    for (size_t i = 0; i < count; i++) {
        views[i] = &reader->header->views[i];
    }
    qsort(views, count, sizeof *views, compare_place);
    int status = check_places(reader, views);
    graft_free(views);
    return status;
}

/* Reads the header's length from the file's first eight bytes, which are little-endian. */
static int read_length(const char *path, const unsigned char *map, size_t size, size_t *length,
                       struct graft_error *error) {
    uint64_t number = 0;
    for (int i = 7; i >= 0; i--) {
        number = number << 8 | map[i];
    }
    if (number > MAX_HEADER_BYTES || number > size - 8) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                               "header of %" PRIu64 " bytes, expected at most %" PRIu64
                               " and no more than the file's %zu: not a safetensors file, or a truncated one",
                               number, MAX_HEADER_BYTES, size - 8);
    }
    if (number == 0 || map[8] != '{') {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path, "expected the header to begin with '{'");
    }
    *length = (size_t)number;
    return GRAFT_OK;
}

int graft_safetensors_header_read(const char *path, const unsigned char *map, size_t size,
                                  struct graft_safetensors_header *header, struct graft_error *error) {
    size_t length = 0;
    memset(header, 0, sizeof *header);
    int status = read_length(path, map, size, &length, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct reader reader = {.data = {path, map + 8 + length, (int64_t)(size - 8 - length)},
                            .text = (const char *)map + 8,
                            .length = length,
                            .header = header,
                            .error = error};
    status = read_members(&reader);
    if (status == GRAFT_OK) {
        status = check_cover(&reader);
    }
    if (status != GRAFT_OK) {
        graft_safetensors_header_finish(header);
    }
    return status;
}

void graft_safetensors_header_finish(struct graft_safetensors_header *header) {
    graft_free(header->views);
    graft_free(header->names);
    graft_json_free(header->metadata);
    memset(header, 0, sizeof *header);
}
