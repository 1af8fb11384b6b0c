/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/condition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int is_any_of(const char *const *list, const char *text) {
    for (; text != NULL && *list != NULL; list++) {
        if (strcmp(*list, text) == 0) {
            return 1;
        }
    }
    return 0;
}

const char *graft_condition_spell(const struct graft_config *config, const char *field,
                                  char digits[GRAFT_CONDITION_DIGITS]) {
    int64_t integer = config->integer(config->data, field);
    switch (config->kind(config->data, field)) {
    case GRAFT_FIELD_STRING:
        return config->string(config->data, field);
    case GRAFT_FIELD_BOOL:
        return integer != 0 ? "true" : "false";
    case GRAFT_FIELD_INT:
        (void)snprintf(digits, GRAFT_CONDITION_DIGITS, "%" PRId64, integer);
        return digits;
    default:
        return NULL;
    }
}

static int holds_in_config(const struct graft_condition *condition, const struct graft_config *config) {
    char digits[GRAFT_CONDITION_DIGITS];
    return graft_config_has(config, condition->field) &&
           (condition->any_of == NULL ||
            is_any_of(condition->any_of, graft_condition_spell(config, condition->field, digits)));
}

/* The first of the condition's tensors that exists at a path; NULL if none does. */
static const char *find_tensor(const struct graft_condition *condition, const struct graft_model_facts *facts,
                               const char *path) {
    for (const char *const *name = condition->any_of; facts->tensor != NULL && *name != NULL; name++) {
        if (facts->tensor(facts->data, path, *name) != NULL ||
            (facts->is_absent != NULL && facts->is_absent(facts->data, path, *name))) {
            return *name;
        }
    }
    return NULL;
}

static int holds_in_module(const struct graft_condition *condition, const struct graft_model_facts *facts,
                           const struct graft_tensor_places *places) {
    size_t n = 0;
    for (size_t i = 0; i < places->n_parts; i++) {
        n += find_tensor(condition, facts, places->parts[i]) != NULL;
    }
    const int of_all = n == places->n_parts && (n == 1 || !graft_condition_is_of_adapters(condition));
    return find_tensor(condition, facts, places->path) != NULL ||
           (places->alias != NULL && find_tensor(condition, facts, places->alias) != NULL) ||
           (n > 0 && (of_all || places->any_part));
}

static int is_of_tensors(const struct graft_condition *condition) {
    return condition->kind == GRAFT_CONDITION_TENSOR || condition->kind == GRAFT_CONDITION_NO_TENSOR;
}

const struct graft_condition *graft_unmet_in_config(const struct graft_replacement *replacement,
                                                    const struct graft_model_facts *facts) {
    for (int32_t i = 0; i < replacement->n_conditions; i++) {
        const struct graft_condition *condition = graft_replacement_condition(replacement, i);
        int wanted = condition->kind == GRAFT_CONDITION_CONFIG;
        if (!is_of_tensors(condition) && (facts != NULL && holds_in_config(condition, facts->config)) != wanted) {
            return condition;
        }
    }
    return NULL;
}

const struct graft_condition *graft_unmet_in_module(const struct graft_replacement *replacement,
                                                    const struct graft_model_facts *facts,
                                                    const struct graft_tensor_places *places) {
    for (int32_t i = 0; i < replacement->n_conditions; i++) {
        const struct graft_condition *condition = graft_replacement_condition(replacement, i);
        int wanted = condition->kind == GRAFT_CONDITION_TENSOR;
        if (is_of_tensors(condition) && (facts != NULL && holds_in_module(condition, facts, places)) != wanted) {
            return condition;
        }
    }
    return NULL;
}

int32_t graft_conditions_before(const struct graft_replacement *replacement, const struct graft_condition *condition) {
    int32_t n = 0;
    while (n < replacement->n_conditions && graft_replacement_condition(replacement, n) != condition) {
        n++;
    }
    return n;
}

const struct graft_condition *graft_unmet_without_facts(const struct graft_replacement *replacement) {
    const struct graft_condition *unmet = graft_unmet_in_config(replacement, NULL);
    return unmet != NULL ? unmet : graft_unmet_in_module(replacement, NULL, NULL);
}

/* A module's name: the last component of its path. */
static const char *name_of(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

int graft_condition_parts_differ(const struct graft_replacement *replacement, const struct graft_model_facts *facts,
                                 const struct graft_tensor_places *places, struct graft_text *text) {
    for (int32_t i = 0; facts != NULL && i < replacement->n_conditions; i++) {
        const struct graft_condition *condition = graft_replacement_condition(replacement, i);
        const char *with = NULL, *without = NULL, *name = NULL;
        if (condition->kind != GRAFT_CONDITION_TENSOR || find_tensor(condition, facts, places->path) != NULL) {
            continue;
        }
        for (size_t k = 0; k < places->n_parts; k++) {
            const char *found = find_tensor(condition, facts, places->parts[k]);
            *(found != NULL ? &with : &without) = places->parts[k];
            name = found != NULL ? found : name;
        }
        if (with != NULL && graft_condition_is_of_adapters(condition)) {
            graft_text_printf(text, "an adapter is for %s by itself", name_of(with));
            return 1;
        }
        if (with != NULL && without != NULL) {
            graft_text_printf(text, "%s has no tensor \"%s\", but %s has one", name_of(without), name, name_of(with));
            return 1;
        }
    }
    return 0;
}

int graft_asks_for_tensors(const struct graft_replacement *replacement) {
    int asks = 0;
    for (int32_t i = 0; i < replacement->n_conditions; i++) {
        asks |= is_of_tensors(graft_replacement_condition(replacement, i));
    }
    return asks;
}

int graft_condition_is_of_adapters(const struct graft_condition *condition) {
    static const char any[] = "adapter.*.";
    const char *const *name = condition->kind == GRAFT_CONDITION_TENSOR ? condition->any_of : NULL;
    while (name != NULL && *name != NULL && strncmp(*name, any, strlen(any)) == 0) {
        name++;
    }
    return name != NULL && *name == NULL;
}

void graft_condition_tell(const struct graft_condition *condition, struct graft_text *text) {
    const char *const *any_of = condition->any_of;
    int several = any_of != NULL && any_of[0] != NULL && any_of[1] != NULL;
    if (condition->kind == GRAFT_CONDITION_CONFIG && any_of == NULL && strcmp(condition->field, "adapters") == 0) {
        graft_text_add_string(text, "no adapter is given"); /* `adapters` is a field that no file has */
    } else if (condition->kind == GRAFT_CONDITION_TENSOR) {
        graft_text_add_string(text, several ? "none of the tensors" : "no tensor");
    } else if (condition->kind == GRAFT_CONDITION_NO_TENSOR) {
        graft_text_add_string(text, several ? "one of the tensors" : "a tensor");
    } else if (condition->kind == GRAFT_CONDITION_NO_CONFIG) {
        graft_text_printf(text, "%s is %s", condition->field, any_of == NULL ? "set" : "one of");
    } else {
        graft_text_printf(text, "%s is %s", condition->field, any_of == NULL ? "not set" : several ? "none of" : "not");
    }
    for (size_t i = 0; any_of != NULL && any_of[i] != NULL; i++) {
        graft_text_printf(text, "%s \"%s\"", i > 0 ? "," : "", any_of[i]);
    }
}
