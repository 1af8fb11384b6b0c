/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that an adapter takes effect on, where prompts choose theirs. All is [forward]. */
#ifndef LORA_ROWS_H
#define LORA_ROWS_H

#include "graft/call.h"

struct lora_rows {
    int64_t n;
    int32_t *index; /* [n] ascending; NULL: all rows */
};

/* Those of `rows` rows that adapter number `adapter` takes effect on. */
int lora_rows_of(const struct graft_call *call, int64_t rows, int32_t adapter, struct lora_rows *found,
                 struct graft_error *error);

/* to [.., width] += from [n, width], each row to its own. */
int lora_rows_add(const struct lora_rows *rows, const struct graft_call *call, const float *from, int64_t width,
                  float *to, struct graft_error *error);

/* to [.., width] = from [n, width] */
void lora_rows_copy(const struct lora_rows *rows, const float *from, int64_t width, float *to);

#endif
