/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How tensors lie in a safetensors file: the header, then their bytes in an order. Larger element types come first,
 * those of one size by name, so that every tensor lies on a boundary of its type: with one type of tensors the bytes
 * are those that the official implementation writes.
 */
#ifndef GRAFT_WEIGHTS_SAFETENSORS_LAYOUT_H
#define GRAFT_WEIGHTS_SAFETENSORS_LAYOUT_H

#include <stddef.h>

#include "base/json.h"
#include "base/text.h"
#include "graft/error.h"
#include "weights/tensor_view.h"

/* Where the data of a file begin, from its first byte: as the official implementation has it, or on a cache line, so
 * that loads of a whole one touch no second. */
enum { GRAFT_SAFETENSORS_BOUNDARY = 8, GRAFT_SAFETENSORS_LINE = 64 };

struct graft_safetensors_layout {
    struct graft_text header;               /* what the file starts with: the length and the header itself */
    const struct graft_tensor_view **order; /* [n]: whose bytes follow; they point into the tensors given */
};

/* [load] Lays out `n` tensors, whose `data` and `file` are not read. `metadata` is an object of strings, or NULL.
 * The data begin on a multiple of `boundary`. `path` is for messages. GRAFT_ERROR_INTERNAL for tensors that no file can
 * hold: two of one name, a name that is not UTF-8, a size that is not the shape's. On failure `layout` is left
 * finished. */
int graft_safetensors_layout_make(const char *path, const struct graft_tensor_view *tensors, size_t n,
                                  const graft_json *metadata, size_t boundary, struct graft_safetensors_layout *layout,
                                  struct graft_error *error);
void graft_safetensors_layout_finish(struct graft_safetensors_layout *layout);

#endif
