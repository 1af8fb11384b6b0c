/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_ARCH_BASIC_ACTIVATION_H
#define GRAFT_ARCH_BASIC_ACTIVATION_H

#include "graft/class.h"

/* Every class that graft_activation_class names, and GELU; the last one without a name. */
extern const struct graft_class graft_activation_classes[];

#endif
