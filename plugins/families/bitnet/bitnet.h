/* SPDX-License-Identifier: Apache-2.0 */
/* The classes that are the family's own, a file each. */
#ifndef BITNET_H
#define BITNET_H

#include "graft/activation.h"
#include "graft/attention.h"
#include "graft/class.h"
#include "graft/mlp.h"

/* `describe` and `create` of one. */
#define BITNET_CLASS(name)                                                                                       \
    int bitnet_##name##_describe(const struct graft_class *self, const struct graft_config *config,              \
                                 const struct graft_args *args, const struct graft_sink *sink,                   \
                                 struct graft_error *error);                                                     \
    int bitnet_##name##_create(const struct graft_class *self, const struct graft_build *build, void **instance, \
                               struct graft_error *error)

BITNET_CLASS(attention);
BITNET_CLASS(mlp);

extern const struct graft_self_attention bitnet_attention_vtable;
extern const struct graft_mlp bitnet_mlp_vtable;

/* The square of relu, transformers' "relu2", which the host does not have. There is nothing to create. */
int bitnet_relu2_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);
extern const struct graft_activation bitnet_relu2_vtable;

#endif
