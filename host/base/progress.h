/* SPDX-License-Identifier: Apache-2.0 */
/* How far something long has come, for who asked to be told (graft_progress_set_sink). */
#ifndef GRAFT_BASE_PROGRESS_H
#define GRAFT_BASE_PROGRESS_H

#include <stdint.h>

typedef void (*graft_progress_told)(void *data, int32_t what, int64_t done, int64_t total);

/* [any] Who is told from now on; NULL: nobody. */
void graft_progress_set(graft_progress_told told, void *data);

/* [any] Tells that `done` of `total` are done of GRAFT_PROGRESS_... `what`. */
void graft_progress_tell(int32_t what, int64_t done, int64_t total);

#endif
