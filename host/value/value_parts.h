/* SPDX-License-Identifier: Apache-2.0 */
/* Rearranges the parts of values. Used in this folder only. A call that fails has recorded why. */
#ifndef GRAFT_VALUE_VALUE_PARTS_H
#define GRAFT_VALUE_VALUE_PARTS_H

#include "value/value.h"

/* The maximum number of parts of a value: more would amount to copying it element by element. */
enum { VALUE_MAX_PARTS = 1 << 20 };

/* Adds a part, merged with the last one if they form one box. Returns 0, -1 if memory ran out, or 1 if there are too
 * many parts. */
int graft_value_add_part(struct graft_value *value, const struct graft_part *part);

/* Sorts the parts and joins neighbours. */
void graft_value_tidy(struct graft_value *value);

/* Adds the parts of `value`, whose windows have `own` elements each, to `joined`, whose windows have `width` elements,
 * at element `offset` of each window. */
int graft_value_widen(const struct graft_value *value, int64_t own, int64_t width, int64_t offset, const char *name,
                      struct graft_value *joined, struct graft_error *error);

/* The reverse of graft_value_widen: cuts windows of sum(sizes) * inner elements, of which parts[i] gets sizes[i] *
 * inner. */
int graft_value_narrow(const struct graft_value *value, const int64_t *sizes, size_t n, int64_t inner, const char *name,
                       struct graft_value *parts, struct graft_error *error);

/* [..., first, middle, second, inner] becomes [..., second, middle, first, inner]. */
struct value_exchange {
    int64_t first;
    int64_t middle;
    int64_t second;
    int64_t inner;
};
int graft_value_exchange_loops(struct graft_value *value, const struct value_exchange *exchange, const char *name,
                               struct graft_error *error);

#endif
