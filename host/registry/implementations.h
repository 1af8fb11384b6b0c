/* SPDX-License-Identifier: Apache-2.0 */
/* Implementations, which are chosen by name without replacing a class: of attention and experts, kernels, and logits
 * processors. */
#ifndef GRAFT_REGISTRY_IMPLEMENTATIONS_H
#define GRAFT_REGISTRY_IMPLEMENTATIONS_H

#include "graft/attention_implementation.h"
#include "graft/experts_implementation.h"
#include "graft/host/library.h"
#include "graft/kernel_override.h"
#include "graft/logits_processor.h"
#include "registry/registry.h"

struct graft_implementation {
    enum graft_implementation_kind kind;
    const char *name;
    const void *declared; /* a struct graft_attention_implementation, graft_experts_implementation,
                             graft_kernel_override or graft_logits_processor, depending on the kind */
    struct graft_origin origin;
};

/* [any] Adds an implementation (`origin` NULL: the host's). Adding the same one again changes nothing. Another one of
 * that kind and name is an error, except for kernels of the same origin. */
int graft_registry_add_implementation(struct graft_registry *registry, enum graft_implementation_kind kind,
                                      const char *name, const void *declared, const struct graft_origin *origin,
                                      struct graft_error *error);

/* [any] Implementation number `i` in the order of registration; NULL after the last. */
const struct graft_implementation *graft_snapshot_implementation_at(const struct graft_snapshot *snapshot, size_t i);

/* [any] Finds the implementation of a kind and name. For an unknown name the error (GRAFT_ERROR_USAGE) names
 * `option` and lists the known names. */
int graft_snapshot_implementation(const struct graft_snapshot *snapshot, enum graft_implementation_kind kind,
                                  const char *name, const char *option,
                                  const struct graft_implementation **implementation, struct graft_error *error);

/* [any] Makes a snapshot in which the kernels of `n` names are further replacements. The caller releases it. */
int graft_snapshot_with_kernels(struct graft_snapshot *snapshot, const char *const *names, size_t n,
                                struct graft_snapshot **result, struct graft_error *error);

/* [any] The kernel whose replacement has this class, or NULL. */
const struct graft_implementation *graft_snapshot_kernel_of(const struct graft_snapshot *snapshot,
                                                            const struct graft_class *cls);

#endif
