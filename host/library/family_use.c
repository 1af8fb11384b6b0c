/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what a family declares without effect: most likely a name is misspelt, and the model is not what the family's
 * author intended. */
#include <string.h>

#include "config/rules.h"
#include "library/library.h"
#include "registry/nearest.h"

static const char *source_of(const struct graft_model *model) {
    return model->family.origin.file != NULL ? model->family.origin.file : model->config->model_type;
}

int graft_model_check_stand_ins(const struct graft_model *model, const struct graft_snapshot *snapshot,
                                struct graft_error *error) {
    const struct graft_family *family = model->family.family;
    for (int32_t i = 0; i < family->n_stand_ins; i++) {
        const char *name = graft_family_stand_in(family, i)->name;
        if (graft_snapshot_class(snapshot, name, model->family.origin.plugin) == NULL) {
            (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, source_of(model),
                                  "stand_ins.%s: there is no class of this name to stand in for", name);
            graft_snapshot_hint_nearest(snapshot, name, error);
            return GRAFT_ERROR_PLUGIN;
        }
    }
    return GRAFT_OK;
}

/* Whether a rule of the host or the family covers the field, so that no class need ask for it. */
static int is_listed(const struct graft_model *model, const char *name) {
    const struct graft_family *family = model->family.family;
    const struct graft_rules usual = graft_usual_rules("config.json");
    for (int32_t i = 0; i < usual.n; i++) {
        if (graft_rule_is_for(usual.rules[i].name, name)) {
            return 1;
        }
    }
    for (int32_t i = 0; i < graft_family_n_field_rules(family); i++) {
        if (graft_rule_is_for(graft_field_rule_at(family->field_rules, family->field_rule_stride, i)->name, name)) {
            return 1;
        }
    }
    return 0;
}

/* Whether the field is a rotary parameter, some of which only certain rope types use. */
static int is_of_rope(const char *name) {
    static const char *const names[] = {"rope_scaling", "rope_parameters", "original_max_position_embeddings",
                                        "partial_rotary_factor"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 && (name[length] == '\0' || name[length] == '.')) {
            return 1;
        }
    }
    return 0;
}

int graft_model_check_aliases(const struct graft_model *model, struct graft_error *error) {
    const struct graft_family *family = model->family.family;
    const struct graft_ledger *ledger = model->config->source->ledger;
    for (int32_t i = 0; i < family->n_fields; i++) {
        const struct graft_config_field *field = graft_family_field(family, i);
        if (field->alias != NULL && !graft_ledger_has(ledger, field->name) && !graft_ledger_has(ledger, field->alias) &&
            !is_of_rope(field->name) && !is_listed(model, field->name)) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, source_of(model),
                                   "aliases.%s: no class of this model type asks for a field of this name",
                                   field->name);
        }
    }
    return GRAFT_OK;
}
