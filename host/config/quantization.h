/* SPDX-License-Identifier: Apache-2.0 */
/* What config.json says about quantized weights. */
#ifndef GRAFT_CONFIG_QUANTIZATION_H
#define GRAFT_CONFIG_QUANTIZATION_H

#include "base/json.h"
#include "graft/config.h"

/* [any] The path of the object that says how the weights are quantized: "quantization_config", or that of a section
 * such as "text_config.quantization_config"; NULL if it is absent or null. */
const char *graft_quantization_field(const struct graft_config *config);

/* [any] The quant_method of the object at that path, or NULL. */
const char *graft_quantization_method(const struct graft_config *config);

/* [load] Refuses a quantized model (GRAFT_ERROR_MODEL, naming the method) if `handles` does not know its method: its
 * weights would be misread, or be other tensors than classes ask for. */
int graft_quantization_check(const struct graft_config *config, int (*handles)(const void *data, const char *method),
                             const void *data, struct graft_error *error);

/* [load] Sets `quant_method` to the name that plugins know: in lower case, and "bitsandbytes" if it is missing and
 * `load_in_4bit` or `load_in_8bit` is true, as in the first checkpoints of bitsandbytes. */
int graft_quantization_spell(graft_json *document, struct graft_error *error);

#endif
