/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that an adapter takes effect on, where prompts choose theirs. All is [forward]. */
#ifndef LORA_ROWS_H
#define LORA_ROWS_H

#include "graft/linear.h"

struct lora_rows {
    int64_t n;
    int32_t *index; /* [n] ascending; NULL: all rows */
};

/* Whether an adapter may take effect on some rows only. */
int lora_chooses_rows(const struct graft_call *call);

/* Those of `rows` rows that adapter number `adapter` takes effect on. */
int lora_rows_of(const struct graft_call *call, int64_t rows, int32_t adapter, struct lora_rows *found,
                 struct graft_error *error);

/* to [.., width], whose rows lie `stride` floats apart, gets from [n, width], each row in its place or, with `adds`,
 * added to it. */
void lora_rows_put(const struct lora_rows *rows, const struct graft_call *call, const float *from, int64_t width,
                   int64_t stride, int adds, float *to);

/* What a Linear reads and writes. */
struct lora_sizes {
    int64_t in;
    int64_t out;
    int64_t stride; /* from one row of y to the next */
};

/* Of args->x [.., in], a Linear's products of the rows, into args->y [.., out] likewise. */
int lora_rows_run(const struct lora_rows *rows, const struct graft_call *call, const struct graft_module *linear,
                  const struct graft_linear_args *args, const struct lora_sizes *sizes, int adds,
                  struct graft_error *error);

#endif
