/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_ARCH_FAMILIES_H
#define GRAFT_ARCH_FAMILIES_H

#include "arch/arch.h"

/* The files of families/, by what they are like: none comes before that. Made by scripts/embed-families. */
extern const struct graft_family_text graft_family_texts[];

#endif
