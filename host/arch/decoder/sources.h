/* SPDX-License-Identifier: Apache-2.0 */
/* The source texts of a batch, which an encoder reads for its decoder. */
#ifndef GRAFT_ARCH_DECODER_SOURCES_H
#define GRAFT_ARCH_DECODER_SOURCES_H

#include "graft/base_model.h"

/* [forward] Runs an encoder, whose hidden states are `encoder_size` wide, on the source texts of a batch. `batch`
 * becomes a copy of `given` with source_states [source tokens, encoder_size], in scratch memory. */
int graft_encode_sources(const struct graft_module *encoder, int64_t encoder_size, const struct graft_call *call,
                         const struct graft_batch *given, struct graft_batch *batch, struct graft_error *error);

/* [forward] Returns the call for children whose rows are source tokens, each with the adapter of its sequence: `call`
 * itself if these do not differ, else `space` filled in. NULL on failure, with an error recorded. */
const struct graft_call *graft_source_call(const struct graft_call *call, const struct graft_batch *batch,
                                           struct graft_gathered_call *space, struct graft_error *error);

#endif
