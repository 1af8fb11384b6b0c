/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in classes, by model family. This folder includes SDK headers only: built-in classes and plugins use the
 * same interface.
 */
#ifndef GRAFT_ARCH_ARCH_H
#define GRAFT_ARCH_ARCH_H

#include "graft/class.h"
#include "graft/experts_implementation.h"

/* An architecture of which another class loads the main part; the rest are unexpected tensors. */
struct graft_architecture_alias {
    const char *architecture; /* as config.json has it; NULL ends a list of these */
    const char *class_name;
};

struct graft_family {
    const char *model_type;            /* config.json's `model_type`; NULL: basic classes that every family may use */
    const char *architecture;          /* the class built when `architectures` is absent: "LlamaForCausalLM" */
    const char *base_model_prefix;     /* "model": what a checkpoint of the bare model leaves out of its names */
    const struct graft_class *classes; /* the last one without a name */
    const struct graft_architecture_alias *aliases; /* NULL: none */
};

/* [any] NULL-terminated. */
const struct graft_family *const *graft_families(void);

/* [any] The class that transformers' ACT2FN has for a name ("silu"); NULL: there is none. */
const char *graft_activation_class(const char *name);

/* [any] The ways of computing stacked experts, the default first; NULL-terminated. */
const struct graft_experts_implementation *const *graft_experts_implementations(void);

#endif
