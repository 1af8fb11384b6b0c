/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of replacements (graft/condition.h), judged by what is known of one model. All functions are [any]. */
#ifndef GRAFT_REGISTRY_CONDITION_H
#define GRAFT_REGISTRY_CONDITION_H

#include "base/text.h"
#include "graft/config.h"
#include "graft/plugin.h"

/* What conditions look at. */
struct graft_model_facts {
    const struct graft_config *config;
    /* Whether the checkpoint has a tensor of that name, relative to the module at `path`; NULL: there are no tensors.
     */
    int (*has_tensor)(const void *data, const char *path, const char *name);
    const void *data;
};

/* The first of the replacement's conditions on the config, or else on tensors of the module at `path`, that does not
 * hold; NULL: all hold. Without facts none on the config holds, and there are no tensors. */
const struct graft_condition *graft_unmet_in_config(const struct graft_replacement *replacement,
                                                    const struct graft_model_facts *facts);
const struct graft_condition *graft_unmet_in_module(const struct graft_replacement *replacement,
                                                    const struct graft_model_facts *facts, const char *path);

/* The same of both, where no model is known. */
const struct graft_condition *graft_unmet_without_facts(const struct graft_replacement *replacement);

/* Whether a condition is on tensors. */
int graft_asks_for_tensors(const struct graft_replacement *replacement);

/* Whether it asks for tensors of adapters only: that most modules have none is no news, and an adapter that is not
 * applied is an error anyway. */
int graft_condition_is_of_adapters(const struct graft_condition *condition);

/* Adds what is not as the condition wants it: `quantization_config.quant_method is not "gptq"`, `no tensor "qweight"`.
 */
void graft_condition_tell(const struct graft_condition *condition, struct graft_text *text);

#endif
