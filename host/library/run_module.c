/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a single module outside of a model's forward: the host provides the call, the caller provides the args. */
#include <string.h>

#include "base/crash_context.h"
#include "base/fail.h"
#include "graft/args.h"
#include "graft/batch.h"
#include "graft/embedding.h"
#include "interface/interface.h"
#include "kernels/cache.h"
#include "kernels/kernels.h"
#include "kernels/scratch.h"
#include "library/library.h"

static int misuse(const struct graft_node *node, const char *field, const char *expected, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_USAGE, node->path, "args of %s: %s: expected %s",
                           node->made_by->cls->interface_id, field, expected);
}

static const void *pointer_at(const void *args, size_t offset) {
    const void *pointer;
    memcpy(&pointer, (const char *)args + offset, sizeof pointer);
    return pointer;
}

/* Checks that a sequence's slot exists in the cache, and that its positions have no gap. */
static int check_cached(const struct graft_node *node, const struct graft_batch *batch, struct graft_error *error) {
    for (int32_t i = 0; i < batch->sequences; i++) {
        const int64_t begin = batch->cu_seqlens[i], end = batch->cu_seqlens[i + 1];
        if (batch->slots[i] < 0 || batch->slots[i] >= batch->cache->slots) {
            return misuse(node, "batch.slots", "numbers below the cache's `slots`", error);
        }
        for (int32_t j = 0; j < i; j++) {
            if (batch->slots[j] == batch->slots[i]) {
                return misuse(node, "batch.slots", "another one for each sequence", error);
            }
        }
        for (int64_t t = begin; t < end; t++) {
            if (batch->positions[begin] < 0 || batch->positions[t] != batch->positions[begin] + t - begin) {
                return misuse(node, "batch.positions", "those of a sequence one after the other", error);
            }
        }
    }
    return GRAFT_OK;
}

/* Checks a batch. Without a cache sequences start here, and nothing is kept. */
static int check_batch(const struct graft_node *node, const struct graft_batch *batch, struct graft_error *error) {
    if (batch == NULL) {
        return misuse(node, "batch", "one, got NULL", error);
    }
    if (batch->struct_size < GRAFT_END_OF(struct graft_batch, cache) || batch->sequences < 1 ||
        batch->cu_seqlens == NULL || batch->positions == NULL || batch->slots == NULL) {
        return misuse(node, "batch", "a struct graft_batch with sequences, their positions and slots", error);
    }
    int fits = batch->cu_seqlens[0] == 0 && batch->cu_seqlens[batch->sequences] == batch->tokens;
    for (int32_t i = 0; i < batch->sequences && fits; i++) {
        fits = batch->cu_seqlens[i] < batch->cu_seqlens[i + 1];
    }
    if (!fits) {
        return misuse(node, "batch.cu_seqlens", "where each sequence begins, from 0 to tokens", error);
    }
    return batch->cache != NULL ? check_cached(node, batch, error) : GRAFT_OK;
}

/* Checks ids against the size of the table in which they are looked up. */
static int check_ids(const struct graft_node *node, const char *name, const int32_t *ids, int64_t n, int64_t limit,
                     struct graft_error *error) {
    for (int64_t i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= limit) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, node->path, "args of %s: %s: %ld is not below %lld",
                                   node->made_by->cls->interface_id, name, (long)ids[i], (long long)limit);
        }
    }
    return GRAFT_OK;
}

static int check_tokens(const struct graft_model *model, const struct graft_node *node,
                        const struct graft_interface *interface, const void *args, struct graft_error *error) {
    if (graft_node_has_interface(node, GRAFT_INTERFACE_EMBEDDING)) {
        const struct graft_embedding_args *given = args;
        return check_ids(node, "ids", given->ids, given->tokens, graft_args_int(&node->args, "num_embeddings", 0),
                         error);
    }
    int status = GRAFT_OK;
    for (const struct graft_interface_array *at = interface->arrays; at->name != NULL && status == GRAFT_OK; at++) {
        if (strcmp(at->name, "input_ids") == 0) {
            const struct graft_batch *batch = pointer_at(args, interface->batch_field);
            status = check_ids(node, at->name, pointer_at(args, at->field), batch->tokens, model->vocab_size, error);
        }
    }
    return status;
}

