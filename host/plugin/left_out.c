/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/left_out.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "graft/family.h"

static char *names_of(const struct graft_plugin *descriptor) {
    struct graft_text names = {0};
    for (int32_t i = 0; i < descriptor->n_families; i++) {
        const struct graft_family *family = graft_plugin_family(descriptor, i);
        graft_text_printf(&names, "\n%s\n", family->model_type);
        for (int32_t k = 0; k < family->n_classes; k++) {
            graft_text_printf(&names, "%s\n", graft_family_class(family, k)->name);
        }
    }
    char *copy = names.failed ? NULL : graft_strdup(names.bytes);
    graft_text_free(&names);
    return copy;
}

int graft_left_out_add(struct graft_left_out **left_out, size_t *n, size_t *capacity,
                       const struct graft_plugin *descriptor) {
    if (descriptor->n_families == 0) {
        return 0;
    }
    struct graft_left_out added = {graft_strdup(descriptor->id), names_of(descriptor)};
    if (added.id == NULL || added.names == NULL || graft_grow(left_out, capacity, *n, sizeof **left_out) != 0) {
        graft_free(added.id);
        graft_free(added.names);
        return -1;
    }
    (*left_out)[(*n)++] = added;
    return 0;
}

const char *graft_left_out_find(const struct graft_left_out *left_out, size_t n, const char *name) {
    char *line = graft_format("\n%s\n", name);
    const char *found = NULL;
    for (size_t i = 0; i < n && line != NULL && found == NULL; i++) {
        found = strstr(left_out[i].names, line) != NULL ? left_out[i].id : NULL;
    }
    graft_free(line);
    return found;
}

void graft_left_out_free(struct graft_left_out *left_out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        graft_free(left_out[i].id);
        graft_free(left_out[i].names);
    }
    graft_free(left_out);
}
