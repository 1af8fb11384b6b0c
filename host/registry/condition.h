/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates conditions of replacements (graft/condition.h) for one model. All functions are [any]. */
#ifndef GRAFT_REGISTRY_CONDITION_H
#define GRAFT_REGISTRY_CONDITION_H

#include "base/text.h"
#include "graft/config.h"
#include "graft/plugin.h"
#include "weights/tensor_view.h"

/* The facts about a model that conditions depend on. */
struct graft_model_facts {
    const struct graft_config *config;
    /* The checkpoint's tensor called `name`, relative to the module at `path`, or NULL. Without this function there are
     * no tensors. */
    const struct graft_tensor_view *(*tensor)(const void *data, const char *path, const char *name);
    /* Whether the index lists a tensor called `name`, relative to the module at `path`, for a file that is missing.
     * Without this function no file is missing. */
    int (*is_absent)(const void *data, const char *path, const char *name);
    /* Whether the checkpoint has tensors below the module at `path`. Without this function that is unknown. */
    int (*has_below)(const void *data, const char *path);
    /* Whether it may have tensors below a module of that name anywhere, so that `has_below` has to be asked. There if
     * `has_below` is. */
    int (*may_have)(const void *data, const char *name);
    const void *data;
};

enum { GRAFT_CONDITION_DIGITS = 32 };

/* A field's value as a string for comparing with conditions, written to `digits` if it is an integer; NULL for values
 * of other types. */
const char *graft_condition_spell(const struct graft_config *config, const char *field,
                                  char digits[GRAFT_CONDITION_DIGITS]);

/* Where conditions on tensors look for tensors. */
struct graft_tensor_places {
    const char *path;         /* the module */
    const char *alias;        /* another path that checkpoints may use for the module; or NULL */
    const char *const *parts; /* [n_parts] paths of the modules that a class above joins in this one */
    size_t n_parts;
    int32_t any_part; /* 1: it is enough if one part has a tensor; 0: all parts must have it */
};

/* The first unmet condition of a replacement, on the config or on tensors of a module; NULL if all are met. Without
 * facts no condition on the config is met, and there are no tensors. A joined module has a tensor if each of its parts
 * has it. An adapter's tensor counts for single parts, and for classes that take parts. */
const struct graft_condition *graft_unmet_in_config(const struct graft_replacement *replacement,
                                                    const struct graft_model_facts *facts);
const struct graft_condition *graft_unmet_in_module(const struct graft_replacement *replacement,
                                                    const struct graft_model_facts *facts,
                                                    const struct graft_tensor_places *places);

/* Whether a condition asks for a tensor that only some parts of a joined module have, or for one of an adapter. If so,
 * adds a text that says which. */
int graft_condition_parts_differ(const struct graft_replacement *replacement, const struct graft_model_facts *facts,
                                 const struct graft_tensor_places *places, struct graft_text *text);

/* The first unmet condition of either kind, if no model is known. */
const struct graft_condition *graft_unmet_without_facts(const struct graft_replacement *replacement);

/* How many of the replacement's conditions come before `condition`. */
int32_t graft_conditions_before(const struct graft_replacement *replacement, const struct graft_condition *condition);

/* Whether any condition is on tensors. */
int graft_asks_for_tensors(const struct graft_replacement *replacement);

/* Whether a condition asks for tensors of adapters only. Such conditions are not reported as unmet: most modules have
 * no adapter, and an adapter that is not applied is an error anyway. */
int graft_condition_is_of_adapters(const struct graft_condition *condition);

/* Adds the description of an unmet condition: `quantization_config.quant_method is not "gptq"`, `no tensor
 * "qweight"`. */
void graft_condition_tell(const struct graft_condition *condition, struct graft_text *text);

#endif
