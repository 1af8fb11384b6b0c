/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations beyond a module's own parts: conversions, and arguments for the super class. */
#include "base/alloc.h"
#include "base/args.h"
#include "base/fail.h"
#include "model/describe.h"
#include "plugin/validate.h"
#include "registry/conversion_copy.h"

enum { MAX_CONVERSIONS = 4096 };

/* Whether the conversion is lossy. Whether a class is lossy must be known before it describes anything. */
static int is_lossy(const struct graft_conversion *conversion) {
    const struct graft_class cls = {.conversions = conversion, .n_conversions = 1};
    return graft_class_is_lossy(&cls);
}

static int check(const struct graft_place *place, const struct graft_node *node,
                 const struct graft_conversion *conversion, struct graft_error *error) {
    int status = graft_check_size(place, conversion->struct_size, GRAFT_CONVERSION_SIZE_1_0, error);
    if (status == GRAFT_OK) {
        status = graft_conversion_validate(place, conversion, error);
    }
    if (status == GRAFT_OK && is_lossy(conversion)) {
        status = graft_check_failed(place, "operations", error,
                                    "expected a lossy operation among the conversions of the class only");
    }
    if (status == GRAFT_OK && node->n_conversions == MAX_CONVERSIONS) {
        status = graft_check_failed(place, NULL, error, "expected at most %d conversions", (int)MAX_CONVERSIONS);
    }
    return status;
}

int graft_builder_conversion(void *data, const struct graft_conversion *conversion, struct graft_error *error) {
    struct builder *builder = data;
    struct graft_node *node = builder->describing;
    builder->n_by_place++; /* a conversion is the node's own */
    const struct graft_place module = {.file = node->path, .index = -1};
    const struct graft_place described = {
        .parent = &module, .field = builder->describing_class->cls->name, .index = -1};
    const struct graft_place place = {
        .parent = &described, .field = "conversions", .index = (int32_t)node->n_conversions};
    int status = check(&place, node, conversion, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (graft_grow(&node->conversions, &node->conversions_capacity, node->n_conversions, sizeof *node->conversions) !=
        0) {
        return graft_fail_memory(error, node->path);
    }
    struct graft_conversion *copy = &node->conversions[node->n_conversions++];
    *copy = (struct graft_conversion){0};
    return graft_conversion_copy(conversion, copy) == 0 ? GRAFT_OK : graft_fail_memory(error, node->path);
}

int graft_builder_super(void *data, const struct graft_args *more, struct graft_error *error) {
    struct builder *builder = data;
    struct graft_node *node = builder->describing;
    const struct graft_class *cls = builder->describing_class->cls;
    if (node->super == NULL || !graft_args_valid(more)) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, node->path, "%s describes its super: %s", cls->name,
                               node->super == NULL ? "it calls none" : "invalid arguments");
    }
    for (struct graft_node *inner = node->super; inner != NULL; inner = inner->super) {
        if (graft_args_override(&inner->args, more) != 0) {
            return graft_fail_memory(error, node->path);
        }
        if (inner->args.count > GRAFT_MAX_ARGS) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, node->path,
                                   "%s describes its super: expected at most %d arguments, got %d", cls->name,
                                   (int)GRAFT_MAX_ARGS, (int)inner->args.count);
        }
    }
    return graft_builder_check_arguments(builder, "its super", "", cls->interface_id, &node->super->args, error);
}
