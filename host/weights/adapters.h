/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adapters: tensors in addition to a checkpoint's, from directories with an adapter_model.safetensors as PEFT writes
 * them.
 *
 * A tensor of the adapter NAME is called "adapter.NAME." and then as in the file, without PEFT's prefix
 * "base_model.model.": "adapter.NAME.model.layers.0.self_attn.q_proj.lora_A.weight". A module asks for it under the
 * module's own path, like for every tensor: "model.layers.0.self_attn.q_proj.adapter.NAME.lora_A.weight". A tensor
 * outside of the model ("base_model.vera_A") is shared: every module that has no tensor of that name finds it.
 */
#ifndef GRAFT_WEIGHTS_ADAPTERS_H
#define GRAFT_WEIGHTS_ADAPTERS_H

#include <stddef.h>

#include "graft/error.h"
#include "weights/tensor_view.h"

enum { GRAFT_ADAPTER_NAME = 64, GRAFT_ADAPTER_TENSOR_NAME = 1024 };

struct graft_adapter {
    char *name; /* letters, digits, '_' and '-' */
    char *directory;
    double scale;
    struct graft_safetensors *file;
    struct graft_tensor_view *tensors; /* [n_tensors] sorted by name; the names are the adapter's */
    size_t n_tensors;
    size_t first; /* the number of tensors of the adapters before this one */
};

/* Starts as {0}. */
struct graft_adapters {
    struct graft_adapter *items; /* [n] in the order given */
    size_t n;
    size_t capacity;
};

/* [load] Opens another adapter. A bad or repeated name is GRAFT_ERROR_USAGE, a bad file GRAFT_ERROR_MODEL. */
int graft_adapters_add(struct graft_adapters *adapters, const char *name, const char *directory, double scale,
                       struct graft_error *error);
void graft_adapters_finish(struct graft_adapters *adapters);

/* [any] The adapter of that name, `length` bytes; NULL if there is none. */
const struct graft_adapter *graft_adapters_named(const struct graft_adapters *adapters, const char *name,
                                                 size_t length);

/* [any] Writes the adapter's own name of the tensor that module `path` calls `name`, such as
 * "adapter.NAME.lora_A.weight", to `spelled`. Returns 0 and leaves `spelled` alone if `name` is not an adapter's. */
int graft_adapters_spell(const struct graft_adapters *adapters, const char *name,
                         char spelled[GRAFT_ADAPTER_TENSOR_NAME]);

/* [any] Whether an adapter's tensor of that name is shared by all modules. */
int graft_adapters_is_shared(const char *spelled);

/* [any] The tensor of that name, as written by graft_adapters_spell; NULL if there is none. `*number`, unless NULL,
 * becomes its index among the tensors of all adapters. */
const struct graft_tensor_view *graft_adapters_find(const struct graft_adapters *adapters, const char *spelled,
                                                    size_t *number);

/* [any] The number of tensors of all adapters. */
size_t graft_adapters_count(const struct graft_adapters *adapters);

#endif
