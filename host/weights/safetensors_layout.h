/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of a safetensors file: the header, then the tensors' bytes. Tensors with larger elements come first, and
 * those with elements of the same size are sorted by name, so that every tensor is aligned to its type. If all tensors
 * have the same type, the file is the one that the official implementation writes.
 */
#ifndef GRAFT_WEIGHTS_SAFETENSORS_LAYOUT_H
#define GRAFT_WEIGHTS_SAFETENSORS_LAYOUT_H

#include <stddef.h>

#include "base/json.h"
#include "base/text.h"
#include "graft/error.h"
#include "weights/tensor_view.h"

/* Alignment of a file's data: that of the official implementation, or a cache line, so that a load of a whole line
 * touches no second one. */
enum { GRAFT_SAFETENSORS_BOUNDARY = 8, GRAFT_SAFETENSORS_LINE = 64 };

struct graft_safetensors_layout {
    struct graft_text header; /* the start of the file: the length, and the header */
    /* [n]: pointers to the given tensors, in the order in which their bytes follow */
    const struct graft_tensor_view **order;
};

/* [load] Lays out `n` tensors, whose `data` and `file` are not read. `metadata` is an object of strings, or NULL. The
 * data begin at a multiple of `boundary`. `path` is for messages. Tensors that no file can hold are
 * GRAFT_ERROR_INTERNAL: two of the same name, a name that is not UTF-8, a size that does not fit the shape. On failure
 * `layout` is finished. */
int graft_safetensors_layout_make(const char *path, const struct graft_tensor_view *tensors, size_t n,
                                  const graft_json *metadata, size_t boundary, struct graft_safetensors_layout *layout,
                                  struct graft_error *error);
void graft_safetensors_layout_finish(struct graft_safetensors_layout *layout);

#endif
