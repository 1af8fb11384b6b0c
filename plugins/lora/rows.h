/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that an adapter applies to, if prompts choose adapters. All functions are [forward]. */
#ifndef LORA_ROWS_H
#define LORA_ROWS_H

#include "graft/linear.h"

struct lora_rows {
    int64_t n;
    int32_t *index; /* [n] ascending; NULL: all rows */
};

/* Whether an adapter may apply to only some rows. */
int lora_chooses_rows(const struct graft_call *call);

/* Finds which of `rows` rows adapter `adapter` applies to. */
int lora_rows_of(const struct graft_call *call, int64_t rows, int32_t adapter, struct lora_rows *found,
                 struct graft_error *error);

/* Copies the rows of `from` [n, width] to their positions in `to` [.., width], whose rows are `stride` floats apart.
 * With `adds` they are added. */
void lora_rows_put(const struct lora_rows *rows, const struct graft_call *call, const float *from, int64_t width,
                   int64_t stride, int adds, float *to);

/* The widths of a Linear's inputs and outputs. */
struct lora_sizes {
    int64_t in;
    int64_t out;
    int64_t stride; /* floats from one row of y to the next */
};

/* Runs a Linear on these rows of args->x [.., in] and puts the results into args->y [.., out], as lora_rows_put does.
 */
int lora_rows_run(const struct lora_rows *rows, const struct graft_call *call, const struct graft_module *linear,
                  const struct graft_linear_args *args, const struct lora_sizes *sizes, int adds,
                  struct graft_error *error);

#endif
