/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TORCHAO_TORCHAO_H
#define TORCHAO_TORCHAO_H

#include "graft/linear.h"
#include "graft/quant_format.h"

/* The path of a field of torchao's own config, as transformers stores it. */
#define TORCHAO_FIELD(name) "quantization_config.quant_type.default._data." name

extern const struct graft_class torchao_int4_class;

/* [load] Reads the group size, which must divide the number of inputs. */
int torchao_read_group(const struct graft_config *config, const char *field, struct graft_codec *codec,
                       struct graft_error *error);

/* [load] Declares a factor for activations, and checks that the checkpoint does not have it. */
void torchao_add_inputs(struct graft_scheme *scheme);
int torchao_check_inputs(const struct graft_build *build, struct graft_error *error);

#endif
