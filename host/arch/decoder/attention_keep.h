/* SPDX-License-Identifier: Apache-2.0 */
/* The first steps of `describe` that all classes of attention have. */
#ifndef GRAFT_ARCH_DECODER_ATTENTION_KEEP_H
#define GRAFT_ARCH_DECODER_ATTENTION_KEEP_H

#include "arch/data/description.h"
#include "graft/parts.h"

/* [load] Keeps `size` bytes for `create`, which begin with a struct graft_parts_attention_sizes; reads these sizes from
 * `args`; starts `reader` with the description of `self` at the layer that they name. NULL with `error`. */
void *graft_attention_keep(const struct graft_class *self, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, size_t size,
                           struct graft_reader *reader, struct graft_error *error);

#endif
