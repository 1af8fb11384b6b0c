/* SPDX-License-Identifier: Apache-2.0 */
/* A patch file: a load patch in JSON (docs/patch.md). */
#ifndef GRAFT_LIBRARY_PATCH_FILE_H
#define GRAFT_LIBRARY_PATCH_FILE_H

#include "graft/host/registry.h"
#include "names/transform_read.h"
#include "registry/registry.h"

struct patch_file {
    struct graft_load_patch patch; /* valid until the file is finished */
    graft_json *document;
    struct transforms_read transforms;
    struct graft_named_operation *operations; /* operations that transforms may name */
    struct graft_patch *classes;
    const char ***model_types; /* [n_classes]: NULL-terminated lists, or NULL */
    size_t n_classes;
    const char **without;
};

/* [load] Reads and checks a file; names of replacing classes are looked up in the snapshot, which must outlive the
 * result. Errors are GRAFT_ERROR_MODEL and name file and field. The caller finishes it, even on failure. */
int graft_patch_file_read(const char *path, const struct graft_snapshot *snapshot, struct patch_file *file,
                          struct graft_error *error);

void graft_patch_file_finish(struct patch_file *file);

#endif
