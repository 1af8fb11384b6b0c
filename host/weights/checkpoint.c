/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* for madvise */
#include "weights/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "weights/checkpoint_parts.h"

static const char single_name[] = "model.safetensors";

int graft_checkpoint_add_note(struct graft_checkpoint *checkpoint, char *note_take, struct graft_error *error) {
    if (note_take == NULL || graft_grow(&checkpoint->notes, &checkpoint->note_capacity, checkpoint->n_notes,
                                        sizeof *checkpoint->notes) != 0) {
        graft_free(note_take);
        return graft_fail_memory(error, checkpoint->directory);
    }
    graft_error_clean(note_take);
    checkpoint->notes[checkpoint->n_notes++] = note_take;
    return GRAFT_OK;
}

int graft_checkpoint_add_file(struct graft_checkpoint *checkpoint, const char *name, struct graft_error *error) {
    if (graft_grow(&checkpoint->parts, &checkpoint->part_capacity, checkpoint->n_parts, sizeof *checkpoint->parts) !=
        0) {
        return graft_fail_memory(error, checkpoint->directory);
    }
    /* counted before it is complete, so that closing the checkpoint frees it if something below fails */
    struct graft_checkpoint_part *part = &checkpoint->parts[checkpoint->n_parts++];
    memset(part, 0, sizeof *part);
    part->name = graft_strdup(name);
    part->path = graft_path_join(checkpoint->directory, name);
    if (part->name == NULL || part->path == NULL) {
        return graft_fail_memory(error, checkpoint->directory);
    }
    int status = graft_safetensors_open(part->path, &part->safetensors, error);
    if (status == GRAFT_OK) {
        part->file = (struct graft_checkpoint_file){
            .name = part->name,
            .path = part->path,
            .bytes = graft_safetensors_bytes(part->safetensors),
            .tensors = graft_safetensors_count(part->safetensors),
            .metadata = graft_safetensors_metadata(part->safetensors),
        };
    }
    return status;
}

/* Sets the error of a directory without weights, with a hint if it has weights in another format. */
static int no_weights(const char *directory, struct graft_error *error) {
    int status = graft_error_set(error, GRAFT_ERROR_MODEL, directory, "expected %s or %s, found neither", single_name,
                                 GRAFT_CHECKPOINT_INDEX);
    graft_checkpoint_hint_unread(directory, error);
    return status;
}

static int open_files(struct graft_checkpoint *checkpoint, struct graft_error *error) {
    char *single_path = graft_path_join(checkpoint->directory, single_name);
    char *index_path = graft_path_join(checkpoint->directory, GRAFT_CHECKPOINT_INDEX);
    int status;
    if (single_path == NULL || index_path == NULL) {
        status = graft_fail_memory(error, checkpoint->directory);
    } else if (graft_file_exists(single_path)) {
        status = graft_checkpoint_add_file(checkpoint, single_name, error);
        if (status == GRAFT_OK && graft_file_exists(index_path)) {
            char *note = graft_format("%s is ignored, because %s exists", GRAFT_CHECKPOINT_INDEX, single_name);
            status = graft_checkpoint_add_note(checkpoint, note, error);
        }
    } else if (graft_file_exists(index_path)) {
        status = graft_checkpoint_add_indexed(checkpoint, index_path, error);
    } else {
        status = no_weights(checkpoint->directory, error);
    }
    graft_free(single_path);
    graft_free(index_path);
    return status;
}

static int compare_tensors(const void *left, const void *right) {
    const struct graft_tensor_view *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

int graft_checkpoint_sort(struct graft_checkpoint *checkpoint, struct graft_error *error) {
    qsort(checkpoint->tensors, checkpoint->count, sizeof *checkpoint->tensors, compare_tensors);
    for (size_t i = 1; i < checkpoint->count; i++) {
        const struct graft_tensor_view *a = checkpoint->tensors[i - 1], *b = checkpoint->tensors[i];
        if (strcmp(a->name, b->name) == 0) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, checkpoint->directory,
                                   "tensor \"%.300s\" is in two files, \"%.300s\" and \"%.300s\"", a->name, a->file,
                                   b->file);
        }
    }
    return GRAFT_OK;
}

static int collect_tensors(struct graft_checkpoint *checkpoint, struct graft_error *error) {
    size_t total = 0;
    for (size_t i = 0; i < checkpoint->n_parts; i++) {
        total += checkpoint->parts[i].file.tensors;
    }
    checkpoint->tensors = graft_alloc(total, sizeof *checkpoint->tensors);
    if (checkpoint->tensors == NULL) {
        return graft_fail_memory(error, checkpoint->directory);
    }
    for (size_t i = 0; i < checkpoint->n_parts; i++) {
        const struct graft_checkpoint_part *part = &checkpoint->parts[i];
        for (size_t j = 0; j < part->file.tensors; j++) {
            checkpoint->tensors[checkpoint->count++] = graft_safetensors_at(part->safetensors, j);
        }
    }
    return graft_checkpoint_sort(checkpoint, error);
}

