/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a plugin is lent or takes, each piece between two pages that cannot be touched: it ends where a page
 * does, or begins there. Whoever goes beyond it, uses it after its end, or writes to what is read-only, is killed, and
 * what the address belongs to is known. Only for a process that makes one check; all functions are [any].
 */
#ifndef GRAFT_VALIDATE_REGION_H
#define GRAFT_VALIDATE_REGION_H

#include <stddef.h>
#include <stdint.h>

/* Which end of a piece lies at a page that cannot be touched. The other has up to a page of bytes before it gets there,
 * which must keep their value. */
enum graft_region_side { GRAFT_REGION_BEHIND, GRAFT_REGION_IN_FRONT };

enum graft_region_state {
    GRAFT_REGION_OPEN,
    GRAFT_REGION_READ_ONLY,
    GRAFT_REGION_ENDED, /* the call that it was lent to has returned */
    GRAFT_REGION_FREED, /* by its owner */
};

/* What a piece is, for whoever reads of it. */
enum graft_region_kind {
    GRAFT_REGION_ARRAY,     /* "hidden_states [7, 64]" */
    GRAFT_REGION_STRUCT,    /* "args" */
    GRAFT_REGION_PARAMETER, /* "weight [48, 32]" */
    GRAFT_REGION_SCRATCH,
    GRAFT_REGION_BLOCK, /* of host->alloc */
    GRAFT_REGION_OWN,   /* the host's own, which nobody is to know of */
};

struct graft_region {
    char *map; /* NULL: gone */
    size_t map_bytes;
    char *data;
    size_t bytes;
    int32_t kind;    /* GRAFT_REGION_... */
    int32_t state;   /* GRAFT_REGION_... */
    int32_t element; /* bytes of one element; 1: it has none */
    int32_t reserved;
    char name[96];
    char owner[224]; /* the call that it was lent to, or that took it: "forward of model.layers.0.mlp (AcmeMLP)" */
};

/* Where the pieces made from here on have their guarded end. */
void graft_region_set_side(enum graft_region_side side);

/* A piece of `bytes` zeros for what the thread runs now (base/crash_context.h), on a multiple of `alignment`, a power
 * of 2; NULL if memory ran out. With alignment 0 it is that which a type of this size may need, 16 at most. */
struct graft_region *graft_region_make(enum graft_region_kind kind, const char *name, size_t bytes, size_t alignment,
                                       int32_t element);

/* It may only be read from now on. */
void graft_region_seal(struct graft_region *region);

/* It cannot be touched any more; `state` says why. */
void graft_region_end(struct graft_region *region, enum graft_region_state state);

/* Nobody uses any of them any more, but for blocks that were not freed. */
void graft_region_forget(void);

/* Whether the bytes around the data that share its pages are as they were. */
int graft_region_is_whole(const struct graft_region *region);

/* The piece whose data begins at `data` and has not ended; NULL: none does. */
struct graft_region *graft_region_at(const void *data);

/* The piece that an address is in, or whose guards it is in; NULL: none. */
const struct graft_region *graft_region_around(const void *address);

/* Piece number `i` of those made; NULL behind the last. */
struct graft_region *graft_region_number(size_t i);

/* How many were made. */
size_t graft_region_count(void);

#endif
