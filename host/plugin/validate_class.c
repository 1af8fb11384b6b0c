/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "interface/interface.h"
#include "plugin/validate.h"

enum { MAX_CONVERSIONS = 4096 };

/* Validates an interface id: one of the host's, or one that plugins define. */
static int validate_interface(const struct graft_place *place, const struct graft_class *class,
                              struct graft_error *error) {
    int status = graft_check_id(place, "interface_id", class->interface_id, error);
    if (status == GRAFT_OK && graft_is_host_id(class->interface_id) &&
        graft_interface_find(class->interface_id) == NULL) {
        char known[480] = "";
        for (const struct graft_interface *at = graft_interfaces(); at->id != NULL; at++) {
            size_t length = strlen(known);
            (void)snprintf(known + length, sizeof known - length, "%s%s", length > 0 ? ", " : "", at->id);
        }
        status = graft_check_failed(place, "interface_id", error, "expected an interface of this host, got \"%s\"",
                                    class->interface_id);
        graft_error_hint(error, "known: %s", known);
    }
    return status;
}

/* Validates a vtable's head, which all vtables share, before its slots are read. */
static int validate_vtable(const struct graft_place *place, const struct graft_class *class,
                           struct graft_error *error) {
    const struct graft_place vtable = {.parent = place, .field = "forward", .index = -1};
    const struct graft_vtable *head = class->forward;
    int status = graft_check_size(&vtable, head->struct_size, GRAFT_VTABLE_SIZE_1_0, error);
    if (status == GRAFT_OK && head->forward == NULL) {
        status = graft_check_failed(&vtable, "forward", error, "expected a function, got NULL");
    }
    graft_error_hint(error, "the header of %s says what its vtable must hold", class->interface_id);
    return status;
}

/* Checks that `create`, `destroy` and `forward` are all there or all missing, as they share the instance. */
static int validate_functions(const struct graft_place *place, const struct graft_class *class, int is_replacement,
                              struct graft_error *error) {
    int calls_super = (class->flags & GRAFT_CLASS_CALLS_SUPER) != 0;
    int inherits = is_replacement || class->base != NULL;
    if (!inherits && class->describe == NULL) {
        return graft_check_failed(place, "describe", error, "expected a function, got NULL");
    }
    if (!inherits && class->create == NULL) {
        return graft_check_failed(place, "create", error, "expected a function, got NULL");
    }
    if (class->create != NULL && class->forward == NULL) {
        return graft_check_failed(place, "forward", error, "expected a vtable, because there is a create, got NULL");
    }
    if (class->create == NULL && class->destroy != NULL) {
        return graft_check_failed(place, "create", error, "expected a function, because there is a destroy, got NULL");
    }
    if (class->create == NULL && class->forward != NULL && !calls_super) {
        int status =
            graft_check_failed(place, "create", error, "expected a function, because there is a forward, got NULL");
        graft_error_hint(error, "with GRAFT_CLASS_CALLS_SUPER it may be left out");
        return status;
    }
    if (calls_super && !is_replacement) {
        return graft_check_failed(place, "flags", error, "GRAFT_CLASS_CALLS_SUPER is set, but it replaces no class");
    }
    if (calls_super && class->forward == NULL) {
        return graft_check_failed(place, "flags", error,
                                  "GRAFT_CLASS_CALLS_SUPER is set, but there is no forward to call it");
    }
    if (class->describe == NULL && class->forward == NULL && class->base == NULL) {
        return graft_check_failed(place, "describe", error,
                                  "expected a describe or a forward function, got NULL for both");
    }
    return GRAFT_OK;
}

static int validate_conversions(const struct graft_place *place, const struct graft_class *class,
                                struct graft_error *error) {
    const struct graft_array array = {"conversions",      "n_conversions",          "conversion_stride",
                                      class->conversions, class->n_conversions,     0,
                                      MAX_CONVERSIONS,    class->conversion_stride, GRAFT_CONVERSION_SIZE_1_0};
    int status = graft_check_array(place, &array, error);
    if (status == GRAFT_OK && class->n_conversions > 0 && class->describe == NULL) {
        status = graft_check_failed(place, "describe", error,
                                    "expected a function, because there are conversions, got NULL");
        graft_error_hint(error, "a class inherits what it leaves out: describe together with the conversions");
    }
    for (int32_t i = 0; i < class->n_conversions && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "conversions", .index = i};
        status =
            graft_conversion_validate(&element, graft_array_at(class->conversions, class->conversion_stride, i), error);
    }
    return status;
}

int graft_class_validate(const struct graft_place *place, const struct graft_class *class, int is_replacement,
                         struct graft_error *error) {
    int status = graft_check_size(place, class->struct_size, GRAFT_CLASS_SIZE_1_0, error);
    if (status == GRAFT_OK) {
        status = graft_check_class_name(place, "name", class->name, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_flags(place, class->flags, GRAFT_CLASS_CALLS_SUPER | GRAFT_CLASS_BASIC, error);
    }
    if (status == GRAFT_OK && class->base != NULL) {
        status = graft_check_class_name(place, "base", class->base, error);
    }
    if (status == GRAFT_OK) {
        status = validate_interface(place, class, error);
    }
    if (status == GRAFT_OK) {
        status = validate_functions(place, class, is_replacement, error);
    }
    if (status == GRAFT_OK && class->forward != NULL) {
        status = validate_vtable(place, class, error);
    }
    if (status == GRAFT_OK) {
        status = validate_conversions(place, class, error);
    }
    if (status != GRAFT_OK) {
        graft_error_hint(error, "graft/class.h says what a class must hold");
    }
    return status;
}
