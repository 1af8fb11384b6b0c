/* SPDX-License-Identifier: Apache-2.0 */
/* Reading rows of an embedding that is a child: the first ones, not those of some tokens. */
#ifndef GRAFT_ARCH_TABLE_H
#define GRAFT_ARCH_TABLE_H

#include "graft/class.h"
#include "graft/embedding.h"

/* [forward] Its first `rows` rows, [rows, width], in scratch memory; NULL with `error`. */
float *graft_table_read(const struct graft_module *embedding, const struct graft_call *call, int64_t rows,
                        int64_t width, struct graft_error *error);

#endif
