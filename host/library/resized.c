/* SPDX-License-Identifier: Apache-2.0 */
/* Vocabularies that were resized for training an adapter. The adapter then stores tables of embeddings and heads with
 * more rows, or fewer, than the model has; PEFT expects its user to resize the model first. Here config.json is changed
 * to the adapter's number of tokens, and the adapter's tables replace the model's. */
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "library/library.h"
#include "names/name.h"

static const char vocab_size[] = "vocab_size";

/* Finds the model's tensor for an adapter's tensor: its name without PEFT's additions, with `prefix` or without it. */
static const struct graft_tensor_view *find_table(const struct graft_model *model, const char *name) {
    const char *prefix = graft_family_prefix(model->family.family);
    const size_t length = prefix != NULL ? strlen(prefix) : 0;
    const struct graft_tensor_view *found = graft_checkpoint_find(model->checkpoint, name);
    return found == NULL && length > 0 && strncmp(name, prefix, length) == 0 && name[length] == '.'
               ? graft_checkpoint_find(model->checkpoint, name + length + 1)
               : found;
}

/* Whether a matrix of the adapter is a table of all tokens. `rows` is the model's number of tokens. */
static int is_table(const struct graft_model *model, const char *name, int64_t rows) {
    static const char *const insertions[] = {".token_adapter.base_layer.weight", ".base_layer.weight"};
    for (size_t i = 0; i < sizeof insertions / sizeof insertions[0]; i++) {
        if (graft_ends_with(name, insertions[i])) {
            return 1; /* PEFT stores a base_layer only for embeddings and heads */
        }
    }
    const struct graft_tensor_view *table = find_table(model, name);
    return table != NULL && table->rank == 2 && table->shape[0] == rows;
}

/* The number of rows of the first table that the adapter resizes; `rows` if there is none. */
static int64_t find_rows(const struct graft_model *model, const struct graft_adapter *adapter, int64_t rows) {
    for (size_t i = 0; i < adapter->n_tensors; i++) {
        const struct graft_tensor_view *tensor = &adapter->tensors[i];
        const char *name = tensor->name + strlen("adapter.") + strlen(adapter->name) + 1;
        if (tensor->rank == 2 && tensor->shape[0] != rows && is_table(model, name, rows)) {
            return tensor->shape[0];
        }
    }
    return rows;
}

/* Sets `vocab_size` in the entry of adapter `i` of `adapters`, which classes read. */
static int tell_plugins(graft_json *document, size_t i, int64_t rows) {
    const graft_json *entry = graft_json_at(graft_json_get(document, "adapters"), i);
    return graft_json_set_take((graft_json *)(uintptr_t)entry, vocab_size, graft_json_new_int(rows));
}

int graft_model_resize_vocabulary(struct graft_model *model, struct graft_error *error) {
    const struct graft_config *config = &model->config->view;
    const int64_t rows = config->integer(config->data, vocab_size);
    graft_json *document = model->config->document;
    if (rows < 1 || graft_json_type(graft_json_get(document, vocab_size)) != GRAFT_JSON_INT) {
        return GRAFT_OK;
    }
    for (size_t i = 0; i < model->adapters.n; i++) {
        const struct graft_adapter *adapter = &model->adapters.items[i];
        const int64_t resized = find_rows(model, adapter, rows);
        if (resized == rows || resized > INT32_MAX) {
            continue;
        }
        if (model->resized_by != NULL && resized != model->resized_to) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, adapter->directory,
                                   "its tables have %lld tokens, those of the adapter \"%s\" %lld: load one of them",
                                   (long long)resized, model->resized_by, (long long)model->resized_to);
        }
        model->resized_by = adapter->name;
        model->resized_from = rows;
        model->resized_to = resized;
        if (tell_plugins(document, i, resized) != 0) {
            return graft_fail_memory(error, model->directory);
        }
    }
    return model->resized_by == NULL ||
                   graft_json_set_take(document, vocab_size, graft_json_new_int(model->resized_to)) == 0
               ? GRAFT_OK
               : graft_fail_memory(error, model->directory);
}
