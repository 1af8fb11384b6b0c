/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the family of a model, by which its config.json is read, and the root class. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "graft/causal_lm.h"
#include "library/library.h"

/* The model type that an architecture belongs to: one of another model type would read this config by other rules. */
static const char *type_of_architecture(const struct graft_snapshot *snapshot, const char *architecture) {
    const struct graft_known_family *known;
    for (size_t i = 0; (known = graft_snapshot_family_at(snapshot, i)) != NULL; i++) {
        if (graft_family_root(known->family, architecture) != NULL) {
            return known->family->model_type;
        }
    }
    return NULL;
}

const char *graft_model_causal_lm(const struct graft_model *model, const struct graft_snapshot *snapshot) {
    const struct graft_family *family = model->family.family;
    for (int32_t i = 0; i < family->n_architectures; i++) {
        const char *name = graft_family_root(family, graft_family_architecture(family, i)->name);
        const struct graft_known_class *known = graft_snapshot_class(snapshot, name, model->family.origin.plugin);
        if (known != NULL && strcmp(known->cls->interface_id, GRAFT_INTERFACE_CAUSAL_LM) == 0) {
            return name;
        }
    }
    return NULL;
}

/* Sets the error of an architecture that the family does not know. `fault` says why the family's causal LM cannot
 * replace it; or "". */
static int fail_unknown(const struct graft_model *model, const char *fault, struct graft_error *error) {
    const struct graft_model_config *config = model->config;
    const struct graft_family *family = model->family.family;
    struct graft_text known = {0};
    for (int32_t i = 0; i < family->n_architectures; i++) {
        graft_text_printf(&known, "%s%s", i > 0 ? ", " : "", graft_family_architecture(family, i)->name);
    }
    int status = known.failed ? graft_fail_memory(error, config->file)
                              : graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                                "architectures: model_type \"%s\" has no %s; it has %s%s",
                                                config->model_type, config->architecture, known.bytes, fault);
    graft_text_free(&known);
    return status;
}

/* Whether an architecture cannot be another name for the causal LM, even if it has the same tensors. */
static int is_masked(const char *architecture) {
    static const char suffix[] = "ForMaskedLM";
    const size_t length = architecture != NULL ? strlen(architecture) : 0;
    return length >= sizeof suffix - 1 && strcmp(architecture + length - (sizeof suffix - 1), suffix) == 0;
}

/* Chooses the root class, that of the architecture. transformers only uses the model type, so an unknown architecture
 * may be another name for the causal LM; graft_model_check_root decides that by the tensors. */
static int choose_root(struct graft_model *model, const struct graft_snapshot *snapshot, struct graft_error *error) {
    const struct graft_model_config *config = model->config;
    model->root_class = graft_family_root(model->family.family, config->architecture);
    if (model->root_class != NULL && !model->takes_head) {
        return GRAFT_OK;
    }
    int status = model->takes_head ? GRAFT_OK : graft_snapshot_read_all(snapshot, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const char *type = model->takes_head ? NULL : type_of_architecture(snapshot, config->architecture);
    if (type != NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "architectures: %s does not belong to model_type \"%s\" but to \"%s\"",
                               config->architecture, config->model_type, type);
    }
    model->root_class =
        model->without_weights || is_masked(config->architecture) ? NULL : graft_model_causal_lm(model, snapshot);
    model->root_guessed = 1;
    return model->root_class != NULL ? GRAFT_OK : fail_unknown(model, "", error);
}

int graft_model_check_root(const struct graft_model *model, struct graft_error *error) {
    const struct graft_plan *plan = model->plan;
    const struct graft_binding *fault = graft_plan_fault(plan, NULL, NULL);
    char words[320];
    if (!model->root_guessed || (fault == NULL && plan->n_unexpected == 0)) {
        return GRAFT_OK;
    }
    (void)snprintf(words, sizeof words, ", and its tensors are not those of %s: \"%.200s\" %s", model->root_class,
                   plan->n_unexpected > 0 ? plan->unexpected[0]->name : fault->parameter->name,
                   plan->n_unexpected > 0                   ? "has no place in it"
                   : fault->status == GRAFT_BINDING_MISSING ? "is missing"
                                                            : "does not fit");
    return fail_unknown(model, words, error);
}

/* Adds a hint about GGUF files, which contain their config. */
static void hint_absent_config(const char *directory, struct graft_error *error) {
    char *path = graft_path_join(directory, "config.json");
    if (path != NULL && !graft_file_exists(path)) {
        graft_checkpoint_hint_unread(directory, error);
    }
    graft_free(path);
}

int graft_model_read_family(struct graft_model *model, const struct graft_snapshot *snapshot,
                            struct graft_error *error) {
    int status = graft_model_config_read(model->directory, &model->ignored, &model->config, error);
    if (status != GRAFT_OK) {
        hint_absent_config(model->directory, error);
        return status;
    }
    struct graft_model_config *config = model->config;
    const struct graft_known_family *known = NULL;
    status = graft_snapshot_find_family(snapshot, config->model_type, &known, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (known == NULL) {
        return graft_snapshot_fail_family(snapshot, config->file, config->model_type, error);
    }
    model->family = *known;
    graft_model_config_read_as(config, known->family);
    status = graft_snapshot_check_family(snapshot, known, error);
    return status == GRAFT_OK ? choose_root(model, snapshot, error) : status;
}
