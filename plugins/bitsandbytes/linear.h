/* SPDX-License-Identifier: Apache-2.0 */
/* The two classes of Linears that bitsandbytes stores, with its own names. */
#ifndef BITSANDBYTES_LINEAR_H
#define BITSANDBYTES_LINEAR_H

#include "graft/class.h"

extern const struct graft_class bnb_linear4bit_class;
extern const struct graft_class bnb_linear8bit_class;

#endif
