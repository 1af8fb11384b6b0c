/* SPDX-License-Identifier: Apache-2.0 */
/* The family of a model: what its config.json is read by, and what its root is. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "library/library.h"

/* An architecture of another model type would read this config by other rules. */
static const char *type_of_architecture(const struct graft_snapshot *snapshot, const char *architecture) {
    const struct graft_known_family *known;
    for (size_t i = 0; (known = graft_snapshot_family_at(snapshot, i)) != NULL; i++) {
        if (graft_family_root(known->family, architecture) != NULL) {
            return known->family->model_type;
        }
    }
    return NULL;
}

static int check_architecture(const struct graft_model *model, const struct graft_snapshot *snapshot,
                              struct graft_error *error) {
    const struct graft_model_config *config = model->config;
    const struct graft_family *family = model->family.family;
    if (graft_family_root(family, config->architecture) != NULL) {
        return GRAFT_OK;
    }
    const char *type = type_of_architecture(snapshot, config->architecture);
    if (type != NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "architectures: %s does not belong to model_type \"%s\" but to \"%s\"",
                               config->architecture, config->model_type, type);
    }
    struct graft_text known = {0};
    for (int32_t i = 0; i < family->n_architectures; i++) {
        graft_text_printf(&known, "%s%s", i > 0 ? ", " : "", graft_family_architecture(family, i)->name);
    }
    int status = known.failed ? graft_fail_memory(error, config->file)
                              : graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                                "architectures: model_type \"%s\" has no %s; it has %s",
                                                config->model_type, config->architecture, known.bytes);
    graft_text_free(&known);
    return status;
}

/* A GGUF file has its config inside. */
static void hint_absent_config(const char *directory, struct graft_error *error) {
    char *path = graft_path_join(directory, "config.json");
    if (path != NULL && !graft_file_exists(path)) {
        graft_checkpoint_hint_unread(directory, error);
    }
    graft_free(path);
}

int graft_model_read_family(struct graft_model *model, const struct graft_snapshot *snapshot,
                            struct graft_error *error) {
    int status = graft_model_config_read(model->directory, &model->config, error);
    if (status != GRAFT_OK) {
        hint_absent_config(model->directory, error);
        return status;
    }
    struct graft_model_config *config = model->config;
    const struct graft_known_family *known = graft_snapshot_family(snapshot, config->model_type);
    if (known == NULL) {
        return graft_snapshot_fail_family(snapshot, config->file, config->model_type, error);
    }
    model->family = *known;
    graft_model_config_read_as(config, known->family);
    status = graft_snapshot_check_family(snapshot, known, error);
    return status == GRAFT_OK ? check_architecture(model, snapshot, error) : status;
}

const char *graft_model_root_class(const struct graft_model *model) {
    return graft_family_root(model->family.family, model->config->architecture);
}
