/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_ARCH_BASIC_ACTIVATION_H
#define GRAFT_ARCH_BASIC_ACTIVATION_H

#include "graft/class.h"

/* All classes that graft_activation_class can return, and GELU. The last entry has no name. */
extern const struct graft_class graft_activation_classes[];

/* [any] log(1 + exp(x)); x where both are equal in f32, as in the reference. */
float graft_softplus(float x);

#endif
