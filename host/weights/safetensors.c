/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/safetensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "weights/safetensors_header.h"

struct graft_safetensors {
    char *path;
    unsigned char *map;
    size_t size;
    struct graft_safetensors_header header;
};

/* Maps the whole file. The mapping outlives the descriptor. */
static int map_file(struct graft_safetensors *file, struct graft_error *error) {
    int fd = -1;
    int status = graft_file_open(file->path, GRAFT_ERROR_MODEL, &fd, &file->size, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (file->size < 8) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, file->path,
                                 "has %zu bytes, but a safetensors file has at least 8", file->size);
    } else {
        void *map = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            file->map = map;
        } else {
            status = graft_fail_errno(error, GRAFT_ERROR_MODEL, file->path, "cannot be mapped", errno);
        }
    }
    (void)close(fd);
    return status;
}

int graft_safetensors_open(const char *path, struct graft_safetensors **file, struct graft_error *error) {
    int status;
    struct graft_safetensors *opened = graft_alloc(1, sizeof *opened);
    if (opened != NULL) {
        opened->path = graft_strdup(path);
    }
    if (opened == NULL || opened->path == NULL) {
        status = graft_fail_memory(error, path);
        goto fail;
    }
    status = map_file(opened, error);
    if (status == GRAFT_OK) {
        status = graft_safetensors_header_read(opened->path, opened->map, opened->size, &opened->header, error);
    }
    if (status != GRAFT_OK) {
        goto fail;
    }
    *file = opened;
    return GRAFT_OK;

fail:
    graft_safetensors_close(opened);
    return status;
}

void graft_safetensors_close(struct graft_safetensors *file) {
    if (file == NULL) {
        return;
    }
    graft_safetensors_header_finish(&file->header);
    if (file->map != NULL) {
        (void)munmap(file->map, file->size);
    }
    graft_free(file->path);
    graft_free(file);
}

size_t graft_safetensors_count(const struct graft_safetensors *file) {
    return file->header.count;
}

const struct graft_tensor_view *graft_safetensors_at(const struct graft_safetensors *file, size_t index) {
    return &file->header.views[index];
}

static int compare_name(const void *name, const void *view) {
    return strcmp(name, ((const struct graft_tensor_view *)view)->name);
}

const struct graft_tensor_view *graft_safetensors_find(const struct graft_safetensors *file, const char *name) {
    return bsearch(name, file->header.views, file->header.count, sizeof *file->header.views, compare_name);
}

const graft_json *graft_safetensors_metadata(const struct graft_safetensors *file) {
    return file->header.metadata;
}

int64_t graft_safetensors_bytes(const struct graft_safetensors *file) {
    return (int64_t)file->size;
}
