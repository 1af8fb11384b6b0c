/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the fusion families of a model: an option overrides config.json. */
#include <string.h>

#include "base/fail.h"
#include "library/library.h"
#include "model/fusion.h"
#include "plugin/validate.h"

static const char option[] = "options";

int graft_model_set_fusion(struct graft_model *model, const char *fusion_config, struct graft_error *error) {
    struct graft_error cause = graft_error_none();
    if (fusion_config == NULL) {
        return GRAFT_OK;
    }
    int status = graft_json_parse_strict(fusion_config, strlen(fusion_config), option, &model->fusion_config, &cause);
    if (status == GRAFT_OK && graft_json_type(model->fusion_config) != GRAFT_JSON_OBJECT) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, option,
                               "fusion_config: expected an object of fusion families, got %s",
                               graft_json_type_name(model->fusion_config));
    }
    return status == GRAFT_OK ? GRAFT_OK
                              : graft_error_set(error, status == GRAFT_ERROR_MODEL ? GRAFT_ERROR_USAGE : status, option,
                                                "fusion_config: %s", cause.message);
}

int graft_model_read_fusion(const struct graft_model *model, const struct graft_snapshot *snapshot,
                            struct graft_fusion_request *request, struct graft_error *error) {
    const struct graft_fusion_source by_option = {option, GRAFT_ERROR_USAGE};
    const struct graft_fusion_source by_file = {model->config->file, GRAFT_ERROR_MODEL};
    if (model->fusion_config != NULL) {
        return graft_fusion_request_read(snapshot, model->fusion_config, &by_option, request, error);
    }
    return graft_fusion_request_read(snapshot, graft_json_get(model->config->document, "fusion_config"), &by_file,
                                     request, error);
}

int graft_library_add_fusion(struct graft_library *library, const struct graft_fusion_family *family,
                             struct graft_error *error) {
    const struct graft_place place = {.file = "fusion family", .index = -1};
    struct graft_error cause = graft_error_none();
    if (family == NULL || graft_fusion_validate(&place, family, &cause) != GRAFT_OK) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "fusion family", "%s",
                               family != NULL ? cause.message : "expected one, got NULL");
    }
    return graft_registry_add_fusion(library->registry, family, NULL, error);
}

/* `draft` is a model that is not open; only its config has been read. */
static int register_for(struct graft_library *library, const struct graft_model *draft, struct graft_snapshot *snapshot,
                        struct graft_error *error) {
    struct graft_fusion_request request = {0};
    const struct graft_tree_options options = {
        .config = draft->config,
        .snapshot = snapshot,
        .class_name = draft->root_class,
        .family = &draft->family,
        .fusion = &request,
    };
    int status = graft_model_read_fusion(draft, snapshot, &request, error);
    if (status == GRAFT_OK) {
        status = graft_fusion_register(library->registry, &options, error);
    }
    graft_fusion_request_finish(&request);
    return status;
}

static int register_families(struct graft_library *library, const char *directory, const char *fusion_config,
                             struct graft_error *error) {
    struct graft_model draft = {.directory = (char *)(uintptr_t)directory};
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    int status = graft_model_set_fusion(&draft, fusion_config, error);
    if (status == GRAFT_OK) {
        status = graft_model_read_family(&draft, snapshot, error);
    }
    if (status == GRAFT_OK) {
        status = register_for(library, &draft, snapshot, error);
    }
    graft_snapshot_release(snapshot);
    graft_model_config_free(draft.config);
    graft_json_free(draft.fusion_config);
    return status;
}

int graft_library_register_fusion(struct graft_library *library, const char *directory, const char *fusion_config,
                                  struct graft_error *error) {
    struct graft_context *before = graft_library_begin(library);
    int status = register_families(library, directory, fusion_config, error);
    (void)graft_context_enter(before);
    return status;
}
