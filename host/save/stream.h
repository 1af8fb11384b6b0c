/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a tensor to be written, piece by piece. Shared by the units of this folder only. */
#ifndef GRAFT_SAVE_STREAM_H
#define GRAFT_SAVE_STREAM_H

#include "save/content.h"

/* Takes the next bytes; any status but GRAFT_OK stops. */
typedef int (*save_emit)(void *data, const void *bytes, size_t size, struct graft_error *error);

/* [load] Gives `emit` all bytes of the tensor in order. Elements whose source has another type are converted if that
 * loses nothing, else it is an error. */
int graft_save_stream(const struct save_tensor *tensor, save_emit emit, void *data, struct graft_error *error);

#endif
