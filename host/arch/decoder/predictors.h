/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_ARCH_DECODER_PREDICTORS_H
#define GRAFT_ARCH_DECODER_PREDICTORS_H

#include "graft/config.h"

/* [load] Whether a tensor belongs to the layers after the model's that predict further tokens: there are
 * num_nextn_predict_layers of them, by default one (graft/family.h, `ignores`). */
int32_t graft_decoder_is_predictor(const struct graft_config *config, const char *tensor);

#endif