static int check_args(const struct graft_model *model, const struct graft_node *node,
                      const struct graft_interface *interface, const struct graft_call_args *args,
                      struct graft_error *error) {
    size_t least = interface->batch_field > 0 ? interface->batch_field + sizeof(void *) : sizeof *args;
    for (const struct graft_interface_array *at = interface->arrays; at->name != NULL; at++) {
        const int is_needed = (at->flags & GRAFT_ARRAY_OPTIONAL) == 0 && least < at->field + sizeof(void *);
        least = is_needed ? at->field + sizeof(void *) : least;
    }
    if (args == NULL || args->struct_size < least) {
        return misuse(node, "struct_size", "that of the interface's args", error);
    }
    for (const struct graft_interface_array *at = interface->arrays; at->name != NULL; at++) {
        if ((at->flags & GRAFT_ARRAY_OPTIONAL) == 0 && pointer_at(args, at->field) == NULL) {
            return misuse(node, at->name, "an array, got NULL", error);
        }
    }
    int status =
        interface->batch_field > 0 ? check_batch(node, pointer_at(args, interface->batch_field), error) : GRAFT_OK;
    return status == GRAFT_OK ? check_tokens(model, node, interface, args, error) : status;
}

/* Checks the args of a plugin's own interface, of which the host knows only the beginning. */
static int check_any(const struct graft_node *node, const struct graft_call_args *args, struct graft_error *error) {
    return args != NULL && args->struct_size >= sizeof *args
               ? GRAFT_OK
               : misuse(node, "struct_size", "that of the interface's args", error);
}

static int find_module(struct graft_model *model, const char *path, struct graft_node **node,
                       struct graft_error *error) {
    *node = path != NULL ? graft_node_find(model->tree->root, path) : NULL;
    if (*node == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "there is no module \"%s\"",
                               path != NULL ? path : "(null)");
    }
    if ((*node)->module.forward == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, (*node)->path, "cannot be run: %s",
                               (*node)->made_by == NULL ? "it is a list of modules" : "another process has it");
    }
    if (graft_model_fused_by(model, path) != NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, (*node)->path, "cannot be run by itself: it is in a chain");
    }
    return GRAFT_OK;
}

static int run(const struct graft_model *model, const struct graft_node *node, const struct graft_interface *interface,
               const void *args, struct graft_error *error) {
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    if (scratch == NULL) {
        return graft_fail_memory(error, node->path);
    }
    graft_call_init(&call, model->precision, scratch);
    call.attention = model->attention_now;
    call.asked_attention = model->attention_asked ? model->attention_now : NULL;
    call.experts = model->experts->declared;
    call.running = &graft_crash_context()->module;
    struct graft_error own = graft_error_none(); /* modules stop once an error is recorded */
    const struct graft_watched before = graft_crash_context_watch();
    int status = interface != NULL ? interface->run(&node->module, &call, args, &own)
                                   : graft_module_forward(&node->module, &call, args, &own);
    status = graft_crash_context_unwatch(before, graft_fail_with(error, &own, status), error);
    graft_scratch_destroy(scratch);
    return status;
}

static int find_and_run(struct graft_model *model, const char *path, const void *args, struct graft_error *error) {
    struct graft_node *node = NULL;
    int status = graft_model_check_loaded(model, error);
    if (status == GRAFT_OK) {
        status = find_module(model, path, &node, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_interface *interface = graft_interface_find(node->made_by->cls->interface_id);
    status = interface != NULL ? check_args(model, node, interface, args, error) : check_any(node, args, error);
    return status == GRAFT_OK ? run(model, node, interface, args, error) : status;
}

int graft_model_run_module(struct graft_model *model, const char *path, const void *args, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = find_and_run(model, path, args, error);
    (void)graft_context_enter(before);
    return status;
}
