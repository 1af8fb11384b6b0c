/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a checkpoint's tensors under the names a tree expects. Shared by the units of this folder only. */
#ifndef GRAFT_TRANSFORM_LOOKUP_H
#define GRAFT_TRANSFORM_LOOKUP_H

#include "transform/renaming.h"
#include "weights/checkpoint.h"

struct lookup {
    const struct graft_checkpoint *checkpoint;
    const char *prefix;  /* base_model_prefix, or "" */
    unsigned char *used; /* per tensor of the checkpoint: whether some parameter takes it */
    struct renamings renamings;
};

/* The tensor called `name`, or called so with the base model's prefix added or taken away, or with modules renamed;
 * NULL if there is none. `*renaming` (unless `renaming` is NULL) becomes the renaming that led to it, or NULL. */
const struct graft_tensor_view *lookup_find(const struct lookup *lookup, const char *name,
                                            const struct graft_conversion **renaming);

/* Marks a tensor as used. */
void lookup_use(struct lookup *lookup, const struct graft_tensor_view *tensor);

/* A tensor that a `*` stands for. */
struct indexed_tensor {
    int64_t index;
    const struct graft_tensor_view *tensor;
};

/* The tensors called `before` INDEX `after`, sorted by index; the caller frees `*found` with graft_free. Returns how
 * many, or -1 when memory ran out. */
int64_t lookup_indexed(const struct lookup *lookup, const char *before, const char *after,
                       struct indexed_tensor **found);

#endif
