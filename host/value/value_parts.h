/* SPDX-License-Identifier: Apache-2.0 */
/* Rearranging the parts of values. Shared by the units of this folder only; the calls that fail have recorded why. */
#ifndef GRAFT_VALUE_VALUE_PARTS_H
#define GRAFT_VALUE_VALUE_PARTS_H

#include "value/value.h"

/* A value of more parts than this is refused: something asks for a copy element by element. */
enum { VALUE_MAX_PARTS = 1 << 20 };

/* Adds a part, joined to the last one where it can be. Returns 0, -1 if memory ran out, 1 when there are too many. */
int graft_value_add_part(struct graft_value *value, const struct graft_part *part);

/* Sorts the parts and joins neighbours. */
void graft_value_tidy(struct graft_value *value);

/* Adds the parts of `value`, a row of windows of `own` elements each, to `joined`, whose windows have `width`: from
 * element `offset` of each on. */
int graft_value_widen(const struct graft_value *value, int64_t own, int64_t width, int64_t offset, const char *name,
                      struct graft_value *joined, struct graft_error *error);

/* The reverse: windows of sum(sizes) * inner elements are cut, sizes[i] * inner for parts[i]. */
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
