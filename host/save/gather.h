/* SPDX-License-Identifier: Apache-2.0 */
/* Streams tensors whose elements are scattered over several sources. Used in this folder only. */
#ifndef GRAFT_SAVE_GATHER_H
#define GRAFT_SAVE_GATHER_H

#include "save/stream.h"

/* [load] Like save_stream, for parts in any order: window by window, in memory that does not grow with the tensor. */
int graft_save_gather(const struct save_tensor *tensor, save_emit emit, void *data, struct graft_error *error);

#endif
