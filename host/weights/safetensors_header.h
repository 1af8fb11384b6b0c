/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the JSON header of a safetensors file into checked views. Used by safetensors.c only; all functions are
 * [load]. */
#ifndef GRAFT_WEIGHTS_SAFETENSORS_HEADER_H
#define GRAFT_WEIGHTS_SAFETENSORS_HEADER_H

#include <stddef.h>

#include "base/json.h"
#include "graft/error.h"
#include "weights/tensor_view.h"

struct graft_safetensors_header {
    struct graft_tensor_view *views; /* [count], sorted by name */
    size_t count;
    char *names;          /* the bytes of the views' names */
    graft_json *metadata; /* a copy of `__metadata__`, or NULL */
};

/* Reads the header of a file of `size` >= 8 bytes at `map`. `path` is kept in the views and must outlive them. On
 * failure `header` is left finished. */
int graft_safetensors_header_read(const char *path, const unsigned char *map, size_t size,
                                  struct graft_safetensors_header *header, struct graft_error *error);
void graft_safetensors_header_finish(struct graft_safetensors_header *header);

#endif
