/* SPDX-License-Identifier: Apache-2.0 */
/* What config.json says of quantized weights. */
#ifndef GRAFT_CONFIG_QUANTIZATION_H
#define GRAFT_CONFIG_QUANTIZATION_H

#include "base/json.h"
#include "graft/config.h"

/* [any] The object that says how a model's weights are quantized, as a path ("quantization_config", or that of a part:
 * "text_config.quantization_config"); NULL where the field is absent or null. */
const char *graft_quantization_field(const struct graft_config *config);

/* [any] The quant_method of such an object, or NULL. */
const char *graft_quantization_method(const struct graft_config *config);

/* [load] A quantized model whose method `handles` does not know is an error (GRAFT_ERROR_MODEL) that names
 * it: read as they are, its weights mean something else, or are other tensors than a class asks for. */
int graft_quantization_check(const struct graft_config *config, int (*handles)(const void *data, const char *method),
                             const void *data, struct graft_error *error);

/* [load] Writes `quant_method` as plugins know it: in small letters, and "bitsandbytes" where it is left out and
 * `load_in_4bit` or `load_in_8bit` is true, as bitsandbytes' first checkpoints have it. */
int graft_quantization_spell(graft_json *document, struct graft_error *error);

#endif
