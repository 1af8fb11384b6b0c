/* SPDX-License-Identifier: Apache-2.0 */
/* The model handle: config, tree, plan; then weights and modules. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "config/quantization.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/host/tokenizer.h"
#include "library/facts.h"
#include "library/library.h"
#include "library/patch_file.h"
#include "library/recode.h"
#include "plugin/host_services.h"
#include "save/save.h"

static int reads_method(const void *data, const char *method) {
    return graft_snapshot_reads(data, NULL, method);
}

/* Reads generation_config.json, or the fields of config.json that precede it. */
static int read_generation(struct graft_model *model, struct graft_error *error) {
    enum { MAX_BYTES = 1 << 20 };
    struct graft_model_file **document = &model->generation_config;
    int status = graft_model_file_read_if_there(model->directory, "generation_config.json", MAX_BYTES, &model->ignored,
                                                document, error);
    return status == GRAFT_OK ? graft_generation_settings_read(*document != NULL ? &(*document)->view : NULL,
                                                               &model->config->whole, &model->generation, error)
                              : status;
}

static int read_config(struct graft_model *model, const struct graft_snapshot *snapshot, struct graft_error *error) {
    int status = graft_model_read_family(model, snapshot, error);
    if (status == GRAFT_OK) {
        status = graft_recoding_edit_config(model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_quantization_spell(model->config->document, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_check_stand_ins(model, snapshot, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_refuse_fields(model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_quantization_check(&model->config->view, reads_method, snapshot, error);
    }
    const char *method = status == GRAFT_OK ? graft_quantization_method(&model->config->view) : NULL;
    if (method != NULL) {
        status = graft_snapshot_check_layout(snapshot, &model->config->view, method, error);
    }
    return status == GRAFT_OK ? read_generation(model, error) : status;
}

/* Reads the attributes that the root has to declare (graft/family.h). */
static int read_vocab_size(struct graft_model *model, struct graft_error *error) {
    model->vocab_size = graft_tree_number(model->tree, "vocab_size", 0);
    if (model->encoding.task == GRAFT_TASK_NONE || (model->vocab_size >= 1 && model->vocab_size <= INT32_MAX)) {
        return GRAFT_OK;
    }
    const struct graft_node *root = model->tree->root;
    return graft_error_set(error, root->described_by->origin.plugin != NULL ? GRAFT_ERROR_PLUGIN : GRAFT_ERROR_MODEL,
                           root->class_name, "attribute vocab_size: expected a root class to give 1 to %ld, got %lld",
                           (long)INT32_MAX, (long long)model->vocab_size);
}

static int open_adapter(struct graft_model *model, const struct graft_adapter_options *adapter,
                        struct graft_error *error) {
    int status = graft_check_given(adapter, GRAFT_ADAPTER_OPTIONS_SIZE_1_0, "struct graft_adapter_options", error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (!isfinite(adapter->scale)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, adapter->directory, "the scale of the adapter is not finite");
    }
    status = graft_adapters_add(&model->adapters, adapter->name, adapter->directory, adapter->scale, error);
    return status == GRAFT_OK ? graft_model_config_add_adapter(model->config, adapter->name, adapter->directory,
                                                               adapter->scale, &model->ignored, error)
                              : status;
}

static int open_adapters(struct graft_model *model, const struct graft_model_options *options,
                         struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; options != NULL && i < options->n_adapters && status == GRAFT_OK; i++) {
        const char *at = (const char *)options->adapters + (size_t)i * options->adapter_stride;
        status = open_adapter(model, (const void *)at, error);
    }
    return status == GRAFT_OK ? graft_model_resize_vocabulary(model, error) : status;
}

int graft_model_name_file(const struct graft_model *model, const struct graft_error *cause, struct graft_error *error) {
    const char *file = NULL;
    if (cause->code == GRAFT_ERROR_MODEL && cause->source[0] != '\0' && strchr(cause->source, '/') == NULL) {
        file = model->plan != NULL ? graft_plan_file_of(model->plan, cause->source) : model->config->file;
    }
    (void)graft_error_set(error, cause->code, file != NULL ? file : cause->source, "%s%s%s",
                          file != NULL ? cause->source : "", file != NULL ? ": " : "", cause->message);
    if (cause->hint[0] != '\0') {
        graft_error_hint(error, "%s", cause->hint);
    }
    return cause->code;
}

/* Consumes `snapshot`. */
/* The maximum number of modules that a tree may have, so that a few numbers in a config.json cannot allocate gigabytes:
 * PLENTY for a small checkpoint, and for a large one a module for every 16 bytes. 0: any number, if the size of the
 * checkpoint is unknown. */
static size_t max_nodes(const struct graft_checkpoint *checkpoint) {
    enum { PLENTY = 16384, BYTES_A_NODE = 16 };
    size_t n = graft_checkpoint_count(checkpoint);
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += (uint64_t)graft_checkpoint_at(checkpoint, i)->bytes;
    }
    return n == 0 || graft_checkpoint_absent_count(checkpoint) > 0 ? 0 : PLENTY + (size_t)(bytes / BYTES_A_NODE);
}

static int build_tree(struct graft_model *model, const struct graft_library *library, struct graft_snapshot *snapshot,
                      const struct graft_model_options *chosen, struct graft_error *error) {
    struct graft_fusion_request fusion = {0};
    struct patch_file file = {0};
    struct model_facts facts = {0};
    const struct graft_load_patch *patch = NULL;
    struct graft_error cause = graft_error_none();
    int originals = chosen != NULL && chosen->without_replacements;
    const char *only_method = originals ? graft_quantization_method(&model->config->view) : NULL;
    int status = graft_model_choose_patch(chosen, &snapshot, &file, &patch, error);
    if (status == GRAFT_OK) {
        status = graft_model_choose_implementations(model, chosen, &snapshot, error);
    }
    struct graft_tree_options options = {
        .config = model->config,
        .snapshot = snapshot,
        .fusion = &fusion,
        .skip_bad_plugins = library->skip_bad_plugins,
        .without_replacements = originals && only_method == NULL,
        .only_method = only_method,
        .class_name = model->root_class,
        .family = &model->family,
        .adapters = &model->adapters,
        .max_nodes = max_nodes(model->checkpoint),
    };
    if (status == GRAFT_OK && !originals) {
        status = graft_model_read_fusion(model, snapshot, &fusion, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_facts_make(model, &options, patch, &facts, error);
        options.facts = &facts.facts;
        options.plain = facts.plain;
    }
    if (status == GRAFT_OK) {
        status = graft_tree_build(&options, &model->tree, &cause);
        status = status == GRAFT_OK ? status : graft_model_name_file(model, &cause, error);
    }
    if (status == GRAFT_OK) {
        model->survey = graft_survey_make(model->tree);
    }
    if (status == GRAFT_OK) {
        status = graft_model_check_implementations(model, chosen, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_lists_make(model->tree, patch, model->family.family, &model->lists, error);
        model->lists.is_idle = facts.presence != NULL && model->lists.is_fixed && model->lists.n_forced == 0 &&
                               !graft_presence_is_changed(facts.presence);
    }
    graft_model_facts_finish(&facts);
    graft_patch_file_finish(&file);
    graft_fusion_request_finish(&fusion);
    graft_snapshot_release(snapshot);
    return status;
}

/* The name of the first parameter without a tensor, or NULL. */
static const char *first_missing(const struct graft_plan *plan) {
    for (size_t i = 0; i < plan->n_bindings; i++) {
        if (plan->bindings[i].status == GRAFT_BINDING_MISSING) {
            return plan->bindings[i].parameter->name;
        }
    }
    return NULL;
}

static int open_model(struct graft_model *model, struct graft_library *library,
                      const struct graft_model_options *options, struct graft_error *error) {
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    int status = read_config(model, snapshot, error);
    if (status != GRAFT_OK && model->config != NULL && model->family.family == NULL) {
        graft_library_hint_left_out(library, model->config->model_type, error);
    }
    if (status == GRAFT_OK) {
        status = model->without_weights ? graft_model_open_given(model, options, error)
                                        : graft_checkpoint_open(model->directory, &model->checkpoint, error);
    }
    if (status == GRAFT_OK) {
        status = graft_recoding_edit_checkpoint(model, error);
    }
    if (status == GRAFT_OK) {
        status = open_adapters(model, options, error);
    }
    if (status != GRAFT_OK) {
        graft_snapshot_release(snapshot);
        return status;
    }
    model->published.first_asked = graft_ledger_count(model->config->source->ledger);
    status = build_tree(model, library, snapshot, options, error);
    if (status == GRAFT_OK) {
        status = graft_model_encoding_read(model, error);
    }
    if (status == GRAFT_OK) {
        status = read_vocab_size(model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_read_processors(model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_check_fields(model, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_plan_options wanted = {
            .base_model_prefix = graft_family_prefix(model->family.family),
            .ignored_tensors = model->family.family->ignored_tensors,
            .ignores = model->family.family->ignores,
            .ignores_plugin = model->family.origin.plugin,
            .transforms = model->lists.is_idle ? NULL : &model->lists.transforms,
            .n_forced = model->lists.n_forced,
            .used = model->lists.used,
            .without = &model->lists.without,
            .layout_patched = model->lists.layout_patched,
            .runtime_layout = graft_save_is_runtime_layout(model->directory),
            .adapters = &model->adapters,
            .patch_file = model->patch_file,
        };
        status = graft_plan_make(model->tree, model->checkpoint, &wanted, &model->plan, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_check_root(model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_plan_check_adapters(model->plan, error);
    }
    if (status == GRAFT_OK && model->without_weights) {
        model->unset = first_missing(model->plan);
    }
    if (status == GRAFT_OK) {
        status = graft_model_collect_notes(model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_publish(model, error);
    }
    return status == GRAFT_OK ? graft_model_classify_fields(model, error) : status;
}

/* Copies the names of ignored fields, which belong to the caller, for the tokenizer that is opened later. */
static int keep_ignored(struct graft_model *model, const struct graft_model_options *options) {
    struct graft_arena *arena = &model->published.arena;
    const char **names = graft_arena_alloc(arena, (size_t)options->n_ignored_fields, sizeof *names);
    int failed = names == NULL;
    for (int32_t i = 0; i < options->n_ignored_fields && !failed; i++) {
        names[i] = graft_arena_strdup(arena, options->ignored_fields[i]);
        failed = names[i] == NULL;
    }
    model->ignored = (struct graft_ignored_names){names, options->n_ignored_fields};
    model->ignored_may_lack = options->ignored_may_lack;
    return failed ? -1 : 0;
}

static int open_as(struct graft_library *library, const char *directory, const struct graft_model_options *options,
                   int takes_head, struct graft_model **model, struct graft_error *error) {
    struct graft_model *result = graft_alloc(1, sizeof *result);
    if (result == NULL || (result->directory = graft_strdup(directory)) == NULL) {
        graft_model_free(result);
        return graft_fail_memory(error, directory);
    }
    (void)pthread_mutex_lock(&library->lock);
    library->n_models++;
    (void)pthread_mutex_unlock(&library->lock);
    result->library = library;
    result->precision = options != NULL ? options->precision : GRAFT_PRECISION_AUTO;
    result->kv_cache = options != NULL ? options->kv_cache : GRAFT_PRECISION_AUTO;
    result->without_weights = options != NULL && options->without_weights;
    result->takes_head = takes_head;
    if (options != NULL && GRAFT_HAS(options, struct graft_model_options, ignored_may_lack) &&
        keep_ignored(result, options) != 0) {
        graft_model_free(result);
        return graft_fail_memory(error, directory);
    }
    if (options != NULL && options->patch_file != NULL &&
        (result->patch_file = graft_strdup(options->patch_file)) == NULL) {
        graft_model_free(result);
        return graft_fail_memory(error, directory);
    }
    int status = graft_model_set_fusion(result, options != NULL ? options->fusion_config : NULL, error);
    if (status == GRAFT_OK) {
        status = graft_recoding_open(result, options, error);
    }
    if (status == GRAFT_OK) {
        status = open_model(result, library, options, error);
    }
    if (status != GRAFT_OK) {
        graft_model_free(result);
        return status;
    }
    *model = result;
    return GRAFT_OK;
}

/* Looks for a head: if the checkpoint of a model without its head has other tensors, these may be the head's. Then the
 * causal LM becomes the root, if it uses all tensors. */
static int look_for_head(struct graft_library *library, const struct graft_model_options *options,
                         struct graft_model **model, struct graft_error *error) {
    const struct graft_model *bare = *model;
    struct graft_model *whole = NULL;
    struct graft_error cause = graft_error_none();
    if (bare->without_weights || bare->plan->n_unexpected == 0 ||
        !graft_node_has_interface(bare->tree->root, GRAFT_INTERFACE_BASE_MODEL) ||
        graft_model_causal_lm(bare, bare->tree->snapshot) == NULL) {
        return GRAFT_OK;
    }
    int status = open_as(library, bare->directory, options, 1, &whole, &cause);
    if (status == GRAFT_ERROR_INTERNAL) {
        return graft_fail_memory(error, bare->directory);
    }
    if (status == GRAFT_OK) {
        graft_model_free(*model);
        *model = whole;
    }
    return GRAFT_OK;
}

static int open_directory(struct graft_library *library, const char *directory,
                          const struct graft_model_options *options, struct graft_model **model,
                          struct graft_error *error) {
    double start = graft_seconds();
    struct graft_model *result = NULL;
    int status = graft_check_given(options, GRAFT_MODEL_OPTIONS_SIZE_1_0, "struct graft_model_options", error);
    if (status == GRAFT_OK) {
        status = graft_check_given_path(directory, "directory", error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_check_given(options, error);
    }
    if (status == GRAFT_OK) {
        status = open_as(library, directory, options, 0, &result, error);
    }
    if (status == GRAFT_OK) {
        status = look_for_head(library, options, &result, error);
    }
    if (status != GRAFT_OK) {
        graft_model_free(result);
        return status;
    }
    result->published.plan.seconds = graft_seconds() - start;
    *model = result;
    return GRAFT_OK;
}

int graft_model_open(struct graft_library *library, const char *directory, const struct graft_model_options *options,
                     struct graft_model **model, struct graft_error *error) {
    struct graft_context *before = graft_library_begin(library);
    int status = open_directory(library, directory, options, model, error);
    (void)graft_context_enter(before);
    return status;
}

static void unload(struct graft_model *model) {
    graft_tree_destroy_instances(model->tree);
    graft_bound_free(model->bound);
    model->bound = NULL;
    model->head = NULL;
}

static int bind_and_make(struct graft_model *model, struct graft_error *error) {
    struct graft_error cause = graft_error_none();
    int status = graft_recoding_fill(model, error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_bind(model->plan, &model->bound, &cause);
    if (status == GRAFT_OK && model->unset == NULL) {
        status = graft_tree_instantiate(model->tree, graft_host_get(), &cause);
    }
    if (status != GRAFT_OK) {
        unload(model);
        return graft_model_name_file(model, &cause, error);
    }
    return GRAFT_OK;
}

/* Puts the chains in place that were asked for before the model was loaded. */
static int place_chains(struct graft_model *model, struct graft_error *error) {
    int status = model->chains.count > 0 ? graft_model_check_loaded(model, error) : GRAFT_OK;
    if (status == GRAFT_OK) {
        status = graft_model_place_chains(model, 0, error);
    }
    if (status != GRAFT_OK) {
        graft_chains_cut(&model->chains, 0);
        unload(model);
    }
    return status;
}

static int load_weights(struct graft_model *model, struct graft_error *error) {
    double start = graft_seconds();
    const struct graft_node *root = model->tree->root;
    if (model->bound != NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "the model is already loaded");
    }
    int status = model->unset != NULL ? GRAFT_OK : graft_plan_check(model->plan, error);
    if (status != GRAFT_OK) {
        graft_save_hint(model->directory, model->tree, graft_plan_fault(model->plan, NULL, NULL), error);
    }
    if (status == GRAFT_OK && model->encoding.task == GRAFT_TASK_NONE) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, model->config->file,
                                 "architectures: %s has no language model head to generate with", root->class_name);
    }
    if (status == GRAFT_OK) {
        status = bind_and_make(model, error);
    }
    if (status == GRAFT_OK) {
        model->head = model->unset == NULL ? &root->module : NULL;
        status = place_chains(model, error);
        model->load_seconds = graft_seconds() - start;
    }
    return status;
}

int graft_model_load(struct graft_model *model, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = load_weights(model, error);
    (void)graft_context_enter(before);
    return status;
}

void graft_model_free(struct graft_model *model) {
    if (model != NULL) {
        struct graft_context *before = graft_model_begin(model);
        graft_chains_finish(&model->chains);
        graft_model_encoding_finish(&model->encoding);
        graft_arena_finish(&model->published.arena);
        graft_free(model->published.fields);
        graft_tree_free(model->tree);
        graft_bound_free(model->bound);
        graft_plan_free(model->plan);
        graft_model_lists_finish(&model->lists);
        graft_checkpoint_close(model->checkpoint);
        graft_adapters_finish(&model->adapters);
        graft_generation_settings_finish(&model->generation);
        graft_tokenizer_free(model->tokenizer);
        graft_model_file_free(model->generation_config);
        graft_model_processors_finish(model);
        graft_model_config_free(model->config);
        for (size_t i = 0; i < model->n_notes; i++) {
            graft_free(model->notes[i].text);
        }
        graft_json_free(model->fusion_config);
        graft_recoding_free(model->recoding);
        graft_free(model->notes);
        graft_free(model->patch_file);
        graft_free(model->directory);
        if (model->library != NULL) {
            (void)pthread_mutex_lock(&model->library->lock);
            model->library->n_models--;
            (void)pthread_mutex_unlock(&model->library->lock);
        }
        graft_free(model);
        (void)graft_context_enter(before);
    }
}

int64_t graft_model_vocab_size(const struct graft_model *model) {
    return model->vocab_size;
}

int64_t graft_model_max_positions(const struct graft_model *model) {
    return graft_tree_number(model->tree, "max_positions", 0);
}

const char *graft_model_class_at(const struct graft_model *model, const char *path) {
    const struct graft_node *node = graft_node_find(model->tree->root, path);
    return node != NULL ? node->class_name : NULL;
}
