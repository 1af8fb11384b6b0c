/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a chain. Every module but the last only keeps its args; the last one runs the chain. */
#include <string.h>

#include "base/alloc.h"
#include "base/crash_context.h"
#include "chains/chain.h"

static const struct graft_interface *interface_of(const struct graft_chain_module *module) {
    return graft_interface_find(module->node->made_by->cls->interface_id);
}

static const void *pointer_at(const void *args, size_t offset) {
    const void *pointer;
    memcpy(&pointer, (const char *)args + offset, sizeof pointer);
    return pointer;
}

/* Checks that each module is called with the output of the one before it; otherwise the parent does something in
 * between. */
static int check_wires(const struct graft_fused_chain *chain, struct graft_error *error) {
    for (size_t i = 0; i < chain->n_wires; i++) {
        const struct graft_fused_wire *wire = &chain->wires[i];
        const void *output = pointer_at(chain->args[wire->index - 1], wire->output);
        if (output == NULL || pointer_at(chain->args[wire->index], wire->input) != output) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, chain->modules[wire->index].node->path,
                                   "cannot be fused with %s: its input is not the output of that module",
                                   chain->modules[wire->index - 1].node->path);
        }
    }
    return GRAFT_OK;
}

static int run(struct graft_fused_chain *chain, const struct graft_call *call, struct graft_error *error) {
    int status = GRAFT_OK;
    if (chain->implemented) {
        const struct graft_chain_args args = {sizeof args, (int32_t)chain->n, chain->args};
        int64_t mark = call->scratch_mark(call->scratch);
        const struct graft_plugin_call task = {"forward", chain->modules[0].node->path, chain->implementation->name,
                                               NULL, NULL};
        const struct graft_crash_context before = graft_crash_context_begin(&task);
        status = chain->implementation->forward(chain->instance, call, &args, error);
        graft_crash_context_end(before);
        call->scratch_release(call->scratch, mark);
        return status == GRAFT_OK ? status
                                  : graft_error_complete(error, status, chain->modules[0].node->path,
                                                         "%s: forward failed with status %d and recorded no error",
                                                         chain->implementation->name, status);
    }
    for (size_t i = 0; i < chain->n && status == GRAFT_OK; i++) {
        status = interface_of(&chain->modules[i])->run(&chain->plain[i], call, chain->args[i], error);
    }
    return status;
}

static int forward(void *self, const struct graft_call *call, const void *args, struct graft_error *error) {
    struct graft_chain_module *module = self;
    struct graft_fused_chain *chain = module->chain;
    if (module->index == 0) {
        chain->next = 0; /* also after a round that an error ended early */
    }
    if (module->index != chain->next) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, module->node->path,
                               "cannot be fused with %s: it is called before that module",
                               chain->modules[module->index - 1].node->path);
    }
    if (module->index + 1 < chain->n) {
        memcpy(module->args, args, module->args_size);
        chain->args[module->index] = module->args;
        chain->next++;
        return GRAFT_OK;
    }
    chain->args[module->index] = args;
    chain->next = 0;
    int status = check_wires(chain, error);
    return status == GRAFT_OK ? run(chain, call, error) : status;
}

void graft_chain_place(struct graft_fused_chain *chain) {
    for (size_t i = 0; i < chain->n; i++) {
        struct graft_chain_module *module = &chain->modules[i];
        struct graft_module *seen = &module->node->module;
        module->base.forward = forward;
        chain->plain[i] = *seen;
        seen->forward = interface_of(module)->hook_vtable;
        seen->instance = module;
    }
    chain->in_place = 1;
}

void graft_chain_free(struct graft_fused_chain *chain) {
    if (chain == NULL) {
        return;
    }
    if (chain->implemented && chain->implementation->destroy != NULL && chain->instance != NULL) {
        const struct graft_plugin_call task = {"destroy", chain->modules[0].node->path, chain->implementation->name,
                                               NULL, NULL};
        const struct graft_crash_context before = graft_crash_context_begin(&task);
        chain->implementation->destroy(chain->instance);
        graft_crash_context_end(before);
    }
    for (size_t i = 0; i < chain->n; i++) {
        if (chain->in_place) {
            chain->modules[i].node->module = chain->plain[i];
        }
        graft_free(chain->modules[i].args);
    }
    graft_free(chain->modules);
    graft_free(chain->plain);
    graft_free(chain->args);
    graft_free(chain->wires);
    graft_free((void *)(uintptr_t)chain->info.modules);
    graft_free(chain);
}

struct graft_fused_chain *graft_chains_find(const struct graft_chains *fusions, const struct graft_node *node) {
    for (size_t i = 0; i < fusions->count; i++) {
        for (size_t j = 0; j < fusions->items[i]->n; j++) {
            if (fusions->items[i]->modules[j].node == node) {
                return fusions->items[i];
            }
        }
    }
    return NULL;
}

void graft_chains_cut(struct graft_chains *fusions, size_t first) {
    while (fusions->count > first) {
        graft_chain_free(fusions->items[--fusions->count]);
    }
}

void graft_chains_finish(struct graft_chains *fusions) {
    graft_chains_cut(fusions, 0);
    graft_free(fusions->items);
    *fusions = (struct graft_chains){0};
}
