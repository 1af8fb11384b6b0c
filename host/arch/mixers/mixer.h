/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that several mixers share. */
#ifndef GRAFT_ARCH_MIXERS_MIXER_H
#define GRAFT_ARCH_MIXERS_MIXER_H

#include "arch/data/description.h"
#include "graft/class.h"

/* How many numbers of states times tokens justify another thread. */
enum { GRAFT_MIXER_WORK = 1 << 14 };

/* [load] Declares the convolution over `channels`, as the mixer's choices say. */
int graft_mixer_describe_conv(struct graft_reader *reader, int64_t channels, const struct graft_sink *sink,
                              struct graft_error *error);

/* [load] Declares the mixer's norm with a gate, of `width` numbers in groups of `group`. */
int graft_mixer_describe_norm(struct graft_reader *reader, int64_t width, int64_t group, const struct graft_sink *sink,
                              struct graft_error *error);

/* [load] Declares the activation of mixer.act as the child `name`. */
int graft_mixer_describe_act(struct graft_reader *reader, const char *name, const struct graft_sink *sink,
                             struct graft_error *error);

/* [forward] y [tokens, columns] = the columns of x from `first` on; rows of x are `stride` apart. */
void graft_take_columns(const float *x, int64_t stride, int64_t first, int64_t tokens, int64_t columns, float *y);

/* [forward] x *= scale; does nothing if that is 1. */
void graft_scale(float *x, int64_t count, float scale);

/* [any] log(1 + exp(x)) */
float graft_softplus(float x);

#endif
