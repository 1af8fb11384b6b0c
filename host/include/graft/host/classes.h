/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of a library: what models are built of and what can be replaced. */
#ifndef GRAFT_HOST_CLASSES_H
#define GRAFT_HOST_CLASSES_H

#include <stddef.h>
#include <stdint.h>

#include "graft/class.h"
#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_library;

struct graft_class_info {
    uint32_t struct_size;
    int32_t is_private;            /* 1: found only by the classes of its plugin; nothing replaces it */
    const struct graft_class *cls; /* name, interface, flags, conversions: graft/class.h */
    const char *plugin;            /* id of the plugin that brings it; NULL: the host's own */
    const char *file;              /* of that plugin; or NULL */
};

/* [any] The host's classes and the private ones of plugins, in the order of registration. The caller frees the array
 * with graft_classes_free; classes and strings belong to whoever registered them and are valid as long as the library.
 * Replacements are not included: see their plugin (graft/host/plugins.h) or the patch mapping
 * (graft/host/registry.h). */
int graft_library_classes(struct graft_library *library, struct graft_class_info **classes, size_t *n,
                          struct graft_error *error);

/* [any] Frees the array. Accepts NULL. */
void graft_classes_free(struct graft_class_info *classes);

/* [any] The class with that name among them, or else among the replacements that plugins bring. An unknown name is
 * GRAFT_ERROR_USAGE; the error's hint suggests similar names. */
int graft_library_find_class(struct graft_library *library, const char *name, const struct graft_class **cls,
                             struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
