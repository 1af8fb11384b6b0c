/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what config.json says about models that read whole texts, apart from the architecture: limits and labels. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "graft/base_model.h"
#include "library/library.h"

enum { DEFAULT_LABELS = 2, MAX_LABELS = 1 << 20 };

/* Reads label `i`: from id2label, whose keys are numbers, or LABEL_i if id2label does not name all labels. */
static int read_label(const struct graft_config *config, int64_t i, int are_named, char **label,
                      struct graft_error *error) {
    char path[48];
    const char *text = NULL;
    (void)snprintf(path, sizeof path, "id2label.%lld", (long long)i);
    if (!are_named) {
        *label = graft_format("LABEL_%lld", (long long)i);
        return *label != NULL ? GRAFT_OK : graft_fail_memory(error, config->file);
    }
    int status = graft_config_string(config, path, &text, error);
    if (status == GRAFT_OK && text == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: missing, expected a label", path);
    }
    if (status == GRAFT_OK && (*label = graft_strdup(text)) == NULL) {
        return graft_fail_memory(error, config->file);
    }
    return status;
}

static int read_labels(struct graft_model_encoding *encoding, const struct graft_config *config,
                       struct graft_error *error) {
    const int64_t named = graft_config_has(config, "id2label") ? config->size(config->data, "id2label") : 0;
    int64_t n = named > 0 ? named : DEFAULT_LABELS;
    int status = graft_config_int(config, "num_labels", 1, MAX_LABELS, &n, error);
    if (status != GRAFT_OK) {
        return status;
    }
    encoding->labels = graft_alloc((size_t)n, sizeof *encoding->labels);
    if (encoding->labels == NULL) {
        return graft_fail_memory(error, config->file);
    }
    encoding->info.labels = (const char *const *)encoding->labels;
    for (; encoding->info.n_labels < n && status == GRAFT_OK; encoding->info.n_labels++) {
        status =
            read_label(config, encoding->info.n_labels, named == n, &encoding->labels[encoding->info.n_labels], error);
    }
    return status;
}

/* Reads `problem_type`. By default a single label is scored by itself, as transformers' pipeline does. */
static int read_problem(struct graft_model_encoding *encoding, const struct graft_config *config,
                        struct graft_error *error) {
    static const char *const names[] = {"single_label_classification", "multi_label_classification", "regression"};
    const char *name = names[encoding->info.n_labels == 1 ? GRAFT_PROBLEM_MULTI_LABEL : GRAFT_PROBLEM_SINGLE_LABEL];
    int status = graft_config_string(config, "problem_type", &name, error);
    for (int32_t i = 0; i < 3 && status == GRAFT_OK; i++) {
        if (strcmp(names[i], name) == 0) {
            encoding->info.problem = i;
            return GRAFT_OK;
        }
    }
    return status != GRAFT_OK ? status
                              : graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                                "problem_type: expected \"%s\", \"%s\" or \"%s\", got \"%s\"", names[0],
                                                names[1], names[2], name);
}

/* Names the two labels of an answer, which config.json does not name. */
static int name_ends(struct graft_model_encoding *encoding, const struct graft_config *config,
                     struct graft_error *error) {
    static const char *const ends[] = {"start", "end"};
    encoding->labels = graft_alloc(2, sizeof *encoding->labels);
    encoding->info.labels = (const char *const *)encoding->labels;
    for (; encoding->labels != NULL && encoding->info.n_labels < 2; encoding->info.n_labels++) {
        char *label = graft_strdup(ends[encoding->info.n_labels]);
        encoding->labels[encoding->info.n_labels] = label;
        if (label == NULL) {
            break;
        }
    }
    return encoding->info.n_labels == 2 ? GRAFT_OK : graft_fail_memory(error, config->file);
}

