/* SPDX-License-Identifier: Apache-2.0 */
/* Produces the bytes of a tensor to be written, piece by piece. Shared by the units of this folder only. */
#ifndef GRAFT_SAVE_STREAM_H
#define GRAFT_SAVE_STREAM_H

#include "save/content.h"

/* Receives the next bytes. Any status other than GRAFT_OK stops the stream. */
typedef int (*save_emit)(void *data, const void *bytes, size_t size, struct graft_error *error);

/* [load] Passes all bytes of the tensor to `emit`, in order. Elements of another type are converted if that is exact;
 * otherwise it is an error. */
int graft_save_stream(const struct save_tensor *tensor, save_emit emit, void *data, struct graft_error *error);

#endif
