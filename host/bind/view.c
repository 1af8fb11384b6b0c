/* SPDX-License-Identifier: Apache-2.0 */
#include "bind/view.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/dtype.h"

/* A run of a value's elements that is contiguous in a tensor. */
struct stretch {
    int64_t at;
    struct graft_row_block block;
};

static int by_position(const void *left, const void *right) {
    const struct stretch *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

struct collecting {
    const struct graft_tensor_view *tensor;
    int64_t columns;
    struct stretch *next;
};

static int add(void *data, int64_t at, int64_t begin, int64_t count) {
    struct collecting *to = data;
    to->next->at = at;
    to->next->block = (struct graft_row_block){
        .struct_size = sizeof to->next->block,
        .dtype = to->tensor->dtype,
        .data = (const char *)to->tensor->data + begin * graft_dtype_size(to->tensor->dtype),
        .rows = count / to->columns,
    };
    to->next++;
    return 0;
}

int graft_view_blocks(const struct graft_value *value, int64_t columns, struct graft_row_block *blocks, size_t n) {
    struct stretch *stretches = graft_alloc(n, sizeof *stretches);
    struct collecting to = {.columns = columns, .next = stretches};
    if (stretches == NULL) {
        return -1;
    }
    for (size_t i = 0; i < value->n_parts; i++) {
        to.tensor = value->parts[i].tensor;
        (void)graft_box_stretches(&value->parts[i].box, add, &to);
    }
    qsort(stretches, n, sizeof *stretches, by_position);
    for (size_t i = 0; i < n; i++) {
        blocks[i] = stretches[i].block;
    }
    graft_free(stretches);
    return 0;
}
