/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/safetensors_write.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "weights/safetensors_layout.h"

int graft_safetensors_write(const char *path, const struct graft_tensor_view *tensors, size_t n,
                            const graft_json *metadata, struct graft_error *error) {
    struct graft_safetensors_layout layout;
    int status = graft_safetensors_layout_make(path, tensors, n, metadata, GRAFT_SAFETENSORS_BOUNDARY, &layout, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_file_piece *pieces = graft_alloc(n + 1, sizeof *pieces);
    if (pieces == NULL) {
        graft_safetensors_layout_finish(&layout);
        return graft_fail_memory(error, path);
    }
    pieces[0] = (struct graft_file_piece){layout.header.bytes, layout.header.length};
    for (size_t i = 0; i < n; i++) {
        pieces[i + 1] = (struct graft_file_piece){layout.order[i]->data, (size_t)layout.order[i]->bytes};
    }
    status = graft_file_write(path, pieces, n + 1, error);
    graft_free(pieces);
    graft_safetensors_layout_finish(&layout);
    return status;
}
