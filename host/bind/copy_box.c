/* SPDX-License-Identifier: Apache-2.0 */
#include "bind/copy_box.h"

#include <string.h>

#include "bind/copy_tile.h"

/* Tiles are grouped in square blocks with this many elements a side, so that the rows on both sides span few enough
 * pages for the TLB. */
enum { BLOCK = 512 };

/* Two loops, and the stride of each in bytes. */
struct plane {
    int64_t rows;        /* steps of the loop that moves by one element in `from` */
    int64_t columns;     /* steps of the loop that moves by one element in `to` */
    int64_t to_row;      /* stride of a row in `to`, in bytes */
    int64_t from_column; /* stride of a column in `from`, in bytes */
};

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Copies one block, tile by tile, and the rest at its edges element by element. */
static void copy_block(const struct plane *plane, int64_t rows, int64_t columns, int64_t size, const char *from,
                       char *to) {
    int64_t side = TILE_BYTES / size;
    for (int64_t r = 0; r < rows; r += side) {
        for (int64_t c = 0; c < columns; c += side) {
            const char *tile = from + c * plane->from_column + r * size;
            int64_t n_rows = least(rows - r, side), n_columns = least(columns - c, side);
            const char *next = columns - c >= 2 * side ? tile + side * plane->from_column : tile;
            graft_copy_tile(size, n_rows, n_columns, tile, next, plane->from_column, to + r * plane->to_row + c * size,
                            plane->to_row);
        }
    }
}

static void transpose(const struct plane *plane, int64_t size, const char *from, char *to) {
    for (int64_t r = 0; r < plane->rows; r += BLOCK) {
        for (int64_t c = 0; c < plane->columns; c += BLOCK) {
            copy_block(plane, least(plane->rows - r, BLOCK), least(plane->columns - c, BLOCK), size,
                       from + c * plane->from_column + r * size, to + r * plane->to_row + c * size);
        }
    }
}

/* A box without the two loops of its plane: the one that moves by one element in `from`, and the one that does so in
 * `to`. */
struct job {
    struct graft_box outer;
    struct plane plane; /* rows 0: the box has no plane, and elements are copied in runs */
    int64_t together;   /* length of a contiguous run of elements where there is no plane */
    int64_t size;
};

static void take_loop(struct graft_box *box, int32_t loop) {
    for (int32_t i = loop; i + 1 < box->loops; i++) {
        box->size[i] = box->size[i + 1];
        box->to[i] = box->to[i + 1];
        box->from[i] = box->from[i + 1];
    }
    box->loops--;
}

static struct job prepare(const struct graft_box *box, int64_t size) {
    struct job job = {.outer = *box, .together = graft_box_together(box), .size = size};
    int32_t to = -1, from = -1;
    if (job.together > 1) {
        job.outer.loops--;
        return job;
    }
    for (int32_t i = 0; i < box->loops; i++) {
        to = box->to[i] == 1 ? i : to;
        from = box->from[i] == 1 ? i : from;
    }
    if (to >= 0 && from >= 0) {
        job.plane = (struct plane){box->size[from], box->size[to], box->to[from] * size, box->from[to] * size};
        take_loop(&job.outer, to > from ? to : from);
        take_loop(&job.outer, to > from ? from : to);
    }
    return job;
}

static void copy_at(const struct job *job, int64_t at, int64_t begin, const char *from, char *to) {
    from += begin * job->size;
    to += at * job->size;
    if (job->plane.rows > 0) {
        transpose(&job->plane, job->size, from, to);
    } else {
        memcpy(to, from, (size_t)(job->together * job->size));
    }
}

static void copy_loops(const struct job *job, int32_t loop, int64_t at, int64_t begin, const char *from, char *to) {
    if (loop == job->outer.loops) {
        copy_at(job, at, begin, from, to);
        return;
    }
    for (int64_t i = 0; i < job->outer.size[loop]; i++) {
        copy_loops(job, loop + 1, at + i * job->outer.to[loop], begin + i * job->outer.from[loop], from, to);
    }
}

void graft_copy_box(const struct graft_box *box, int64_t size, const void *from, void *to) {
    const struct job job = prepare(box, size);
    copy_loops(&job, 0, box->at, box->begin, from, to);
}
