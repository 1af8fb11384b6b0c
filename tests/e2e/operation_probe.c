/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin of custom operations for patch files: one that can be reversed, and one that cannot. Compiled with two ids
 * (ID). */
#include <string.h>

#include "graft/plugin.h"

static const struct graft_host *host;

/* An operation from one value to one of the same type and shape. */
static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    struct graft_value_info *output = graft_custom_output(shapes, 0);
    if (shapes->n_inputs != 1 || shapes->n_outputs != 1) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->name, "expected 1 value and 1 target, got %d and %d",
                               (int)shapes->n_inputs, (int)shapes->n_outputs);
    }
    output->dtype = shapes->inputs->dtype;
    output->rank = shapes->inputs->rank;
    memcpy(output->shape, shapes->inputs->shape, sizeof output->shape);
    return GRAFT_OK;
}

/* Inverts or clears the sign of each number, which is the highest bit of its last byte: all numbers here are floats. */
static int change_signs(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                        struct graft_error *error) {
    int64_t size = host->dtype_size(work->inputs->dtype);
    int64_t bytes = (work->end - work->begin) * size;
    const unsigned char *from = work->from[0];
    unsigned char *to = work->to[0];
    (void)error;
    for (int32_t i = 1; i < work->inputs->rank; i++) {
        bytes *= work->inputs->shape[i];
    }
    for (int64_t i = 0; i < bytes; i++) {
        int sign = i % size == size - 1 ? 0x80 : 0;
        to[i] = (unsigned char)(self->reverse != NULL ? from[i] ^ sign : from[i] & ~sign);
    }
    return GRAFT_OK;
}

static const struct graft_custom_operation operations[] = {
    {
        .struct_size = sizeof operations[0],
        .flags = GRAFT_CUSTOM_ROWS,
        .name = "negated",
        .infer = infer,
        .apply = change_signs,
        .reverse = change_signs,
    },
    {
        .struct_size = sizeof operations[0],
        .flags = GRAFT_CUSTOM_ROWS,
        .name = "absolute",
        .infer = infer,
        .apply = change_signs,
    },
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = ID,
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Custom operations for patch files",
    .custom_operations = operations,
    .n_custom_operations = sizeof operations / sizeof operations[0],
    .custom_operation_stride = sizeof operations[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *from, struct graft_error *error) {
    (void)error;
    host = from;
    return &plugin;
}
