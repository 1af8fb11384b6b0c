/* SPDX-License-Identifier: Apache-2.0 */
/* The model families that a library has: which `model_type`s of config.json it can open. */
#ifndef GRAFT_HOST_FAMILIES_H
#define GRAFT_HOST_FAMILIES_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/family.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_library;

struct graft_family_info {
    uint32_t struct_size;
    int32_t is_used;                   /* 0: another family of the same model type goes before it */
    const struct graft_family *family; /* graft/family.h */
    const char *plugin;                /* id of the plugin that brings it; NULL: the host's own */
    const char *file;                  /* of that plugin; or NULL */
};

/* [any] The families of the host and of plugins, by model type: an array of the caller's, who frees it with
 * graft_families_free. Families and strings are those who registered them gave, valid as long as the library. */
int graft_library_families(struct graft_library *library, struct graft_family_info **families, size_t *n,
                           struct graft_error *error);

/* [any] Frees such an array; takes NULL. */
void graft_families_free(struct graft_family_info *families);

#ifdef __cplusplus
}
#endif

#endif
