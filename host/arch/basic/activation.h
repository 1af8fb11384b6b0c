/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_ARCH_BASIC_ACTIVATION_H
#define GRAFT_ARCH_BASIC_ACTIVATION_H

#include "graft/class.h"

enum { GRAFT_ACTIVATION_CLASSES = 11 };

/* Every class that graft_describe_activation may ask for, and GELU. */
extern const struct graft_class graft_activation_classes[GRAFT_ACTIVATION_CLASSES];

#endif
