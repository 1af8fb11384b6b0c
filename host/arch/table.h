/* SPDX-License-Identifier: Apache-2.0 */
/* Embeddings as children: declaring one, and reading all of its rows, not those of some tokens. */
#ifndef GRAFT_ARCH_TABLE_H
#define GRAFT_ARCH_TABLE_H

#include "graft/class.h"
#include "graft/embedding.h"

/* [load] Declares a child that is an embedding [rows, width], of the class `class_name`. */
int graft_table_describe(const struct graft_sink *sink, const char *name, const char *class_name, int64_t rows,
                         int64_t width, struct graft_error *error);

/* [forward] Its first `rows` rows, [rows, width], in scratch memory; NULL with `error`. */
float *graft_table_read(const struct graft_module *embedding, const struct graft_call *call, int64_t rows,
                        int64_t width, struct graft_error *error);

#endif
