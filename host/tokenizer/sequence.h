/* SPDX-License-Identifier: Apache-2.0 */
/* The kind of component that a value of tokenizer.json describes, and a "Sequence" of normalizers, pre-tokenizers,
 * post-processors or decoders, which may be nested. */
#ifndef GRAFT_TOKENIZER_SEQUENCE_H
#define GRAFT_TOKENIZER_SEQUENCE_H

#include "base/json_field.h"

/* Handles one member that is not a Sequence. */
typedef int (*graft_sequence_member)(void *data, const struct graft_field *spec, struct graft_error *error);

/* [load] Calls `member` for each member of `spec`, a Sequence that lists them under `key`, or for `spec` itself if it
 * is not a Sequence. Stops at the first status that is not GRAFT_OK, and returns it. */
int graft_sequence_walk(const struct graft_field *spec, const char *key, graft_sequence_member member, void *data,
                        struct graft_error *error);

/* [load] Finds which of `n` kinds `spec` is. Each struct of the table starts with two strings: the name of the type,
 * and a field by which a value without `type`, as in older files, is recognised (NULL: it must have a type). The first
 * kind that fits counts. If none does, the error names the field `type`. */
int graft_sequence_kind(const struct graft_field *spec, const void *kinds, size_t stride, size_t n, size_t *number,
                        struct graft_error *error);

#endif
