/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/recording.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

static char *full_name(const struct graft_recording *recording, const char *name, size_t sequence) {
    return recording->n == 1 ? graft_strdup(name) : graft_format("%s.%zu", name, sequence);
}

struct graft_recorded *graft_recording_find(const struct graft_recording *recording, const char *name) {
    for (size_t i = 0; i < recording->count; i++) {
        if (strcmp(recording->items[i].name, name) == 0) {
            return &recording->items[i];
        }
    }
    return NULL;
}

int graft_recording_has(const struct graft_recording *recording, const char *start) {
    for (size_t i = 0; i < recording->count; i++) {
        if (strncmp(recording->items[i].name, start, strlen(start)) == 0) {
            return 1;
        }
    }
    return 0;
}

float *graft_recording_add(struct graft_recording *recording, const char *name, size_t sequence, int32_t rank,
                           const int64_t *shape) {
    size_t rows = (size_t)shape[0] * (size_t)(rank == 3 ? shape[1] : 1);
    char *own_name = full_name(recording, name, sequence);
    float *data = graft_alloc(rows, (size_t)shape[rank - 1] * sizeof *data);
    if (own_name == NULL || data == NULL ||
        graft_grow(&recording->items, &recording->capacity, recording->count, sizeof *recording->items) != 0) {
        graft_free(own_name);
        graft_free(data);
        return NULL;
    }
    struct graft_recorded *item = graft_recording_find(recording, own_name);
    if (item != NULL) {
        graft_free((void *)(uintptr_t)item->name);
        graft_free((void *)(uintptr_t)item->data);
    } else {
        item = &recording->items[recording->count++];
    }
    *item = (struct graft_recorded){.struct_size = sizeof *item, .rank = rank, .name = own_name, .data = data};
    memcpy(item->shape, shape, (size_t)rank * sizeof *shape);
    return data;
}

const struct graft_recorded *graft_recording_at(const struct graft_recording *recording, size_t i) {
    return i < recording->count ? &recording->items[i] : NULL;
}

void graft_recording_free(struct graft_recording *recording) {
    if (recording != NULL) {
        graft_forward_hooks_remove(recording->handle);
        for (size_t i = 0; i < recording->count; i++) {
            graft_free((void *)(uintptr_t)recording->items[i].name);
            graft_free((void *)(uintptr_t)recording->items[i].data);
        }
        graft_free(recording->items);
        graft_free(recording->lengths);
        graft_free(recording);
    }
}
