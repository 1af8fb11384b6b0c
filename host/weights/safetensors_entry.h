/* SPDX-License-Identifier: Apache-2.0 */
/* One tensor's entry in the header of a safetensors file. All functions are [load]. */
#ifndef GRAFT_WEIGHTS_SAFETENSORS_ENTRY_H
#define GRAFT_WEIGHTS_SAFETENSORS_ENTRY_H

#include "base/json.h"
#include "graft/error.h"
#include "weights/tensor_view.h"

/* The file that entries are read against. */
struct graft_safetensors_data {
    const char *path;
    const unsigned char *start; /* where the tensors' bytes begin */
    int64_t bytes;
};

/* Fills in what an entry says of `view`, whose name is set. */
int graft_safetensors_entry_read(const struct graft_safetensors_data *data, const graft_json *entry,
                                 struct graft_tensor_view *view, struct graft_error *error);

/* Checks and fills in where a tensor lies, given its name, type and shape. */
int graft_safetensors_entry_place(const struct graft_safetensors_data *data, int64_t begin, int64_t end,
                                  struct graft_tensor_view *view, struct graft_error *error);

#endif
