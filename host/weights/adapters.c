/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/adapters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "weights/safetensors.h"

static const char file_name[] = "adapter_model.safetensors";
static const char peft_prefix[] = "base_model.model.";
static const char root[] = "adapter.";
static const char shared_prefix[] = "base_model.";

static int is_name(const char *name) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t length = strlen(name);
    return length > 0 && length <= GRAFT_ADAPTER_NAME && strspn(name, allowed) == length;
}

static int by_name(const void *left, const void *right) {
    const struct graft_tensor_view *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static int name_tensors(struct graft_adapter *adapter, const char *path, struct graft_error *error) {
    size_t n = graft_safetensors_count(adapter->file), prefix = strlen(peft_prefix);
    if (n == 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path, "expected an adapter's tensors, found none");
    }
    adapter->tensors = graft_alloc(n, sizeof *adapter->tensors);
    if (adapter->tensors == NULL) {
        return graft_fail_memory(error, adapter->directory);
    }
    for (; adapter->n_tensors < n; adapter->n_tensors++) {
        struct graft_tensor_view *tensor = &adapter->tensors[adapter->n_tensors];
        *tensor = *graft_safetensors_at(adapter->file, adapter->n_tensors);
        const char *name = strncmp(tensor->name, peft_prefix, prefix) == 0 ? tensor->name + prefix : tensor->name;
        tensor->name = graft_format("%s%s.%s", root, adapter->name, name);
        if (tensor->name == NULL) {
            return graft_fail_memory(error, adapter->directory);
        }
    }
    qsort(adapter->tensors, n, sizeof *adapter->tensors, by_name);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(adapter->tensors[i - 1].name, adapter->tensors[i].name) == 0) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, adapter->tensors[i].file,
                                   "tensor \"%.300s\" is there twice, with and without %s", adapter->tensors[i].name,
                                   peft_prefix);
        }
    }
    return GRAFT_OK;
}

static int open_file(struct graft_adapter *adapter, struct graft_error *error) {
    char *path = graft_path_join(adapter->directory, file_name);
    if (path == NULL) {
        return graft_fail_memory(error, adapter->directory);
    }
    int status = GRAFT_OK;
    if (graft_file_exists(path)) {
        status = graft_safetensors_open(path, &adapter->file, error);
    } else {
        status =
            graft_error_set(error, GRAFT_ERROR_MODEL, adapter->directory, "expected %s, found no such file", file_name);
        graft_error_hint(error, "an adapter in another format has to be saved as safetensors");
    }
    if (status == GRAFT_OK) {
        status = name_tensors(adapter, path, error);
    }
    graft_free(path);
    return status;
}

/* The name that stands for the model without an adapter (GRAFT_BASE_MODEL). */
static const char base_name[] = "__base__";

int graft_adapters_add(struct graft_adapters *adapters, const char *name, const char *directory, double scale,
                       struct graft_error *error) {
    if (!is_name(name) || strcmp(name, base_name) == 0) {
        return graft_error_set(
            error, GRAFT_ERROR_USAGE, "adapters",
            "\"%.100s\" is not a valid name: expected at most %d letters, digits, '_' and '-', not %s", name,
            GRAFT_ADAPTER_NAME, base_name);
    }
    if (graft_adapters_named(adapters, name, strlen(name)) != NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "adapters", "two adapters are called \"%s\"", name);
    }
    if (graft_grow(&adapters->items, &adapters->capacity, adapters->n, sizeof *adapters->items) != 0) {
        return graft_fail_memory(error, directory);
    }
    size_t first = graft_adapters_count(adapters);
    struct graft_adapter *adapter = &adapters->items[adapters->n++];
    *adapter = (struct graft_adapter){
        .name = graft_strdup(name), .directory = graft_strdup(directory), .scale = scale, .first = first};
    return adapter->name != NULL && adapter->directory != NULL ? open_file(adapter, error)
                                                               : graft_fail_memory(error, directory);
}

void graft_adapters_finish(struct graft_adapters *adapters) {
    for (size_t i = 0; i < adapters->n; i++) {
        struct graft_adapter *adapter = &adapters->items[i];
        for (size_t k = 0; k < adapter->n_tensors; k++) {
            graft_free((char *)(uintptr_t)adapter->tensors[k].name);
        }
        graft_free(adapter->tensors);
        graft_safetensors_close(adapter->file);
        graft_free(adapter->name);
        graft_free(adapter->directory);
    }
    graft_free(adapters->items);
    *adapters = (struct graft_adapters){0};
}

const struct graft_adapter *graft_adapters_named(const struct graft_adapters *adapters, const char *name,
                                                 size_t length) {
    for (size_t i = 0; i < adapters->n; i++) {
        if (strlen(adapters->items[i].name) == length && memcmp(adapters->items[i].name, name, length) == 0) {
            return &adapters->items[i];
        }
    }
    return NULL;
}

/* The index of the first tensor whose name is not before `name`. */
static size_t lower_bound(const struct graft_adapter *adapter, const char *name) {
    size_t low = 0, high = adapter->n_tensors;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(adapter->tensors[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int graft_adapters_spell(const struct graft_adapters *adapters, const char *name,
                         char spelled[GRAFT_ADAPTER_TENSOR_NAME]) {
    static const char inside[] = ".adapter.";
    const char *at = adapters->n > 0 ? strstr(name, inside) : NULL;
    const char *own = at != NULL ? at + strlen(inside) : NULL;
    size_t length = own != NULL ? strcspn(own, ".") : 0;
    if (own == NULL || own[length] == '\0' || graft_adapters_named(adapters, own, length) == NULL) {
        return 0;
    }
    int written = snprintf(spelled, GRAFT_ADAPTER_TENSOR_NAME, "%s%.*s.%.*s%s", root, (int)length, own,
                           (int)(at - name), name, own + length);
    if (written <= 0 || written >= GRAFT_ADAPTER_TENSOR_NAME) {
        return 0;
    }
    char shared[GRAFT_ADAPTER_TENSOR_NAME];
    (void)snprintf(shared, sizeof shared, "%s%.*s.%s%s", root, (int)length, own, shared_prefix, own + length + 1);
    if (graft_adapters_find(adapters, spelled, NULL) == NULL && graft_adapters_find(adapters, shared, NULL) != NULL) {
        memcpy(spelled, shared, sizeof shared);
    }
    return 1;
}

int graft_adapters_is_shared(const char *spelled) {
    const char *name = strncmp(spelled, root, strlen(root)) == 0 ? strchr(spelled + strlen(root), '.') : NULL;
    return name != NULL && strncmp(name + 1, shared_prefix, strlen(shared_prefix)) == 0;
}

const struct graft_tensor_view *graft_adapters_find(const struct graft_adapters *adapters, const char *spelled,
                                                    size_t *number) {
    for (size_t i = 0; i < adapters->n; i++) {
        const struct graft_adapter *adapter = &adapters->items[i];
        size_t at = lower_bound(adapter, spelled);
        if (at < adapter->n_tensors && strcmp(adapter->tensors[at].name, spelled) == 0) {
            if (number != NULL) {
                *number = adapter->first + at;
            }
            return &adapter->tensors[at];
        }
    }
    return NULL;
}

size_t graft_adapters_count(const struct graft_adapters *adapters) {
    const struct graft_adapter *last = adapters->n > 0 ? &adapters->items[adapters->n - 1] : NULL;
    return last != NULL ? last->first + last->n_tensors : 0;
}
