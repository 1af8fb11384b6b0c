/* SPDX-License-Identifier: Apache-2.0 */
/* Notes on a planned model: what its user may not have intended, but is not an error. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "library/library.h"
#include "library/recode.h"
#include "model/fusion.h"
#include "registry/assignment.h"
#include "save/save.h"

static int add_note(void *data, char *note_take, size_t unused_plugins, struct graft_error *error) {
    struct graft_model *model = data;
    if (note_take == NULL ||
        graft_grow(&model->notes, &model->notes_capacity, model->n_notes, sizeof *model->notes) != 0) {
        graft_free(note_take);
        return graft_fail_memory(error, model->directory);
    }
    graft_error_clean(note_take);
    model->notes[model->n_notes++] = (struct graft_model_note){note_take, unused_plugins};
    return GRAFT_OK;
}

static int add(void *data, char *note_take, struct graft_error *error) {
    return add_note(data, note_take, 0, error);
}

/* Notes that a model cannot be saved in the original layout, because an operation cannot be reversed. No note for
 * models with adapters, which can never be saved. */
static int note_final(struct graft_model *model, struct graft_error *error) {
    const struct graft_computed *final = graft_save_irreversible(model->plan);
    return final == NULL || model->adapters.n > 0
               ? GRAFT_OK
               : add(model,
                     graft_format("the operation %s of plugin %s, at \"%s\", cannot be undone: this model can be saved "
                                  "in the runtime layout only",
                                  final->operation->name, final->plugin != NULL ? final->plugin : "(none)",
                                  final->place),
                     error);
}

/* Notes parts of a load patch without effect: most likely they are misspelt. */
static int note_idle_patch(struct graft_model *model, struct graft_error *error) {
    const struct graft_model_lists *lists = &model->lists;
    int status = GRAFT_OK;
    for (size_t i = 0; i < lists->without.n && status == GRAFT_OK; i++) {
        if (!lists->without.used[i]) {
            status =
                add(model, graft_format("load patch: without \"%s\" matches no conversion", lists->without.texts[i]),
                    error);
        }
    }
    for (size_t i = 0; i < lists->n_forced && !model->without_weights && status == GRAFT_OK; i++) {
        if (!lists->used[i]) {
            status = add(model, graft_format("load patch: conversions[%zu] matches no tensor", i), error);
        }
    }
    return status;
}

static int has_tensor_of(const struct graft_adapter *adapter, const char *module, size_t length) {
    for (size_t i = 0; i < adapter->n_tensors; i++) {
        const char *name = adapter->tensors[i].name;
        for (const char *at = strchr(name, '.'); at != NULL; at = strchr(at + 1, '.')) {
            if (strncmp(at + 1, module, length) == 0 && at[1 + length] == '.') {
                return 1;
            }
        }
    }
    return 0;
}

/* Notes names in a list of an adapter's config, of modules or their parameters, for which the adapter has no tensors.
 */
static int note_idle_names(struct graft_model *model, const struct graft_adapter *adapter, const char *field,
                           int are_parameters, struct graft_error *error) {
    const struct graft_config *config = &model->config->view;
    char list[GRAFT_ADAPTER_NAME + 32], element[sizeof list + 24];
    int status = GRAFT_OK;
    (void)snprintf(list, sizeof list, "adapter.%s.%s", adapter->name, field);
    for (int64_t i = 0; i < config->size(config->data, list) && status == GRAFT_OK; i++) {
        (void)snprintf(element, sizeof element, "%s.%lld", list, (long long)i);
        const char *name = config->string(config->data, element);
        const char *dot = name != NULL && are_parameters ? strrchr(name, '.') : NULL;
        const size_t length = dot != NULL ? (size_t)(dot - name) : name != NULL && !are_parameters ? strlen(name) : 0;
        if (length > 0 && !has_tensor_of(adapter, name, length)) {
            status = add(
                model,
                graft_format("adapter %s: %s names \"%s\", for which it has no tensors", adapter->name, field, name),
                error);
        }
    }
    return status;
}

/* Notes that no module has the adapter's rows of single tokens. */
static int note_idle_tokens(struct graft_model *model, const struct graft_adapter *adapter, struct graft_error *error) {
    static const char field[] = "trainable_token_indices";
    const struct graft_config *config = &model->config->view;
    char path[GRAFT_ADAPTER_NAME + 40];
    (void)snprintf(path, sizeof path, "adapter.%s.%s", adapter->name, field);
    return config->size(config->data, path) == 0 || has_tensor_of(adapter, "token_adapter", strlen("token_adapter"))
               ? GRAFT_OK
               : add(model,
                     graft_format("adapter %s: %s names tokens, for which it has no tensors", adapter->name, field),
                     error);
}

