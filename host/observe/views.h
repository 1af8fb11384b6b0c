/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays in the args of each interface. */
#ifndef GRAFT_OBSERVE_VIEWS_H
#define GRAFT_OBSERVE_VIEWS_H

#include "observe/interface.h"

int32_t views_of_activation(const struct widths *widths, const void *args, struct graft_view *views);
int32_t views_of_base_model(const struct widths *widths, const void *args, struct graft_view *views);
int32_t views_of_causal_lm(const struct widths *widths, const void *args, struct graft_view *views);
int32_t views_of_decoder_layer(const struct widths *widths, const void *args, struct graft_view *views);
int32_t views_of_embedding(const struct widths *widths, const void *args, struct graft_view *views);
int32_t views_of_experts(const struct widths *widths, const void *args, struct graft_view *views);
int32_t views_of_linear(const struct widths *widths, const void *args, struct graft_view *views);
int32_t views_of_mlp(const struct widths *widths, const void *args, struct graft_view *views);
int32_t views_of_norm(const struct widths *widths, const void *args, struct graft_view *views);
int32_t views_of_rotary(const struct widths *widths, const void *args, struct graft_view *views);
int32_t views_of_router(const struct widths *widths, const void *args, struct graft_view *views);
int32_t views_of_self_attention(const struct widths *widths, const void *args, struct graft_view *views);

#endif
