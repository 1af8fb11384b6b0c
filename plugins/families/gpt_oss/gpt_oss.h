/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of gpt-oss that Llama does not have, a file each. */
#ifndef GPT_OSS_H
#define GPT_OSS_H

#include "graft/class.h"
#include "graft/mlp.h"
#include "graft/router.h"

/* mlp.c: GptOssMLP, a router and experts. */
int gpt_oss_mlp_describe(const struct graft_class *self, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);
int gpt_oss_mlp_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                       struct graft_error *error);
extern const struct graft_mlp gpt_oss_mlp_vtable;

/* router.c: GptOssTopKRouter, which is given num_experts and hidden_size. */
int gpt_oss_router_describe(const struct graft_class *self, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);
int gpt_oss_router_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error);
extern const struct graft_router gpt_oss_router_vtable;

/* experts.c: how published checkpoints have what GptOssExperts wants stacked. */
enum { GPT_OSS_EXPERTS_CONVERSIONS = 3 };
extern const struct graft_conversion gpt_oss_experts_conversions[GPT_OSS_EXPERTS_CONVERSIONS];

#endif
