/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INT8_LINEAR_H
#define INT8_LINEAR_H

#include "graft/quant_format.h"

/* Replaces Linear: parameters `qweight` int8 [out_features, in_features], `scales` f32 [out_features], and `bias`. */
extern const struct graft_class int8_linear_class;

/* What graft_codec_input_bits makes of the plugin's options. */
extern int32_t int8_input_bits;

/* [load] All of a codec but its sizes: rows of int8, with scales in F32. */
void int8_set_codec(struct graft_codec *codec);

#endif