/* Reads what the logits of a classifier mean, for any task. */
static int read_classes(struct graft_model_encoding *encoding, const struct graft_config *config,
                        struct graft_error *error) {
    switch (encoding->task) {
    case GRAFT_TASK_QUESTION_ANSWERING:
        return name_ends(encoding, config, error);
    case GRAFT_TASK_TOKEN_CLASSIFICATION:
        return read_labels(encoding, config, error);
    case GRAFT_TASK_SEQUENCE_CLASSIFICATION: {
        int status = read_labels(encoding, config, error);
        return status == GRAFT_OK ? read_problem(encoding, config, error) : status;
    }
    default:
        return GRAFT_OK;
    }
}

/* Checks the attributes that the root has to declare (graft/family.h). */
static int check_numbers(const struct graft_model *model, struct graft_error *error) {
    const struct graft_encoder_info *info = &model->encoding.info;
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"hidden_size", info->hidden_size}, {"max_positions", info->max_tokens}, {"token_types", info->token_types}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].value < 1 || numbers[i].value > INT32_MAX) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, model->tree->root->class_name,
                                   "attribute %s: expected a root class to give 1 to %ld, got %lld", numbers[i].name,
                                   (long)INT32_MAX, (long long)numbers[i].value);
        }
    }
    return GRAFT_OK;
}

/* The base model: the root, or the module below its head. NULL if there is none. */
static const struct graft_node *find_base_model(const struct graft_tree *tree) {
    for (const struct graft_node *node = tree->root; node != NULL; node = node->super) {
        if (graft_node_has_interface(node, GRAFT_INTERFACE_BASE_MODEL)) {
            return node;
        }
        for (size_t i = 0; i < node->n_children; i++) {
            if (graft_node_has_interface(node->children[i], GRAFT_INTERFACE_BASE_MODEL)) {
                return node->children[i];
            }
        }
    }
    return NULL;
}

int graft_model_encoding_read(struct graft_model *model, struct graft_error *error) {
    const struct graft_config *config = &model->config->view;
    struct graft_model_encoding *encoding = &model->encoding;
    struct graft_encoder_info *info = &encoding->info;
    const char *interface_id = model->tree->root->made_by->cls->interface_id;
    encoding->task = graft_task_of(interface_id, graft_tree_number(model->tree, "answers", 0) != 0);
    info->hidden_size = graft_tree_number(model->tree, "hidden_size", 0);
    if (strcmp(interface_id, GRAFT_INTERFACE_BASE_MODEL) == 0 && info->hidden_size == 0) {
        encoding->task = GRAFT_TASK_NONE;
    }
    const struct graft_node *base_model = find_base_model(model->tree);
    encoding->is_decoder = graft_tree_number(model->tree, "token_types", 0) == 0;
    encoding->reader = encoding->task == GRAFT_TASK_CAUSAL_LM ? base_model : model->tree->root;
    if (encoding->task == GRAFT_TASK_NONE || encoding->reader == NULL ||
        (encoding->task == GRAFT_TASK_CAUSAL_LM && info->hidden_size == 0)) {
        encoding->reader = NULL;
        info->hidden_size = 0;
        return GRAFT_OK;
    }
    info->max_tokens = graft_tree_number(model->tree, "max_positions", INT32_MAX);
    info->token_types = graft_tree_number(model->tree, "token_types", 1);
    info->has_pooler =
        strcmp(interface_id, GRAFT_INTERFACE_BASE_MODEL) == 0 && graft_tree_number(model->tree, "has_pooler", 0) != 0;
    int status = check_numbers(model, error);
    return status == GRAFT_OK ? read_classes(encoding, config, error) : status;
}

void graft_model_encoding_finish(struct graft_model_encoding *encoding) {
    for (int64_t i = 0; encoding->labels != NULL && i < encoding->info.n_labels; i++) {
        graft_free(encoding->labels[i]);
    }
    graft_free(encoding->labels);
    graft_sentence_finish(&encoding->sentence);
    graft_encode_session_free(encoding->session);
}

int32_t graft_model_task(const struct graft_model *model) {
    return model->encoding.task;
}

void graft_model_encoder_info(const struct graft_model *model, struct graft_encoder_info *info) {
    uint32_t given = info->struct_size;
    uint32_t known = (uint32_t)sizeof *info;
    memcpy(info, &model->encoding.info, given < known ? given : known);
    info->struct_size = given;
}
