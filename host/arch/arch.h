/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in classes, by model family. This folder includes SDK headers only: built-in classes and plugins use the
 * same interface.
 */
#ifndef GRAFT_ARCH_ARCH_H
#define GRAFT_ARCH_ARCH_H

#include "graft/experts_implementation.h"
#include "graft/family.h"

/* [any] The families; NULL-terminated. */
const struct graft_family *const *graft_built_in_families(void);

/* [any] Class number `i` of those that every family may use; NULL behind the last. */
const struct graft_class *graft_basic_class(size_t i);

/* [any] The class that transformers' ACT2FN has for a name ("silu"); NULL: there is none. */
const char *graft_activation_class(const char *name);

/* [any] The ways of computing stacked experts, the default first; NULL-terminated. */
const struct graft_experts_implementation *const *graft_experts_implementations(void);

#endif
