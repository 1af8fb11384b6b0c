/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors of a module that HQQ quantized. */
#ifndef HQQ_TENSORS_H
#define HQQ_TENSORS_H

#include "graft/quant_format.h"
#include "params.h"

/* [load] Sets the codec, and adds its tensors. */
void hqq_add_tensors(struct graft_scheme *scheme, const struct hqq_params *params);

/* [load] Declares the tensors in which HQQ records how a module was quantized. */
int hqq_describe_notes(const struct graft_sink *sink, struct graft_error *error);

/* [load] A scheme's `finish`, with a struct hqq_params as `context`: checks that the recorded values match the
 * config. */
int hqq_check_tensors(const struct graft_build *build, const void *context, struct graft_codec *codec,
                      struct graft_error *error);

#endif
