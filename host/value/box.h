/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which elements of one array are which of another, as a nest of loops: element `at` + i0 * to[0] + i1 * to[1] + ... of
 * the one is element `begin` + i0 * from[0] + i1 * from[1] + ... of the other, for all ik in [0, size[k]). Positions
 * are those of row-major order. A row block is one loop with both steps 1, a transposed matrix two loops, whatever its
 * size; so joins, cuts, transposes and permutations of whole checkpoints stay a few numbers each, and each can be
 * reversed.
 *
 * Loops are sorted by `to`, outermost first, and nested on either side: all that inner loops reach lies within one step
 * of the loop around them. All functions are [any].
 */
#ifndef GRAFT_VALUE_BOX_H
#define GRAFT_VALUE_BOX_H

#include <stdint.h>

enum { GRAFT_BOX_LOOPS = 8 };

struct graft_box {
    int64_t at;
    int64_t begin;
    int32_t loops; /* 0: one element */
    int32_t reserved;
    int64_t size[GRAFT_BOX_LOOPS];
    int64_t to[GRAFT_BOX_LOOPS];
    int64_t from[GRAFT_BOX_LOOPS];
};

/* Called with each piece of a box; returns 0 to continue. */
typedef int (*graft_box_taker)(void *data, const struct graft_box *piece);

/* A box of `count` > 0 elements that are contiguous on both sides. */
struct graft_box graft_box_run(int64_t at, int64_t begin, int64_t count);

/* The number of elements in a box. */
int64_t graft_box_count(const struct graft_box *box);

/* One more than the distance from the first element to the last on the `to` side. */
int64_t graft_box_span(const struct graft_box *box);

/* How many elements, from the first one on, are contiguous on both sides. */
int64_t graft_box_together(const struct graft_box *box);

/* The box with its two sides exchanged. */
struct graft_box graft_box_inverse(const struct graft_box *box);

/* Normalises a box whose loops were changed: sorts them, drops loops of size 1, and merges a loop that only continues
 * another. */
void graft_box_tidy(struct graft_box *box);

/* Gives the part of a box whose `at` positions are in [begin, end) to `take`, in pieces. This and the following
 * functions return 0, or what `take` returned, or -1 if a piece would need too many loops. */
int graft_box_cut(const struct graft_box *box, int64_t begin, int64_t end, graft_box_taker take, void *data);

/* Cuts the box into pieces each of whose loops either stays within a window [n * width, (n + 1) * width) of positions
 * or steps by whole windows. */
int graft_box_align(const struct graft_box *box, int64_t width, graft_box_taker take, void *data);

/* Composes two boxes: `first` fills array A from M, and `second` fills M from B; `take` gets the pieces that fill A
 * from B. More than `limit` pieces are -1. */
int graft_box_compose(const struct graft_box *first, const struct graft_box *second, int64_t *limit,
                      graft_box_taker take, void *data);

/* Calls `move` for every run of elements that is contiguous on both sides, in the order of `at`. A result other than 0
 * ends the calls and is returned. */
typedef int (*graft_stretch_mover)(void *data, int64_t at, int64_t begin, int64_t count);
int graft_box_stretches(const struct graft_box *box, graft_stretch_mover move, void *data);

/* Extends `first` by `second` if both together form one box. Returns whether they do. */
int graft_box_join(struct graft_box *first, const struct graft_box *second);

/* Whether two boxes are equal; with `sides` 0, whether they have the same elements on the `at` side. */
int graft_box_same(const struct graft_box *a, const struct graft_box *b, int sides);

/* Whether a box read from a file is valid: sizes and steps above 0, loops nested on either side, and positions below
 * the given counts of elements. */
int graft_box_valid(const struct graft_box *box, int64_t count_at, int64_t count_begin);

#endif
