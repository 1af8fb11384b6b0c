/* SPDX-License-Identifier: Apache-2.0 */
/* What can be chosen by name without replacing a class: attention and experts implementations, kernels, and logits
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
                             graft_kernel_override or graft_logits_processor, by the kind */
    struct graft_origin origin;
};

/* [any] Adds one (`origin` NULL: the host's). The same one again changes nothing; another of that kind and name is an
 * error, but for kernels of one origin. */
int graft_registry_add_implementation(struct graft_registry *registry, enum graft_implementation_kind kind,
                                      const char *name, const void *declared, const struct graft_origin *origin,
                                      struct graft_error *error);

/* [any] The implementations in the order of registration; NULL after the last. */
const struct graft_implementation *graft_snapshot_implementation_at(const struct graft_snapshot *snapshot, size_t i);

/* [any] The implementation of that kind and name. That there is none is an error of `option` (GRAFT_ERROR_USAGE) that
 * lists the names there are. */
int graft_snapshot_implementation(const struct graft_snapshot *snapshot, enum graft_implementation_kind kind,
                                  const char *name, const char *option,
                                  const struct graft_implementation **implementation, struct graft_error *error);

/* [any] A snapshot in which the kernels of the `n` names are replacements, behind those there. The caller releases it.
 */
int graft_snapshot_with_kernels(struct graft_snapshot *snapshot, const char *const *names, size_t n,
                                struct graft_snapshot **result, struct graft_error *error);

/* [any] The kernel whose replacement has brought the class, or NULL. */
const struct graft_implementation *graft_snapshot_kernel_of(const struct graft_snapshot *snapshot,
                                                            const struct graft_class *cls);

#endif
