/* SPDX-License-Identifier: Apache-2.0 */
/* The classes that a library has: what models are built of, and what can be replaced. */
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

/* [any] The classes of the host and the private ones of plugins, in the order of registration: an array of the
 * caller's, who frees it with graft_classes_free. Classes and strings are those who registered them gave, valid as long
 * as the library. Replacements are no part of it: they are their plugin's (graft/host/plugins.h), or in the mapping
 * (graft/host/registry.h). */
int graft_library_classes(struct graft_library *library, struct graft_class_info **classes, size_t *n,
                          struct graft_error *error);

/* [any] Frees the array. Takes NULL. */
void graft_classes_free(struct graft_class_info *classes);

/* [any] The class of that name among them, or else among the replacements that plugins bring. An unknown name is
 * GRAFT_ERROR_USAGE; the error's hint has the names that it may have been meant for. */
int graft_library_find_class(struct graft_library *library, const char *name, const struct graft_class **cls,
                             struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
