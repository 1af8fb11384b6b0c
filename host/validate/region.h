/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of memory that a plugin is lent or takes, each between two guard pages: the data end at a guard page, or
 * begin after one. A process that accesses a guard page, uses a region after its end, or writes to a read-only one, is
 * killed, and the region at fault is known. Only for a process that makes one check; all functions are [any]. */
#ifndef GRAFT_VALIDATE_REGION_H
#define GRAFT_VALIDATE_REGION_H

#include <stddef.h>
#include <stdint.h>

/* Which end of the data touches its guard page. Between the other end and its guard page are up to a page of bytes that
 * must keep their value. */
enum graft_region_side { GRAFT_REGION_GUARD_AFTER, GRAFT_REGION_GUARD_BEFORE };

enum graft_region_state {
    GRAFT_REGION_OPEN,
    GRAFT_REGION_READ_ONLY,
    GRAFT_REGION_ENDED, /* the call that borrowed it has returned */
    GRAFT_REGION_FREED, /* its owner freed it */
};

/* The kind of a region, for messages. */
enum graft_region_kind {
    GRAFT_REGION_ARRAY,     /* "hidden_states [7, 64]" */
    GRAFT_REGION_STRUCT,    /* "args" */
    GRAFT_REGION_PARAMETER, /* "weight [48, 32]" */
    GRAFT_REGION_SCRATCH,
    GRAFT_REGION_BLOCK, /* of host->alloc */
    GRAFT_REGION_OWN,   /* internal, not mentioned in messages */
};

struct graft_region {
    char *map; /* NULL: gone */
    size_t map_bytes;
    char *data;
    size_t bytes;
    int32_t kind;    /* GRAFT_REGION_... */
    int32_t state;   /* GRAFT_REGION_... */
    int32_t element; /* bytes of an element; 1 if it has none */
    int32_t reserved;
    char name[96];
    char owner[224]; /* the call that borrowed or allocated it, such as "forward of model.layers.0.mlp (AcmeMLP)" */
};

/* Sets which end of later regions touches a guard page. */
void graft_region_set_side(enum graft_region_side side);

/* Makes a region of `bytes` zeros, owned by the call that the thread runs now (base/crash_context.h), aligned to a
 * multiple of `alignment`, a power of 2; NULL if memory ran out. With alignment 0, it is aligned for any type that
 * fits, to 16 at most. */
struct graft_region *graft_region_make(enum graft_region_kind kind, const char *name, size_t bytes, size_t alignment,
                                       int32_t element);

/* Makes the region read-only. */
void graft_region_seal(struct graft_region *region);

/* Makes the region inaccessible; `state` says why. */
void graft_region_end(struct graft_region *region, enum graft_region_state state);

/* Ends what a call borrowed: the regions of this kind, from number `first` on, that have not ended. */
void graft_region_end_borrowed(size_t first, enum graft_region_kind kind);

/* Forgets all regions, except for blocks that were not freed. */
void graft_region_forget(void);

/* Whether the bytes that share the data's pages have kept their value. */
int graft_region_is_whole(const struct graft_region *region);

/* The region whose data begin at `data` and that has not ended; NULL if there is none. */
struct graft_region *graft_region_at(const void *data);

/* The region or guard page that contains an address; NULL if there is none. */
const struct graft_region *graft_region_around(const void *address);

/* Region number `i` in the order of creation; NULL after the last. */
struct graft_region *graft_region_number(size_t i);

/* The number of regions made. */
size_t graft_region_count(void);

#endif
