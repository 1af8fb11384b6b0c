/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a replacement takes effect (plugin.h): by what config.json says and by the tensors that a checkpoint has for a
 * module. So a plugin for one layout of weights leaves models in others, and single modules of a model, as they are.
 *
 * All conditions of a replacement must hold. One that fails is no error: the module keeps its class, and plans say why.
 */
#ifndef GRAFT_CONDITION_H
#define GRAFT_CONDITION_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /* Config.json has the field `field`, of whatever value but null; with `any_of` its value is one of those: a string,
     * an integer in digits, "true" or "false". */
    GRAFT_CONDITION_CONFIG = 1,
    /* The checkpoint has one of the tensors `any_of` for the module: names relative to it, "qweight" or, of a module
     * below, "q_proj.weight"; "adapter.*.lora_A.weight" is one of any adapter. A model without weights has none.
     * `field` is NULL. */
    GRAFT_CONDITION_TENSOR = 2,
    /* The other way round than GRAFT_CONDITION_CONFIG: no such field or, with `any_of`, none of those values. */
    GRAFT_CONDITION_NO_CONFIG = 3,
    /* The other way round than GRAFT_CONDITION_TENSOR: none of those tensors. */
    GRAFT_CONDITION_NO_TENSOR = 4
};

/* Const, as all that it points to, and valid as long as the replacement that it is a part of. */
struct graft_condition {
    uint32_t struct_size;
    int32_t kind;              /* GRAFT_CONDITION_... */
    const char *field;         /* a dotted path: "quantization_config.quant_method" */
    const char *const *any_of; /* NULL-terminated, at most 256; NULL: any value of a field */
};

#define GRAFT_CONDITION_SIZE_1_0 GRAFT_END_OF(struct graft_condition, any_of)

GRAFT_ASSERT_SIZE(struct graft_condition, 24);

#ifdef __cplusplus
}
#endif

#endif
