/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming of tensors whose elements lie scattered. Shared by the units of this folder only. */
#ifndef GRAFT_SAVE_GATHER_H
#define GRAFT_SAVE_GATHER_H

#include "save/stream.h"

/* [load] As save_stream, for any parts: window by window, in memory that does not grow with the tensor. */
int graft_save_gather(const struct save_tensor *tensor, save_emit emit, void *data, struct graft_error *error);

#endif
