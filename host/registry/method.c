/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins can read: weights of a method (`quantization_config.quant_method`), their layouts, and adapters. */
#include <string.h>

#include "base/fail.h"
#include "registry/condition.h"
#include "registry/snapshot.h"

static int lists(const struct graft_plugin *plugin, const char *quant_method) {
    const char *const *name = plugin->quant_methods;
    while (name != NULL && *name != NULL && strcmp(*name, quant_method) != 0) {
        name++;
    }
    return name != NULL && *name != NULL;
}

int graft_snapshot_reads(const struct graft_snapshot *snapshot, const char *id, const char *quant_method) {
    for (size_t i = 0; i < snapshot->n_plugins; i++) {
        const struct graft_plugin *plugin = snapshot->plugins[i].descriptor;
        if ((id == NULL || strcmp(plugin->id, id) == 0) && lists(plugin, quant_method)) {
            return 1;
        }
    }
    return 0;
}

int graft_snapshot_applies_adapters(const struct graft_snapshot *snapshot) {
    const struct rule *rule;
    for (size_t i = 0; (rule = graft_snapshot_rule(snapshot, i)) != NULL; i++) {
        for (int32_t k = 0; k < rule->declared->n_conditions; k++) {
            if (graft_condition_is_of_adapters(graft_replacement_condition(rule->declared, k))) {
                return 1;
            }
        }
    }
    return 0;
}

/* --- Layouts --- */

/* Whether a plugin reads the method without replacements, and so without conditions. */
static int reads_always(const struct graft_snapshot *snapshot, const char *quant_method) {
    for (size_t i = 0; i < snapshot->n_plugins; i++) {
        const struct graft_plugin *plugin = snapshot->plugins[i].descriptor;
        if (plugin->n_replacements == 0 && lists(plugin, quant_method)) {
            return 1;
        }
    }
    return 0;
}

/* Why no plugin that reads the method replaces anything in this model: the first unmet condition of a replacement,
 * preferably of the one that comes closest. NULL if some replacement's conditions hold, or if all are for other
 * methods. */
static const struct graft_condition *find_unmet(const struct graft_snapshot *snapshot, const char *quant_method,
                                                const struct graft_model_facts *facts) {
    static const char of_method[] = "quantization_config.quant_method";
    const struct graft_condition *found = NULL;
    const struct rule *rule;
    int32_t n_before = -1; /* -1 until a condition is found whose field the config has */
    for (size_t i = 0; (rule = graft_snapshot_rule(snapshot, i)) != NULL; i++) {
        if (rule->source != SOURCE_PLUGIN || rule->is_kernel ||
            !graft_snapshot_reads(snapshot, rule->origin.plugin, quant_method)) {
            continue;
        }
        const struct graft_condition *unmet = graft_unmet_in_config(rule->declared, facts);
        if (unmet == NULL) {
            return NULL;
        }
        const int32_t n =
            graft_config_has(facts->config, unmet->field) ? graft_conditions_before(rule->declared, unmet) : -1;
        if (strcmp(unmet->field, of_method) != 0 && (found == NULL || n > n_before)) {
            found = unmet;
            n_before = n;
        }
    }
    return found;
}

int graft_snapshot_check_layout(const struct graft_snapshot *snapshot, const struct graft_config *config,
                                const char *quant_method, struct graft_error *error) {
    const struct graft_model_facts facts = {.config = config};
    const struct graft_condition *unmet =
        reads_always(snapshot, quant_method) ? NULL : find_unmet(snapshot, quant_method, &facts);
    char digits[GRAFT_CONDITION_DIGITS];
    if (unmet == NULL) {
        return GRAFT_OK;
    }
    const char *value = graft_condition_spell(config, unmet->field, digits);
    if (!graft_config_has(config, unmet->field)) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                              "%s: missing, and no plugin here reads weights of quant_method \"%.100s\" without it",
                              unmet->field, quant_method);
    } else if (value == NULL) {
        return graft_config_expected(config, unmet->field, "a string", error);
    } else {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                              "%s: no plugin here reads \"%.100s\" of quant_method \"%.100s\"", unmet->field, value,
                              quant_method);
    }
    graft_error_hint(error, "load a plugin that does, or the unquantized model");
    return GRAFT_ERROR_MODEL;
}