int graft_checkpoint_open(const char *directory, struct graft_checkpoint **checkpoint, struct graft_error *error) {
    int status;
    if (access(directory, F_OK) != 0) {
        return graft_fail_errno(error, GRAFT_ERROR_MODEL, directory, "cannot be found", errno);
    }
    struct graft_checkpoint *opened = graft_alloc(1, sizeof *opened);
    if (opened != NULL) {
        opened->directory = graft_strdup(directory);
    }
    if (opened == NULL || opened->directory == NULL) {
        status = graft_fail_memory(error, directory);
    } else {
        status = open_files(opened, error);
    }
    if (status == GRAFT_OK) {
        status = collect_tensors(opened, error);
    }
    if (status != GRAFT_OK) {
        graft_checkpoint_close(opened);
        return status;
    }
    *checkpoint = opened;
    return GRAFT_OK;
}

int graft_checkpoint_open_none(const char *directory, struct graft_checkpoint **checkpoint, struct graft_error *error) {
    struct graft_checkpoint *none = graft_alloc(1, sizeof *none);
    if (none == NULL || (none->directory = graft_strdup(directory)) == NULL) {
        graft_checkpoint_close(none);
        return graft_fail_memory(error, directory);
    }
    *checkpoint = none;
    return GRAFT_OK;
}

void graft_checkpoint_close(struct graft_checkpoint *checkpoint) {
    if (checkpoint == NULL) {
        return;
    }
    for (size_t i = 0; i < checkpoint->n_parts; i++) {
        graft_safetensors_close(checkpoint->parts[i].safetensors);
        graft_free(checkpoint->parts[i].name);
        graft_free(checkpoint->parts[i].path);
    }
    for (size_t i = 0; i < checkpoint->n_notes; i++) {
        graft_free(checkpoint->notes[i]);
    }
    for (size_t i = 0; i < checkpoint->n_absent; i++) {
        for (size_t j = 0; j < checkpoint->absent[i].n_tensors; j++) {
            graft_free(checkpoint->absent[i].tensors[j]);
        }
        graft_free(checkpoint->absent[i].tensors);
        graft_free(checkpoint->absent[i].name);
    }
    graft_checkpoint_free_made(checkpoint);
    graft_free(checkpoint->absent);
    graft_free(checkpoint->parts);
    graft_free(checkpoint->notes);
    graft_free(checkpoint->tensors);
    graft_free(checkpoint->directory);
    graft_free(checkpoint);
}

const char *graft_checkpoint_directory(const struct graft_checkpoint *checkpoint) {
    return checkpoint->directory;
}

size_t graft_checkpoint_count(const struct graft_checkpoint *checkpoint) {
    return checkpoint->count;
}

const struct graft_tensor_view *graft_checkpoint_at(const struct graft_checkpoint *checkpoint, size_t index) {
    return checkpoint->tensors[index];
}

size_t graft_checkpoint_lower_bound(const struct graft_checkpoint *checkpoint, const char *name) {
    size_t low = 0, high = checkpoint->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(checkpoint->tensors[middle]->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

size_t graft_checkpoint_number(const struct graft_checkpoint *checkpoint, const struct graft_tensor_view *tensor) {
    size_t at = graft_checkpoint_lower_bound(checkpoint, tensor->name);
    return at < graft_checkpoint_count(checkpoint) && graft_checkpoint_at(checkpoint, at) == tensor ? at : SIZE_MAX;
}

void graft_checkpoint_drop_pages(const struct graft_tensor_view *tensor) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), data = (uintptr_t)tensor->data;
    uintptr_t begin = (data + page - 1) / page * page, end = (data + (uintptr_t)tensor->bytes) / page * page;
    if (!tensor->is_made && begin < end) {
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
}

const struct graft_tensor_view *graft_checkpoint_find(const struct graft_checkpoint *checkpoint, const char *name) {
    size_t at = graft_checkpoint_lower_bound(checkpoint, name);
    return at < checkpoint->count && strcmp(checkpoint->tensors[at]->name, name) == 0 ? checkpoint->tensors[at] : NULL;
}

size_t graft_checkpoint_file_count(const struct graft_checkpoint *checkpoint) {
    return checkpoint->n_parts;
}

const struct graft_checkpoint_file *graft_checkpoint_file_at(const struct graft_checkpoint *checkpoint, size_t index) {
    return &checkpoint->parts[index].file;
}

size_t graft_checkpoint_absent_count(const struct graft_checkpoint *checkpoint) {
    return checkpoint->n_absent;
}

const struct graft_absent_file *graft_checkpoint_absent_at(const struct graft_checkpoint *checkpoint, size_t index) {
    return &checkpoint->absent[index];
}

size_t graft_checkpoint_note_count(const struct graft_checkpoint *checkpoint) {
    return checkpoint->n_notes;
}

const char *graft_checkpoint_note_at(const struct graft_checkpoint *checkpoint, size_t index) {
    return checkpoint->notes[index];
}
