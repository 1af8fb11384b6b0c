/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/shard_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { MAX_INDEX_BYTES = 100000000 };

/* Whether a relative name stays inside its folder and is written in its shortest form. */
static int is_plain_path(const char *name, size_t length) {
    if (strlen(name) != length) {
        return 0;
    }
    for (const char *part = name;;) {
        size_t n = strcspn(part, "/");
        int dots = (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.');
        if (n == 0 || dots) {
            return 0;
        }
        if (part[n] == '\0') {
            return 1;
        }
        part += n + 1;
    }
}

/* The name without a leading "./", which some writers add. */
static const char *plain_path(const char *name) {
    return strncmp(name, "./", 2) == 0 ? name + 2 : name;
}

static int compare_entries(const void *left, const void *right) {
    const struct graft_shard_entry *a = left, *b = right;
    int order = strcmp(a->file, b->file);
    return order != 0 ? order : strcmp(a->tensor, b->tensor);
}

static int read_entries(const char *path, struct graft_shard_index *index, struct graft_error *error) {
    void *iterator = NULL;
    const char *tensor;
    const graft_json *value;
    index->entries = graft_alloc(graft_json_size(index->weight_map), sizeof *index->entries);
    if (index->entries == NULL) {
        return graft_fail_memory(error, path);
    }
    while (graft_json_next(index->weight_map, &iterator, &tensor, &value)) {
        size_t length;
        const char *file = graft_json_string(value, &length);
        if (file == NULL) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                                   "weight_map: expected a file name for \"%.300s\", found %s", tensor,
                                   graft_json_type_name(value));
        }
        const char *plain = plain_path(file);
        if (!is_plain_path(plain, length - (size_t)(plain - file))) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                                   "weight_map: \"%.300s\", listed for \"%.300s\", is not the relative path of a file "
                                   "in the model's directory",
                                   file, tensor);
        }
        index->entries[index->count++] = (struct graft_shard_entry){plain, tensor};
    }
    qsort(index->entries, index->count, sizeof *index->entries, compare_entries);
    return GRAFT_OK;
}

/* Reads the object called `key`. An index without `metadata` is refused, like in transformers, although nothing in it
 * is needed. */
static int read_object(const char *path, const graft_json *document, const char *key, const graft_json **object,
                       struct graft_error *error) {
    *object = graft_json_get(document, key);
    if (graft_json_type(*object) != GRAFT_JSON_OBJECT) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path, "expected \"%s\" to be an object, found %s", key,
                               graft_json_type_name(*object));
    }
    return GRAFT_OK;
}

int graft_shard_index_read(const char *path, struct graft_shard_index *index, struct graft_error *error) {
    const graft_json *metadata;
    memset(index, 0, sizeof *index);
    int status = graft_json_read_strict(path, MAX_INDEX_BYTES, &index->document, error);
    if (status == GRAFT_OK && graft_json_type(index->document) != GRAFT_JSON_OBJECT) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, path, "expected an object, found %s",
                                 graft_json_type_name(index->document));
    }
    if (status == GRAFT_OK) {
        status = read_object(path, index->document, "metadata", &metadata, error);
    }
    if (status == GRAFT_OK) {
        status = read_object(path, index->document, "weight_map", &index->weight_map, error);
    }
    if (status == GRAFT_OK) {
        status = read_entries(path, index, error);
    }
    if (status != GRAFT_OK) {
        graft_shard_index_finish(index);
    }
    return status;
}

void graft_shard_index_finish(struct graft_shard_index *index) {
    graft_free(index->entries);
    graft_json_free(index->document);
    memset(index, 0, sizeof *index);
}

const char *graft_shard_index_file(const struct graft_shard_index *index, const char *tensor) {
    const char *file = graft_json_string(graft_json_get(index->weight_map, tensor), NULL);
    return file != NULL ? plain_path(file) : NULL;
}
