/* SPDX-License-Identifier: Apache-2.0 */
/* A "Sequence" of normalizers, pre-tokenizers, post-processors or decoders, which may stand in another: its members in
 * their order. */
#ifndef GRAFT_TOKENIZER_SEQUENCE_H
#define GRAFT_TOKENIZER_SEQUENCE_H

#include "tokenizer/spec.h"

/* Takes one member, of a type other than Sequence. */
typedef int (*graft_sequence_member)(void *data, const struct graft_spec *spec, const char *type,
                                     struct graft_error *error);

/* [load] Calls `member` for each member of `spec`, listed there under `key`, or for `spec` itself if it is no Sequence.
 * Stops at the first status that is not GRAFT_OK, and returns it. */
int graft_sequence_walk(const struct graft_spec *spec, const char *key, graft_sequence_member member, void *data,
                        struct graft_error *error);

/* [load] Which of `n` kinds is called `type`, in a table of structs whose first member is their type. An error of the
 * field `type` when there is none. */
int graft_sequence_kind(const struct graft_spec *spec, const char *type, const void *kinds, size_t stride, size_t n,
                        size_t *number, struct graft_error *error);

#endif
