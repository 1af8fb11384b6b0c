/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath, symlink */

#include "validate/given.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "config/config.h"
#include "plugin/search.h"
#include "validate/compare.h"
#include "weights/checkpoint.h"
#include "weights/safetensors_write.h"

int graft_given_check(const char *directory, const char *const *plugins, int32_t n, struct graft_error *error) {
    struct graft_model_config *config = NULL;
    struct graft_checkpoint *checkpoint = NULL;
    struct graft_plugin_files files = {0};
    int status = graft_model_config_read(directory, NULL, &config, error);
    if (status == GRAFT_OK) {
        status = graft_checkpoint_open(directory, &checkpoint, error);
    }
    if (status == GRAFT_OK) {
        status = graft_plugin_files_find(plugins, n, &files, error);
    }
    graft_plugin_files_free(&files);
    graft_checkpoint_close(checkpoint);
    graft_model_config_free(config);
    return status;
}

/* The last component of the path, with links resolved. Names that begin with a dot are ignored by checks. */
static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    name += strspn(name, ".");
    return name[0] != '\0' ? name : "model";
}

/* Checks that the model is suitable for the checks. */
static int judge(const struct graft_validation *validation, struct graft_library *library, struct graft_model *model,
                 struct graft_error *error) {
    int64_t wanted = 0;
    for (int i = 0; i < GRAFT_VALIDATION_IDS; i++) {
        wanted = graft_validation_ids()[i] >= wanted ? graft_validation_ids()[i] + 1 : wanted;
    }
    int status = graft_plan_check(model->plan, error);
    if (status == GRAFT_OK && !graft_subject_is_plugins(model, graft_library_plugin(library, 0)->descriptor->id)) {
        status = graft_validation_fault(validation, error, "it has no effect on this model");
    }
    if (status == GRAFT_OK && graft_has_logits(model) && graft_model_vocab_size(model) < wanted) {
        status = graft_validation_fault(validation, error, "the model has %lld tokens, and the checks need %lld",
                                        (long long)graft_model_vocab_size(model), (long long)wanted);
    }
    return status;
}

int graft_given_take(struct graft_validation *validation, struct graft_library *library, struct graft_error *error) {
    const struct graft_model_options options = {.struct_size = sizeof options};
    struct graft_model *model = NULL;
    char *path = realpath(validation->model, NULL); /* allocated by the C library */
    if (path == NULL) {
        return graft_fail_errno(error, GRAFT_ERROR_IO, validation->model, "cannot be found", errno);
    }
    char *link = graft_path_join(validation->folder, name_of(path));
    graft_validation_at(validation, name_of(path));
    int status = link != NULL ? graft_model_open(library, path, &options, &model, error)
                              : graft_fail_memory(error, validation->model);
    if (status == GRAFT_OK) {
        status = judge(validation, library, model, error);
    }
    if (status == GRAFT_OK && symlink(path, link) != 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, link, "cannot be made", errno);
    }
    graft_model_free(model);
    graft_free(link);
    free(path);
    return status;
}

static int write_tensors(const struct graft_checkpoint *checkpoint, const char *path, struct graft_error *error) {
    size_t n = graft_checkpoint_count(checkpoint);
    struct graft_tensor_view *views = graft_alloc(n, sizeof *views);
    graft_json *metadata = graft_json_new_object();
    int failed = views == NULL || graft_json_set_take(metadata, "format", graft_json_new_string("pt")) != 0;
    for (size_t i = 0; i < n && !failed; i++) {
        views[i] = *graft_checkpoint_at(checkpoint, i);
    }
    int status = failed ? graft_fail_memory(error, path) : graft_safetensors_write(path, views, n, metadata, error);
    graft_json_free(metadata);
    graft_free(views);
    return status;
}

int graft_given_copy_weights(const char *from, const char *to, struct graft_error *error) {
    struct graft_checkpoint *checkpoint = NULL;
    char *path = graft_path_join(to, "model.safetensors");
    int status = GRAFT_OK;
    if (path == NULL) {
        status = graft_fail_memory(error, from);
    } else if (!graft_file_exists(path)) {
        status = graft_checkpoint_open(from, &checkpoint, error);
        if (status == GRAFT_OK) {
            status = write_tensors(checkpoint, path, error);
        }
        graft_checkpoint_close(checkpoint);
    }
    graft_free(path);
    return status;
}
