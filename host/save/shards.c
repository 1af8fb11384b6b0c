/* SPDX-License-Identifier: Apache-2.0 */
#include "save/shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"

/* Marks tensors of the file being filled, which gets its number when it is full. */
#define FILLING SIZE_MAX

/* Numbers the file that holds tensors [first, end). */
static void close_file(struct save_shards *shards, size_t first, size_t end) {
    int filled = 0;
    for (size_t i = first; i < end; i++) {
        if (shards->of[i] == FILLING) {
            shards->of[i] = shards->n;
            filled = 1;
        }
    }
    shards->n += (size_t)filled;
}

int graft_save_shards_split(const struct save_content *content, int64_t max_bytes, struct save_shards *shards,
                            struct graft_error *error) {
    int64_t size = 0; /* bytes in the file being filled */
    size_t first = 0; /* the first tensor of that file */
    *shards = (struct save_shards){graft_alloc(content->n_tensors, sizeof *shards->of), 0};
    if (shards->of == NULL) {
        return graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < content->n_tensors; i++) {
        int64_t bytes = content->tensors[i].bytes;
        if (bytes > max_bytes) {
            shards->of[i] = shards->n++;
            continue;
        }
        if (bytes > max_bytes - size) {
            close_file(shards, first, i);
            first = i;
            size = 0;
        }
        shards->of[i] = FILLING;
        size += bytes;
    }
    close_file(shards, first, content->n_tensors);
    shards->n += shards->n == 0;
    return GRAFT_OK;
}

void graft_save_shards_finish(struct save_shards *shards) {
    graft_free(shards->of);
    *shards = (struct save_shards){0};
}

void graft_save_shard_name(const struct save_shards *shards, size_t shard, char name[SAVE_SHARD_NAME]) {
    if (shards->n == 1) {
        (void)snprintf(name, SAVE_SHARD_NAME, "model.safetensors");
    } else {
        (void)snprintf(name, SAVE_SHARD_NAME, "model-%05zu-of-%05zu.safetensors", shard + 1, shards->n);
    }
}

/* A tensor and its file, for sorting by name as the reference does. */
struct line {
    const char *name;
    size_t shard;
};

static int compare_lines(const void *left, const void *right) {
    const struct line *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static graft_json *weight_map(const struct save_shards *shards, const struct save_content *content) {
    struct line *lines = graft_alloc(content->n_tensors, sizeof *lines);
    graft_json *map = lines != NULL ? graft_json_new_object() : NULL;
    for (size_t i = 0; i < content->n_tensors && map != NULL; i++) {
        lines[i] = (struct line){content->tensors[i].form.name, shards->of[i]};
    }
    if (map != NULL && content->n_tensors > 0) {
        qsort(lines, content->n_tensors, sizeof *lines, compare_lines);
    }
    for (size_t i = 0; i < content->n_tensors && map != NULL; i++) {
        char name[SAVE_SHARD_NAME];
        graft_save_shard_name(shards, lines[i].shard, name);
        if (graft_json_set_take(map, lines[i].name, graft_json_new_string(name)) != 0) {
            graft_json_free(map);
            map = NULL;
        }
    }
    graft_free(lines);
    return map;
}

void graft_save_shards_index(const struct save_shards *shards, const struct save_content *content,
                             struct graft_text *text) {
    graft_json *document = graft_json_new_object();
    graft_json *metadata = graft_json_new_object();
    int failed = graft_json_set_take(metadata, "total_parameters", graft_json_new_int(content->elements)) != 0 ||
                 graft_json_set_take(metadata, "total_size", graft_json_new_int(content->bytes)) != 0;
    failed |= graft_json_set_take(document, "metadata", metadata) != 0;
    failed |= graft_json_set_take(document, "weight_map", weight_map(shards, content)) != 0;
    char *dump = !failed ? graft_json_dump(document, 2) : NULL;
    if (dump != NULL) {
        graft_text_add_string(text, dump);
        graft_text_add_string(text, "\n");
    } else {
        text->failed = 1;
    }
    graft_free(dump);
    graft_json_free(document);
}
