/* SPDX-License-Identifier: Apache-2.0 */
/* The first steps of `describe`, which all classes of attention share. */
#ifndef GRAFT_ARCH_DECODER_ATTENTION_KEEP_H
#define GRAFT_ARCH_DECODER_ATTENTION_KEEP_H

#include "arch/data/description.h"
#include "graft/parts.h"

/* [load] Allocates `size` bytes that are kept for `create` and start with a struct graft_parts_attention_sizes; reads
 * these sizes from `args`; starts `reader` with the description of `self` and the layer of `args`. NULL with an error
 * recorded on failure. */
void *graft_attention_keep(const struct graft_class *self, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, size_t size,
                           struct graft_reader *reader, struct graft_error *error);

#endif
