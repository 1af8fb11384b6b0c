/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that ends where its content does: whoever writes beyond it is killed, or found out. */
#ifndef GRAFT_VALIDATE_GUARD_H
#define GRAFT_VALIDATE_GUARD_H

#include <stddef.h>

struct graft_guard {
    void *data; /* on a boundary of 64 bytes, as the host's arrays are */
    size_t bytes;
    unsigned char *map;
    size_t map_bytes;
};

/* Room for `bytes`, behind and before which no page can be touched. Returns 0, or -1 without memory. */
int graft_guard_make(size_t bytes, struct graft_guard *guard);

/* From now on a write is a crash. */
void graft_guard_seal(const struct graft_guard *guard);

/* Whether nothing around the data has changed, in the pages that it shares with other bytes. */
int graft_guard_is_whole(const struct graft_guard *guard);

void graft_guard_free(struct graft_guard *guard);

#endif
