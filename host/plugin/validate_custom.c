/* SPDX-License-Identifier: Apache-2.0 */
/* Validates custom operations and the names under which a descriptor lists them. */
#include <string.h>

#include "plugin/validate.h"
#include "value/operations.h"

enum { MAX_CUSTOM_OPERATIONS = 256 };

int graft_custom_operation_validate(const struct graft_place *place, const struct graft_custom_operation *custom,
                                    struct graft_error *error) {
    int status = graft_check_size(place, custom->struct_size, GRAFT_CUSTOM_OPERATION_SIZE_1_0, error);
    status = status == GRAFT_OK ? graft_check_text(place, "name", custom->name, GRAFT_MAX_NAME, error) : status;
    if (status == GRAFT_OK && custom->infer == NULL) {
        status = graft_check_failed(place, "infer", error, "expected a function, got NULL");
    }
    if (status == GRAFT_OK && custom->apply == NULL) {
        status = graft_check_failed(place, "apply", error, "expected a function, got NULL");
    }
    if (status == GRAFT_OK && (custom->flags & GRAFT_CUSTOM_LOSSY) != 0 && custom->reverse != NULL) {
        status =
            graft_check_failed(place, "reverse", error, "expected NULL, because the operation is GRAFT_CUSTOM_LOSSY");
    }
    return status == GRAFT_OK
               ? graft_check_flags(place, custom->flags, GRAFT_CUSTOM_SEES_F32 | GRAFT_CUSTOM_LOSSY, error)
               : status;
}

/* Validates a name, which patch files must be able to write and must not confuse with a built-in operation. */
static int validate_name(const struct graft_place *place, const struct graft_plugin *plugin, int32_t index,
                         struct graft_error *error) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const char *name = graft_plugin_custom_operation(plugin, index)->name;
    if (name[strspn(name, letters)] != '\0') {
        return graft_check_failed(place, "name", error, "expected only letters, digits, '_' and '-', got \"%s\"", name);
    }
    if (graft_operation_kind(name) != 0) {
        return graft_check_failed(place, "name", error, "\"%s\" is the name of an operation of the host", name);
    }
    for (int32_t i = 0; i < index; i++) {
        if (strcmp(graft_plugin_custom_operation(plugin, i)->name, name) == 0) {
            return graft_check_failed(place, "name", error, "\"%s\" is also the name of custom_operations[%d]", name,
                                      (int)i);
        }
    }
    return GRAFT_OK;
}

int graft_custom_operations_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                                     struct graft_error *error) {
    const struct graft_array array = {
        "custom_operations",       "n_custom_operations",           "custom_operation_stride",
        plugin->custom_operations, plugin->n_custom_operations,     0,
        MAX_CUSTOM_OPERATIONS,     plugin->custom_operation_stride, GRAFT_CUSTOM_OPERATION_SIZE_1_0};
    int status = graft_check_array(place, &array, error);
    for (int32_t i = 0; i < plugin->n_custom_operations && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "custom_operations", .index = i};
        status = graft_custom_operation_validate(&element, graft_plugin_custom_operation(plugin, i), error);
        status = status == GRAFT_OK ? validate_name(&element, plugin, i, error) : status;
    }
    if (status != GRAFT_OK) {
        graft_error_hint(error, "graft/custom_operation.h says what an operation must hold");
    }
    return status;
}
