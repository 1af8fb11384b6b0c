/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one tensor's entry in the header of a safetensors file. All functions are [load]. */
#ifndef GRAFT_WEIGHTS_SAFETENSORS_ENTRY_H
#define GRAFT_WEIGHTS_SAFETENSORS_ENTRY_H

#include "base/json.h"
#include "graft/error.h"
#include "weights/tensor_view.h"

/* The file whose entries are read. */
struct graft_safetensors_data {
    const char *path;
    const unsigned char *start; /* where the tensors' bytes begin */
    int64_t bytes;
};

/* Fills in `view`, whose name is set, from its entry. */
int graft_safetensors_entry_read(const struct graft_safetensors_data *data, const graft_json *entry,
                                 struct graft_tensor_view *view, struct graft_error *error);

/* Checks a tensor's offsets against its name, type and shape, and fills in its data. */
int graft_safetensors_entry_place(const struct graft_safetensors_data *data, int64_t begin, int64_t end,
                                  struct graft_tensor_view *view, struct graft_error *error);

#endif
