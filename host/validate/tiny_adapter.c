/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an adapter for a tiny model, if the plugin has classes for adapters: a low-rank pair for each projection. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "validate/tiny.h"
#include "weights/safetensors_write.h"

enum { RANK = 2 };

static const char config[] = "{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 4, "
                             "\"target_modules\": \"all-linear\"}\n";

/* A path in the model's directory that the model itself does not read. */
static char *adapter_path(const char *directory, const char *file) {
    return graft_format("%s/.adapter%s%s", directory, file[0] != '\0' ? "/" : "", file);
}

/* Whether a replacement applies only to models with adapters. */
static int wants_adapter(const struct graft_plugin *plugin) {
    for (int32_t i = 0; i < plugin->n_replacements; i++) {
        const struct graft_replacement *replacement = graft_plugin_replacement(plugin, i);
        for (int32_t k = 0; k < replacement->n_conditions; k++) {
            const struct graft_condition *condition = graft_replacement_condition(replacement, k);
            if (condition->kind == GRAFT_CONDITION_CONFIG && strcmp(condition->field, "adapters") == 0) {
                return 1;
            }
        }
    }
    return 0;
}

/* Whether the parameter is a Linear's matrix, such as "model.layers.0.mlp.up_proj.weight". The head is excluded, as in
 * adapters for all Linears. */
static int is_projection(const struct graft_parameter *parameter) {
    static const char end[] = "_proj.weight";
    size_t length = strlen(parameter->name);
    return parameter->rank == 2 && strstr(parameter->name, ".layers.") != NULL && length > strlen(end) &&
           strcmp(parameter->name + length - strlen(end), end) == 0;
}

static int add_tensor(const struct graft_parameter *parameter, const char *half, int64_t rows, int64_t columns,
                      uint64_t seed, struct graft_tensor_view *view) {
    int module = (int)(strlen(parameter->name) - strlen(".weight"));
    float *values = graft_alloc((size_t)(rows * columns), sizeof *values);
    *view = (struct graft_tensor_view){
        .name = graft_format("base_model.model.%.*s.%s.weight", module, parameter->name, half),
        .dtype = GRAFT_DTYPE_F32,
        .rank = 2,
        .shape = {rows, columns},
        .data = values,
        .bytes = rows * columns * (int64_t)sizeof *values};
    if (values != NULL) {
        graft_tiny_fill(values, rows * columns, 0.0F, seed);
    }
    return values != NULL && view->name != NULL ? 0 : -1;
}

static int write_tensors(const struct graft_plan *plan, const char *path, size_t *n, struct graft_error *error) {
    struct graft_tensor_view *views = graft_alloc(2 * plan->n_bindings + 1, sizeof *views);
    int failed = views == NULL;
    *n = 0;
    for (size_t i = 0; i < plan->n_bindings && !failed; i++) {
        const struct graft_parameter *parameter = plan->bindings[i].parameter;
        if (is_projection(parameter)) {
            failed |= add_tensor(parameter, "lora_A", RANK, parameter->shape[1], 2 * i + 1, &views[(*n)++]) != 0;
            failed |= add_tensor(parameter, "lora_B", parameter->shape[0], RANK, 2 * i + 2, &views[(*n)++]) != 0;
        }
    }
    int status = GRAFT_OK;
    if (failed) {
        status = graft_fail_memory(error, path);
    } else if (*n > 0) {
        status = graft_safetensors_write(path, views, *n, NULL, error);
    }
    for (size_t i = 0; views != NULL && i < *n; i++) {
        graft_free((void *)(uintptr_t)views[i].name);
        graft_free((void *)(uintptr_t)views[i].data);
    }
    graft_free(views);
    return status;
}

/* Writes the adapter; a model without projections gets none. */
static int write_adapter(const struct graft_model *model, const char *directory, struct graft_error *error) {
    const struct graft_file_piece piece = {config, strlen(config)};
    char *folder = adapter_path(directory, "");
    char *file = adapter_path(directory, "adapter_config.json");
    char *weights = adapter_path(directory, "adapter_model.safetensors");
    size_t n = 0;
    int status = GRAFT_OK;
    if (folder == NULL || file == NULL || weights == NULL) {
        status = graft_fail_memory(error, directory);
    } else if (mkdir(folder, S_IRWXU) != 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, folder, "mkdir", errno);
    } else {
        status = write_tensors(model->plan, weights, &n, error);
    }
    if (status == GRAFT_OK && n > 0) {
        status = graft_file_write(file, &piece, 1, error);
    }
    graft_free(weights);
    graft_free(file);
    graft_free(folder);
    return status;
}

int graft_tiny_make_adapter(struct graft_library *library, const char *directory, struct graft_error *error) {
    const struct graft_model_options options = {.struct_size = sizeof options, .without_replacements = 1};
    struct graft_model *model = NULL;
    if (!wants_adapter(graft_library_plugin(library, 0)->descriptor)) {
        return GRAFT_OK;
    }
    int status = graft_model_open(library, directory, &options, &model, error);
    if (status == GRAFT_OK) {
        status = write_adapter(model, directory, error);
    }
    graft_model_free(model);
    return status;
}

int graft_tiny_has_adapter(const char *directory) {
    char *file = adapter_path(directory, "adapter_config.json");
    int has = file != NULL && graft_file_exists(file);
    graft_free(file);
    return has;
}

int graft_tiny_open(struct graft_library *library, const char *directory, const struct graft_model_options *options,
                    struct graft_model **model, struct graft_error *error) {
    struct graft_model_options own = *options;
    char *folder = adapter_path(directory, "");
    if (folder == NULL) {
        return graft_fail_memory(error, directory);
    }
    const struct graft_adapter_options adapter = {
        .struct_size = sizeof adapter, .name = "tiny", .directory = folder, .scale = 1.0};
    if (graft_tiny_has_adapter(directory)) {
        own.adapters = &adapter;
        own.n_adapters = 1;
        own.adapter_stride = sizeof adapter;
    }
    int status = graft_model_open(library, directory, &own, model, error);
    graft_free(folder);
    return status;
}
