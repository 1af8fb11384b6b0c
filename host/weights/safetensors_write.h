/* SPDX-License-Identifier: Apache-2.0 */
/* Writes safetensors files. */
#ifndef GRAFT_WEIGHTS_SAFETENSORS_WRITE_H
#define GRAFT_WEIGHTS_SAFETENSORS_WRITE_H

#include <stddef.h>

#include "base/json.h"
#include "graft/error.h"
#include "weights/tensor_view.h"

/* [load] Writes `n` tensors, given in any order, as one file in the layout of safetensors_layout.h. `metadata` is an
 * object of strings, or NULL; transformers expects {"format": "pt"}. The views' `file` is not read. `path` always holds
 * either the old or the new content. Errors are GRAFT_ERROR_IO, and GRAFT_ERROR_INTERNAL for tensors that no file can
 * hold. */
int graft_safetensors_write(const char *path, const struct graft_tensor_view *tensors, size_t n,
                            const graft_json *metadata, struct graft_error *error);

#endif