/* Notes modules that PEFT was asked to adapt and that have no tensors. PEFT initialises these without effect, so it is
 * not an error. */
static int note_idle_targets(struct graft_model *model, struct graft_error *error) {
    int status = GRAFT_OK;
    if (model->resized_by != NULL) {
        status = add(model,
                     graft_format("adapter %s: its tables have %lld tokens, and so has the model then, which had %lld",
                                  model->resized_by, (long long)model->resized_to, (long long)model->resized_from),
                     error);
    }
    for (size_t i = 0; i < model->adapters.n && status == GRAFT_OK; i++) {
        const struct graft_adapter *adapter = &model->adapters.items[i];
        status = note_idle_names(model, adapter, "target_modules", 0, error);
        status = status == GRAFT_OK ? note_idle_names(model, adapter, "target_parameters", 1, error) : status;
        status = status == GRAFT_OK ? note_idle_names(model, adapter, "modules_to_save", 0, error) : status;
        status = status == GRAFT_OK ? note_idle_tokens(model, adapter, error) : status;
    }
    return status;
}

/* Notes a field that asks for a type of the cache of keys and values, which this program chooses itself. */
static int note_cache(struct graft_model *model, struct graft_error *error) {
    static const char *const fields[] = {"quantization_config.kv_cache_scheme",
                                         "quantization_config.kv_cache_quant_algo"};
    const struct graft_config *config = &model->config->view;
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && status == GRAFT_OK; i++) {
        if (graft_config_has(config, fields[i])) {
            status =
                add(model, graft_format("%s: the cache of keys and values is not quantized by it", fields[i]), error);
        }
    }
    return status;
}

/* Notes families of plugins found in directories that are not used, because the host has its own. */
static int note_families(struct graft_model *model, struct graft_error *error) {
    const struct graft_known_family *known;
    int status = GRAFT_OK;
    for (size_t i = 0;
         (known = graft_snapshot_registered_family_at(model->tree->snapshot, i)) != NULL && status == GRAFT_OK; i++) {
        if (model->family.origin.plugin == NULL && known->origin.plugin != NULL &&
            strcmp(known->family->model_type, model->config->model_type) == 0) {
            status = add(model,
                         graft_format("the host's own \"%s\" goes before that of plugin %s; enable it by id",
                                      known->family->model_type, known->origin.plugin),
                         error);
        }
    }
    return status;
}

static int note_root(struct graft_model *model, struct graft_error *error) {
    const struct graft_model_config *config = model->config;
    return model->root_guessed
               ? add(model,
                     graft_format("%s: architectures: %s is read as %s, whose tensors the checkpoint has", config->file,
                                  config->architecture, model->root_class),
                     error)
               : GRAFT_OK;
}

static int note_recoding(struct graft_model *model, struct graft_error *error) {
    return model->recoding != NULL ? add(model, graft_strdup(model->recoding->note), error) : GRAFT_OK;
}

int graft_model_collect_notes(struct graft_model *model, struct graft_error *error) {
    int status = note_root(model, error);
    status = status == GRAFT_OK ? note_recoding(model, error) : status;
    status = status == GRAFT_OK ? graft_assignment_notes(model->tree->assignment, add_note, model, error) : status;
    status = status == GRAFT_OK ? note_families(model, error) : status;
    status = status == GRAFT_OK ? note_idle_patch(model, error) : status;
    status = status == GRAFT_OK ? note_idle_targets(model, error) : status;
    status = status == GRAFT_OK ? note_cache(model, error) : status;
    for (size_t i = 0; i < model->tree->n_fused_modules && status == GRAFT_OK; i++) {
        struct graft_text text = {0};
        graft_tree_fusion_note(model->tree, model->tree->fused_modules[i], &text);
        if (text.length > 0 || text.failed) {
            status = add(model, text.failed ? NULL : graft_strdup(text.bytes), error);
        }
        graft_text_free(&text);
    }
    for (size_t i = 0; i < graft_checkpoint_note_count(model->checkpoint) && status == GRAFT_OK; i++) {
        status = add(model, graft_strdup(graft_checkpoint_note_at(model->checkpoint, i)), error);
    }
    if (status == GRAFT_OK) {
        status = graft_save_option_notes(model->directory, model->tree, add, model, error);
    }
    return status == GRAFT_OK ? note_final(model, error) : status;
}

const char *graft_model_note(const struct graft_model *model, size_t i) {
    return i < model->n_notes ? model->notes[i].text : NULL;
}

size_t graft_model_note_unused_plugins(const struct graft_model *model, size_t i) {
    return i < model->n_notes ? model->notes[i].unused_plugins : 0;
}
