/* SPDX-License-Identifier: Apache-2.0 */
/* When a replacement takes effect (plugin.h), depending on config.json and on the tensors that a checkpoint has for a
 * module. So a plugin for one layout of weights leaves other models, and single modules of a model, unchanged. All
 * conditions of a replacement must hold. A condition that fails is not an error: the module keeps its class, and plans
 * say why. */
#ifndef GRAFT_CONDITION_H
#define GRAFT_CONDITION_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /* config.json has the field `field`, and its value is not null. With `any_of`, its value is one of these: a string,
       the digits of an integer, "true" or "false". */
    GRAFT_CONDITION_CONFIG = 1,
    /* The checkpoint has one of the tensors `any_of` for the module. Names are relative to the module: "qweight", or
       "q_proj.weight" of a child; "adapter.*.lora_A.weight" is a tensor of any adapter. A model without weights has
       none. `field` is NULL. */
    GRAFT_CONDITION_TENSOR = 2,
    /* The opposite of GRAFT_CONDITION_CONFIG: there is no such field or, with `any_of`, it has none of those values. */
    GRAFT_CONDITION_NO_CONFIG = 3,
    /* The opposite of GRAFT_CONDITION_TENSOR: there are none of those tensors. */
    GRAFT_CONDITION_NO_TENSOR = 4
};

/* Must not change, like everything that it points to, as long as the replacement exists. */
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
