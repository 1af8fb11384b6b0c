/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that several mixers share. */
#ifndef GRAFT_ARCH_MIXERS_MIXER_H
#define GRAFT_ARCH_MIXERS_MIXER_H

#include "arch/data/description.h"
#include "graft/class.h"

/* How many numbers of states times tokens are worth a thread. */
enum { GRAFT_MIXER_WORK = 1 << 14 };

/* [load] The convolution over `channels`, as the mixer's choices say. */
int graft_mixer_describe_conv(struct graft_reader *reader, int64_t channels, const struct graft_sink *sink,
                              struct graft_error *error);

/* [load] The norm with a gate of the mixer, of `width` numbers in groups of `group`. */
int graft_mixer_describe_norm(struct graft_reader *reader, int64_t width, int64_t group, const struct graft_sink *sink,
                              struct graft_error *error);

/* [load] The activation of mixer.act, as the child `name`. */
int graft_mixer_describe_act(struct graft_reader *reader, const char *name, const struct graft_sink *sink,
                             struct graft_error *error);

/* [forward] y [tokens, columns] = columns of x from `first` on, whose rows are `stride` long. */
void graft_take_columns(const float *x, int64_t stride, int64_t first, int64_t tokens, int64_t columns, float *y);

/* [forward] x *= scale; nothing happens with 1. */
void graft_scale(float *x, int64_t count, float scale);

/* [any] log(1 + exp(x)) */
float graft_softplus(float x);

#endif
