/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads safetensors files: eight bytes with the length of a JSON header, the header, and the tensors' bytes.
 *
 * A file is mapped, so that opening it reads the header only. The checks are those of the official implementation and
 * of the format's specification: the header must be complete and unambiguous, and its tensors must cover the file
 * exactly. If another process shortens the file while it is mapped, this process ends with SIGBUS, as with any mapped
 * file.
 */
#ifndef GRAFT_WEIGHTS_SAFETENSORS_H
#define GRAFT_WEIGHTS_SAFETENSORS_H

#include <stddef.h>

#include "base/json.h"
#include "graft/error.h"
#include "weights/tensor_view.h"

struct graft_safetensors;

/* [load] Opens and checks a file; the caller closes `*file` with graft_safetensors_close. Errors are GRAFT_ERROR_MODEL
 * and name the file and the tensor. */
int graft_safetensors_open(const char *path, struct graft_safetensors **file, struct graft_error *error);

/* [load] Unmaps the file. Its views, with their names and data, become invalid. Accepts NULL. */
void graft_safetensors_close(struct graft_safetensors *file);

/* [any] The tensors, sorted by name (strcmp). */
size_t graft_safetensors_count(const struct graft_safetensors *file);
const struct graft_tensor_view *graft_safetensors_at(const struct graft_safetensors *file, size_t index);

/* [any] The tensor of that name; NULL if there is none. */
const struct graft_tensor_view *graft_safetensors_find(const struct graft_safetensors *file, const char *name);

/* [any] The header's `__metadata__`, an object of strings, owned by the file; NULL if there is none. */
const graft_json *graft_safetensors_metadata(const struct graft_safetensors *file);

/* [any] The size of the file in bytes, all of which is mapped. */
int64_t graft_safetensors_bytes(const struct graft_safetensors *file);

#endif
