/* SPDX-License-Identifier: Apache-2.0 */
#include "interface/views.h"

#include <string.h>

#include "graft/batch.h"
#include "interface/interface.h"

static int64_t number_at(const void *base, size_t offset) {
    int64_t number;
    memcpy(&number, (const char *)base + offset, sizeof number);
    return number;
}

static void *pointer_at(const void *base, size_t offset) {
    void *pointer;
    memcpy(&pointer, (const char *)base + offset, sizeof pointer);
    return pointer;
}

static int64_t size_of(const struct graft_interface *interface, const struct graft_array_size *size,
                       const struct graft_widths *widths, const void *args) {
    switch (size->from) {
    case GRAFT_SIZE_FIELD:
        return number_at(args, size->offset);
    case GRAFT_SIZE_TOKENS:
        return ((const struct graft_batch *)pointer_at(args, interface->batch_field))->tokens;
    case GRAFT_SIZE_SEQUENCES:
        return ((const struct graft_batch *)pointer_at(args, interface->batch_field))->sequences;
    case GRAFT_SIZE_WIDTH:
        return number_at(widths, size->offset);
    case GRAFT_SIZE_ARG:
        return graft_args_int(&widths->args, size->arg, 0);
    case GRAFT_SIZE_FUNCTION:
        return size->function(widths, args);
    default:
        return 1;
    }
}

static int has_optional(const struct graft_interface *interface, const void *args) {
    int has = 1;
    for (const struct graft_interface_array *at = interface->arrays; at->name != NULL; at++) {
        has &= (at->flags & GRAFT_ARRAY_OPTIONAL) == 0 || pointer_at(args, at->field) != NULL;
    }
    return has;
}

int32_t graft_interface_views(const struct graft_interface *interface, const struct graft_widths *widths,
                              const void *args, struct graft_view *views) {
    int32_t n = 0;
    for (const struct graft_interface_array *at = interface->arrays; at->name != NULL; at++) {
        int in_place = (at->flags & GRAFT_ARRAY_WITH_RESIDUAL) != 0 && has_optional(interface, args);
        const struct graft_view view = {.name = at->name,
                                        .direction = in_place ? GRAFT_VIEW_IN_OUT : at->direction,
                                        .dtype = at->dtype,
                                        .rows = size_of(interface, &at->rows, widths, args),
                                        .columns = size_of(interface, &at->columns, widths, args),
                                        .data = pointer_at(args, at->field),
                                        .field = at->field};
        if (view.data == NULL && (at->flags & GRAFT_ARRAY_OPTIONAL) != 0) {
            continue;
        }
        if (view.columns <= 0) {
            return 0;
        }
        views[n++] = view;
    }
    return n;
}
