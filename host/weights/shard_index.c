/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/shard_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/json_field.h"

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

static int read_entries(const struct graft_field *map, struct graft_shard_index *index, struct graft_error *error) {
    struct graft_field tensor;
    void *iterator = NULL;
    index->entries = graft_alloc(graft_json_size(map->value), sizeof *index->entries);
    if (index->entries == NULL) {
        return graft_fail_memory(error, map->file);
    }
    while (graft_field_next(map, &iterator, &tensor)) {
        size_t length;
        const char *file = graft_json_string(tensor.value, &length);
        if (file == NULL) {
            return graft_field_wrong(&tensor, "a file name", error);
        }
        const char *plain = plain_path(file);
        if (!is_plain_path(plain, length - (size_t)(plain - file))) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, map->file,
                                   "weight_map: \"%.300s\", listed for \"%.300s\", is not the relative path of a file "
                                   "in the model's directory",
                                   file, tensor.key);
        }
        index->entries[index->count++] = (struct graft_shard_entry){plain, tensor.key};
    }
    qsort(index->entries, index->count, sizeof *index->entries, compare_entries);
    return GRAFT_OK;
}

int graft_shard_index_read(const char *path, struct graft_shard_index *index, struct graft_error *error) {
    /* `metadata` has to be there, as in transformers, although nothing in it is needed */
    struct fields {
        const graft_json *metadata, *weight_map;
    } fields = {0};
    static const struct graft_member members[] = {
        {"metadata", GRAFT_MEMBER_OBJECT, .offset = offsetof(struct fields, metadata)},
        {"weight_map", GRAFT_MEMBER_OBJECT, .offset = offsetof(struct fields, weight_map)},
        {0},
    };
    memset(index, 0, sizeof *index);
    int status = graft_json_read_strict(path, MAX_INDEX_BYTES, &index->document, error);
    const struct graft_field root = graft_field_root(index->document, path);
    const struct graft_field map = graft_field_get(&root, "weight_map");
    if (status == GRAFT_OK) {
        status = graft_field_read_some(&root, members, &fields, error);
    }
    index->weight_map = fields.weight_map;
    if (status == GRAFT_OK) {
        status = read_entries(&map, index, error);
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
