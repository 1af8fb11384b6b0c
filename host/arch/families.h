/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_ARCH_FAMILIES_H
#define GRAFT_ARCH_FAMILIES_H

#include "arch/arch.h"

extern const struct graft_family graft_family_bert;
extern const struct graft_family graft_family_llama;
extern const struct graft_family graft_family_mistral;
extern const struct graft_family graft_family_mixtral;
extern const struct graft_family graft_family_qwen2;
extern const struct graft_family graft_family_qwen2_moe;
extern const struct graft_family graft_family_qwen2_vl;
extern const struct graft_family graft_family_qwen3;
extern const struct graft_family graft_family_qwen3_moe;

#endif
