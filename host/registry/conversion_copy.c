/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/conversion_copy.h"

#include <string.h>

#include "base/alloc.h"

static void free_names(const char *const *names, int32_t n) {
    for (int32_t i = 0; names != NULL && i < n; i++) {
        graft_free((void *)(uintptr_t)names[i]);
    }
    graft_free((void *)(uintptr_t)names);
}

static const char *const *copy_names(const char *const *names, int32_t n) {
    const char **copy = graft_alloc((size_t)n + 1, sizeof *copy);
    for (int32_t i = 0; copy != NULL && i < n; i++) {
        copy[i] = graft_strdup(names[i]);
        if (copy[i] == NULL) {
            free_names(copy, i);
            return NULL;
        }
    }
    return copy;
}

int graft_conversion_copy(const struct graft_conversion *conversion, struct graft_conversion *copy) {
    size_t bytes = (size_t)conversion->n_operations * conversion->operation_stride;
    void *operations = graft_alloc(bytes + 1, 1);
    graft_struct_copy(copy, sizeof *copy, conversion);
    copy->sources = copy_names(conversion->sources, conversion->n_sources);
    copy->targets = copy_names(conversion->targets, conversion->n_targets);
    copy->operations = operations;
    if (operations != NULL && bytes > 0) {
        memcpy(operations, conversion->operations, bytes);
    }
    return copy->sources != NULL && copy->targets != NULL && operations != NULL ? 0 : -1;
}

void graft_conversion_finish(const struct graft_conversion *copy) {
    free_names(copy->sources, copy->n_sources);
    free_names(copy->targets, copy->n_targets);
    graft_free((void *)(uintptr_t)copy->operations);
}
