/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors of a module that HQQ quantized. */
#ifndef HQQ_TENSORS_H
#define HQQ_TENSORS_H

#include "graft/quant_format.h"
#include "params.h"

/* [load] Sets the codec, and adds the tensors that it is made of. */
void hqq_add_tensors(struct graft_scheme *scheme, const struct hqq_params *params);

/* [load] Describes the tensors in which the module says how it was quantized. */
int hqq_describe_notes(const struct graft_sink *sink, struct graft_error *error);

/* [load] What a scheme's `finish` does; `context` is a struct hqq_params: whether the tensors say what the config
 * says. */
int hqq_check_tensors(const struct graft_build *build, const void *context, struct graft_codec *codec,
                      struct graft_error *error);

#endif
