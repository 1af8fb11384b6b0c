/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of replacements (graft/condition.h), judged by what is known of one model. All functions are [any]. */
#ifndef GRAFT_REGISTRY_CONDITION_H
#define GRAFT_REGISTRY_CONDITION_H

#include "base/text.h"
#include "graft/config.h"
#include "graft/plugin.h"
#include "weights/tensor_view.h"

/* What conditions look at. */
struct graft_model_facts {
    const struct graft_config *config;
    /* The checkpoint's tensor of that name, relative to the module at `path`, or NULL; no function: no tensors. */
    const struct graft_tensor_view *(*tensor)(const void *data, const char *path, const char *name);
    /* Whether a file has it that the index lists and that is not there; no function: none has. */
    int (*is_absent)(const void *data, const char *path, const char *name);
    /* Whether the checkpoint has tensors below the module at `path`; no function: that is not known. */
    int (*has_below)(const void *data, const char *path);
    const void *data;
};

enum { GRAFT_CONDITION_DIGITS = 32 };

/* A field's value as conditions spell it, in `digits` if it is an integer; NULL: it has no such spelling. */
const char *graft_condition_spell(const struct graft_config *config, const char *field,
                                  char digits[GRAFT_CONDITION_DIGITS]);

/* Where conditions on tensors look. */
struct graft_tensor_places {
    const char *path;         /* the module */
    const char *alias;        /* what checkpoints may call it as well; or NULL */
    const char *const *parts; /* [n_parts] paths of the modules whose outputs a class above joins in this one */
    size_t n_parts;
    int32_t any_part; /* 1: what one of them has will do; 0: all must have it */
};

/* The first of the replacement's conditions on the config, or else on tensors of a module, that does not hold; NULL:
 * all hold. Without facts none on the config holds, and there are no tensors. A joined module has what each of its
 * parts has, but for what adapters have: that is for the parts one by one, and for a class that takes them. */
const struct graft_condition *graft_unmet_in_config(const struct graft_replacement *replacement,
                                                    const struct graft_model_facts *facts);
const struct graft_condition *graft_unmet_in_module(const struct graft_replacement *replacement,
                                                    const struct graft_model_facts *facts,
                                                    const struct graft_tensor_places *places);

/* Whether a condition wants a tensor that some parts of a joined module have and others lack, or one of an adapter:
 * then adds which. */
int graft_condition_parts_differ(const struct graft_replacement *replacement, const struct graft_model_facts *facts,
                                 const struct graft_tensor_places *places, struct graft_text *text);

/* The same of both, where no model is known. */
const struct graft_condition *graft_unmet_without_facts(const struct graft_replacement *replacement);

/* How many of the replacement's conditions come before one of them. */
int32_t graft_conditions_before(const struct graft_replacement *replacement, const struct graft_condition *condition);

/* Whether a condition is on tensors. */
int graft_asks_for_tensors(const struct graft_replacement *replacement);

/* Whether it asks for tensors of adapters only: that most modules have none is no news, and an adapter that is not
 * applied is an error anyway. */
int graft_condition_is_of_adapters(const struct graft_condition *condition);

/* Adds what is not as the condition wants it: `quantization_config.quant_method is not "gptq"`, `no tensor "qweight"`.
 */
void graft_condition_tell(const struct graft_condition *condition, struct graft_text *text);

#endif
