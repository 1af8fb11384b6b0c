/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that several mixers share. */
#ifndef GRAFT_ARCH_MIXERS_MIXER_H
#define GRAFT_ARCH_MIXERS_MIXER_H

#include "arch/outline.h"
#include "arch/pass.h"

/* How many numbers of states times tokens justify another thread. */
enum { GRAFT_MIXER_WORK = 1 << 14 };

/* [load] Lays out the convolution over `channels`, as the mixer's choices say. */
void graft_mixer_conv(struct graft_outline *of, const struct graft_module **conv, int64_t channels);

/* [load] Lays out the mixer's norm with a gate, of `width` numbers in groups of `group`. */
void graft_mixer_norm(struct graft_outline *of, const struct graft_module **norm, int64_t width, int64_t group);

/* [load] Lays out the activation of mixer.act as the child `name`. */
void graft_mixer_act(struct graft_outline *of, const struct graft_module **act, const char *name);

/* [load] Lays out the projection out, mixer.output. */
void graft_mixer_output(struct graft_outline *of, const struct graft_module **output, int64_t size, int32_t bias);

/* [forward] What the convolution makes of x [tokens, channels]. */
float *graft_mixer_convolve(const struct graft_pass *pass, const struct graft_module *conv,
                            const struct graft_batch *batch, const float *x, int64_t channels);

/* [forward] gate [tokens * heads, width] = the norm with a gate of x. */
void graft_mixer_gated_norm(const struct graft_pass *pass, const struct graft_module *norm, int64_t heads, float *x,
                            float *gate);

/* [forward] The state of each of the batch's sequences, [sequences]. */
float **graft_mixer_states(const struct graft_pass *pass, const struct graft_batch *batch,
                           const struct graft_state *state);

#endif
