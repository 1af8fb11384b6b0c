/* SPDX-License-Identifier: Apache-2.0 */
/* A Linear that bitsandbytes stored, and the two classes of them, under its own names. */
#ifndef BITSANDBYTES_LINEAR_H
#define BITSANDBYTES_LINEAR_H

#include "graft/class.h"
#include "graft/packed_rows.h"

/* An instance: `rows` is what is multiplied, and leads to what lies here. */
struct bnb_linear {
    struct graft_packed_rows rows;
    struct graft_weight codes;      /* where the checkpoint has them as one column */
    struct graft_weight scales;     /* a row for each block_rows outputs */
    struct graft_row_block *blocks; /* of both; `codes` has the first */
    float *computed;                /* the scales, where the checkpoint has others */
};

/* [load] What `describe` kept, and room for the blocks of codes and for `n_blocks` of scales. NULL: out of memory. */
struct bnb_linear *bnb_linear_new(const struct graft_packed_rows *rows, int32_t n_blocks);
/* [load] `rows` becomes the elements of a column, so many to a row; `blocks` has room for those that it has. */
void bnb_linear_lay(const struct graft_weight *column, int64_t columns, struct graft_row_block *blocks,
                    struct graft_weight *rows);
/* [load] Room for computed scales, which are used from now on: as many rows as there are blocks of rows. */
int bnb_linear_compute(struct bnb_linear *self, const char *path, struct graft_error *error);
void bnb_linear_destroy(void *instance);

extern const struct graft_linear bnb_linear_vtable;

extern const struct graft_class bnb_linear4bit_class;
extern const struct graft_class bnb_linear8bit_class;

#endif
