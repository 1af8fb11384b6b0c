/* SPDX-License-Identifier: Apache-2.0 */
/* All rows of an embedding, which classes read that need more than those of their tokens. */
#ifndef GRAFT_ARCH_TABLE_H
#define GRAFT_ARCH_TABLE_H

#include "graft/embedding.h"

/* [forward] Its first `rows` rows, [rows, width], in scratch memory; NULL with `error`. */
float *graft_table_read(const struct graft_module *embedding, const struct graft_call *call, int64_t rows,
                        int64_t width, struct graft_error *error);

#endif
