/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the load patch of a model. */
#include "base/fail.h"
#include "library/library.h"
#include "library/patch_file.h"
#include "registry/mapping.h"

int graft_model_choose_patch(const struct graft_model_options *options, struct graft_snapshot **snapshot,
                             struct patch_file *file, const struct graft_load_patch **patch,
                             struct graft_error *error) {
    struct graft_snapshot *made = NULL;
    int status = GRAFT_OK;
    *patch = NULL;
    if (options == NULL) {
        return GRAFT_OK;
    }
    if (options->patch != NULL && options->patch_file != NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, options->patch_file, "expected patch or patch_file, got both");
    }
    *patch = options->patch;
    if (options->patch_file != NULL) {
        status = graft_patch_file_read(options->patch_file, *snapshot, file, error);
        *patch = &file->patch;
    } else {
        status = graft_check_given(*patch, GRAFT_LOAD_PATCH_SIZE_1_0, "struct graft_load_patch", error);
    }
    if (status == GRAFT_OK && *patch != NULL) {
        status = graft_check_structs((*patch)->conversions, (*patch)->n_conversions, GRAFT_WEIGHT_TRANSFORM_SIZE_1_0,
                                     "struct graft_weight_transform", error);
    }
    if (status == GRAFT_OK && *patch != NULL && (*patch)->n_classes > 0) {
        status = graft_snapshot_with_patches(*snapshot, (*patch)->classes, (*patch)->n_classes, &made, error);
    }
    if (made != NULL) {
        graft_snapshot_release(*snapshot);
        *snapshot = made;
    }
    return status;
}
