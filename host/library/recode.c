/* SPDX-License-Identifier: Apache-2.0 */
#include "library/recode.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "config/quantization.h"
#include "save/save.h"

/* --- The source --- */

static int check(const struct graft_model *model, const struct graft_model_options *options,
                 struct graft_error *error) {
    const char *option = options->dequantize ? "dequantize" : "quantize";
    if (options->dequantize && options->quantize != NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "expected quantize or dequantize, got both");
    }
    if (options->patch != NULL || options->patch_file != NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory,
                               "%s: a patch says how the files' own tensors are read, so the two cannot be combined",
                               option);
    }
    if (options->without_weights) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "%s: there are no weights to read", option);
    }
    if (graft_save_is_runtime_layout(model->directory)) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, model->directory,
                              "%s: expected a checkpoint as it is published, got a directory in the runtime layout",
                              option);
        graft_error_hint(error, "save it in the original layout first");
        return GRAFT_ERROR_USAGE;
    }
    return GRAFT_OK;
}

static int plan(struct graft_recoding *recoding, const struct graft_model_options *options, struct graft_error *error) {
    struct graft_model *source = recoding->source;
    int status = graft_plan_check(source->plan, error);
    recoding->removed = graft_alloc(graft_checkpoint_count(source->checkpoint) + 1, 1);
    if (status == GRAFT_OK && recoding->removed == NULL) {
        status = graft_fail_memory(error, source->directory);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    return options->dequantize ? graft_dequantize_plan(recoding, error)
                               : graft_quantize_plan(recoding, options->quantize, error);
}

int graft_recoding_open(struct graft_model *model, const struct graft_model_options *options,
                        struct graft_error *error) {
    if (options == NULL || !GRAFT_HAS(options, struct graft_model_options, dequantize) ||
        (options->quantize == NULL && !options->dequantize)) {
        return GRAFT_OK;
    }
    const struct graft_model_options wanted = {
        .struct_size = sizeof wanted,
        .without_replacements = 1,
        .ignored_fields = options->ignored_fields,
        .n_ignored_fields = options->n_ignored_fields,
        .ignored_may_lack = 1,
    };
    int status = check(model, options, error);
    struct graft_recoding *recoding = status == GRAFT_OK ? graft_alloc(1, sizeof *recoding) : NULL;
    if (status == GRAFT_OK && recoding == NULL) {
        status = graft_fail_memory(error, model->directory);
    }
    model->recoding = recoding;
    if (status == GRAFT_OK) {
        status = graft_model_open(model->library, model->directory, &wanted, &recoding->source, error);
    }
    return status == GRAFT_OK ? plan(recoding, options, error) : status;
}

/* Removes a tensor; for the result of an operation, the tensors that it is computed from. */
static void remove_tensor(struct graft_recoding *recoding, const struct graft_tensor_view *tensor) {
    const struct graft_computed *computed = tensor->computed;
    if (computed == NULL) {
        recoding->removed[graft_checkpoint_number(recoding->source->checkpoint, tensor)] = 1;
        return;
    }
    for (int32_t i = 0; i < computed->n_inputs; i++) {
        for (size_t k = 0; k < computed->inputs[i].n_parts; k++) {
            remove_tensor(recoding, computed->inputs[i].parts[k].tensor);
        }
    }
}

void graft_recoding_remove(struct graft_recoding *recoding, const struct graft_parameter *parameter) {
    const struct graft_value *value = &recoding->source->plan->bindings[parameter->index].value;
    for (size_t i = 0; i < value->n_parts; i++) {
        remove_tensor(recoding, value->parts[i].tensor);
    }
}

int graft_recoding_add(struct graft_recoding *recoding, char *name_take, graft_dtype dtype, int32_t rank,
                       const int64_t *shape, const char *file) {
    struct graft_tensor_view view = {.name = name_take, .dtype = dtype, .rank = rank, .file = file};
    memcpy(view.shape, shape, (size_t)rank * sizeof *shape);
    if (name_take == NULL ||
        graft_grow(&recoding->made, &recoding->made_capacity, recoding->n_made, sizeof view) != 0) {
        graft_free(name_take);
        return -1;
    }
    recoding->made[recoding->n_made++] = view;
    return 0;
}

int graft_recoding_is_transposed(const struct graft_node *node, const char *name) {
    const struct graft_conversion *conversion;
    for (size_t i = 0; (conversion = graft_node_conversion(node, i)) != NULL; i++) {
        const int is_of_it = conversion->n_targets == 1 && strcmp(conversion->targets[0], name) == 0;
        for (int32_t k = 0; is_of_it && k < conversion->n_operations; k++) {
            if (graft_conversion_operation(conversion, k)->kind == GRAFT_OP_TRANSPOSE) {
                return 1;
            }
        }
    }
    return 0;
}

/* --- The model --- */

int graft_recoding_edit_config(struct graft_model *model, struct graft_error *error) {
    struct graft_recoding *recoding = model->recoding;
    if (recoding == NULL) {
        return GRAFT_OK;
    }
    graft_json *document = model->config->document;
    const char *field = graft_quantization_field(&model->config->whole);
    if (field != NULL) {
        recoding->detached = graft_json_detach_path(document, field);
        recoding->field = field;
        return GRAFT_OK;
    }
    graft_json *config = recoding->config;
    recoding->not_tied = graft_json_new_bool(0);
    if (recoding->not_tied == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    recoding->config = NULL; /* the document owns it now */
    recoding->field = "quantization_config";
    return graft_json_set_take(document, recoding->field, config) == 0 ? GRAFT_OK
                                                                       : graft_fail_memory(error, model->directory);
}

int graft_recoding_edit_checkpoint(struct graft_model *model, struct graft_error *error) {
    const struct graft_recoding *recoding = model->recoding;
    return recoding == NULL ? GRAFT_OK
                            : graft_checkpoint_exchange(model->checkpoint, recoding->removed, recoding->made,
                                                        recoding->n_made, error);
}

int graft_recoding_fill(struct graft_model *model, struct graft_error *error) {
    struct graft_recoding *recoding = model->recoding;
    struct graft_error cause = graft_error_none();
    if (recoding == NULL || recoding->source == NULL) {
        return GRAFT_OK;
    }
    int status = graft_checkpoint_make_room(model->checkpoint, &cause);
    if (status == GRAFT_OK) {
        status = recoding->format == NULL ? graft_dequantize_fill(recoding, model->checkpoint, &cause)
                                          : graft_quantize_fill(recoding, model->checkpoint, &cause);
    }
    if (status != GRAFT_OK) {
        return graft_model_name_file(recoding->source, &cause, error);
    }
    graft_model_free(recoding->source);
    recoding->source = NULL;
    return GRAFT_OK;
}

void graft_recoding_changes(const struct graft_model *model, struct graft_config_changes *changes) {
    const struct graft_recoding *recoding = model->recoding;
    if (recoding == NULL) {
        return;
    }
    const char *key = strchr(recoding->field, '.') == NULL        ? recoding->field
                      : strncmp(recoding->field, "text_", 5) == 0 ? "text_config"
                                                                  : "vision_config";
    changes->items[changes->n++] = (struct graft_config_change){key, graft_json_get(model->config->document, key)};
    changes->is_dequantized = recoding->detached != NULL;
    if (recoding->unties) {
        changes->items[changes->n++] = (struct graft_config_change){"tie_word_embeddings", recoding->not_tied};
    }
}

void graft_recoding_free(struct graft_recoding *recoding) {
    if (recoding == NULL) {
        return;
    }
    for (size_t i = 0; i < recoding->n_made; i++) {
        graft_free((void *)(uintptr_t)recoding->made[i].name);
    }
    graft_model_free(recoding->source);
    graft_json_free(recoding->config);
    graft_json_free(recoding->detached);
    graft_json_free(recoding->not_tied);
    graft_free(recoding->removed);
    graft_free(recoding->made);
    graft_free(recoding->items);
    graft_free(recoding->note);
    graft_free(recoding);
}
