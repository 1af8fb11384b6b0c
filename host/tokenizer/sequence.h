/* SPDX-License-Identifier: Apache-2.0 */
/* Which kind of part a value of tokenizer.json describes, and a "Sequence" of normalizers, pre-tokenizers,
 * post-processors or decoders, which may stand in another: its members in their order. */
#ifndef GRAFT_TOKENIZER_SEQUENCE_H
#define GRAFT_TOKENIZER_SEQUENCE_H

#include "tokenizer/spec.h"

/* Takes one member that is no Sequence. */
typedef int (*graft_sequence_member)(void *data, const struct graft_spec *spec, struct graft_error *error);

/* [load] Calls `member` for each member of `spec`, listed there under `key`, or for `spec` itself if it is no Sequence.
 * Stops at the first status that is not GRAFT_OK, and returns it. */
int graft_sequence_walk(const struct graft_spec *spec, const char *key, graft_sequence_member member, void *data,
                        struct graft_error *error);

/* [load] Which of `n` kinds `spec` is. The table is of structs whose first two members are the type's name and a field
 * by which a value without `type`, as older files have it, is known to be of that kind; NULL: it must have one. The
 * first kind that fits counts. An error of the field `type` when there is none. */
int graft_sequence_kind(const struct graft_spec *spec, const void *kinds, size_t stride, size_t n, size_t *number,
                        struct graft_error *error);

#endif
