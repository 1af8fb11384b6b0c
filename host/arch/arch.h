/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in classes, by model family. This folder includes SDK headers only: built-in classes and plugins use the
 * same interface.
 */
#ifndef GRAFT_ARCH_ARCH_H
#define GRAFT_ARCH_ARCH_H

#include "graft/experts_implementation.h"
#include "graft/family.h"

/* A family file (docs/family.md) that the library holds. */
struct graft_family_text {
    const char *name; /* "llama.family.json"; NULL after the last */
    const char *text; /* [size], JSON */
    size_t size;
    const char *model_type;
    const char *prefix;         /* prefix of its class names; NULL: none */
    const char *const *classes; /* NULL-terminated: the classes that the file names in full */
    const int *needs;           /* indices of the texts that it builds on, all below its own; then -1 */
};

/* [any] The family files of the library, each after those that it builds on; the last has no name. */
const struct graft_family_text *graft_built_in_texts(void);

/* [any] The class at index `i` of those that every family may use; NULL past the last. */
const struct graft_class *graft_basic_class(size_t i);

/* [any] The class that transformers' ACT2FN has for a name ("silu"); NULL: there is none. */
const char *graft_activation_class(const char *name);

/* [any] The ways of computing stacked experts, the default first; NULL-terminated. */
const struct graft_experts_implementation *const *graft_experts_implementations(void);

#endif
