/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading of safetensors files: eight bytes with the length of a JSON header, the header, and the tensors' bytes.
 *
 * A file is mapped, never read: opening touches its header only. The checks are those of the official implementation
 * and of the format's description: what the header says is complete, unambiguous and covers the file exactly. A file
 * that another process shortens while it is mapped ends this process (SIGBUS), as with any mapped file.
 */
#ifndef GRAFT_WEIGHTS_SAFETENSORS_H
#define GRAFT_WEIGHTS_SAFETENSORS_H

#include <stddef.h>

#include "base/json.h"
#include "graft/error.h"
#include "weights/tensor_view.h"

struct graft_safetensors;

/* [load] Opens and checks a file; `*file` is the caller's, to be given to graft_safetensors_close. Errors are
 * GRAFT_ERROR_MODEL and name the file and the tensor. */
int graft_safetensors_open(const char *path, struct graft_safetensors **file, struct graft_error *error);

/* [load] Unmaps: views of this file, their names and data end here. NULL is fine. */
void graft_safetensors_close(struct graft_safetensors *file);

/* [any] The tensors, sorted by name (strcmp). */
size_t graft_safetensors_count(const struct graft_safetensors *file);
const struct graft_tensor_view *graft_safetensors_at(const struct graft_safetensors *file, size_t index);

/* [any] The tensor of that name; NULL when there is none. */
const struct graft_tensor_view *graft_safetensors_find(const struct graft_safetensors *file, const char *name);

/* [any] The header's `__metadata__`, an object of strings; NULL when there is none. The file's. */
const graft_json *graft_safetensors_metadata(const struct graft_safetensors *file);

/* [any] The size of the file, which is mapped as a whole. */
int64_t graft_safetensors_bytes(const struct graft_safetensors *file);

#endif
