/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether fusing leaves results unchanged. Names and positions of modules do not show in which order they run,
 * nor what a parent does with their outputs; two tokens do. They are run without fusion, while the order of calls is
 * recorded, and with fusion, with the outputs of modules that have not run yet set to NaN, so that any read of them is
 * noticed. */
#include "library/chain_probe.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "graft/host/encode.h"
#include "hooks/forward_hooks.h"
#include "interface/interface.h"

enum { TOKENS = 2 };

struct probe {
    struct graft_fused_chain **chains;
    size_t n;
};

static int is_sibling(const struct graft_fused_chain *chain, const struct graft_node *node) {
    return chain->modules[0].node->parent == node->parent;
}

static int wants_siblings(void *data, const struct graft_node *node) {
    const struct probe *probe = data;
    for (size_t i = 0; i < probe->n; i++) {
        if (is_sibling(probe->chains[i], node)) {
            return 1;
        }
    }
    return 0;
}

/* A module's position in a chain; `chain->n` if it is not in it. */
static size_t position(const struct graft_fused_chain *chain, const struct graft_node *node) {
    size_t i = 0;
    while (i < chain->n && chain->modules[i].node != node) {
        i++;
    }
    return i;
}

static int follow(struct graft_fused_chain *chain, const struct graft_node *node, struct graft_error *error) {
    size_t at = position(chain, node);
    if (at == chain->next) {
        chain->next = at + 1 < chain->n ? at + 1 : 0;
        return GRAFT_OK;
    }
    if (chain->next > 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, chain->modules[chain->next].node->path,
                               "cannot be fused with %s: they do not follow each other, %s runs in between",
                               chain->modules[chain->next - 1].node->path, node->path);
    }
    if (at < chain->n) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, node->path,
                               "cannot be fused with %s: it runs before that module",
                               chain->modules[at - 1].node->path);
    }
    return GRAFT_OK;
}

static int before(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct probe *probe = data;
    int status = GRAFT_OK;
    for (size_t i = 0; i < probe->n && status == GRAFT_OK; i++) {
        if (is_sibling(probe->chains[i], hooked->node)) {
            status = follow(probe->chains[i], hooked->node, error);
        }
    }
    return status;
}

/* The chain in which a module only stores its args until the last module is called; NULL for other modules. */
static const struct graft_fused_chain *waiting_in(const struct probe *probe, const struct graft_node *node) {
    for (size_t i = 0; i < probe->n; i++) {
        if (position(probe->chains[i], node) + 1 < probe->chains[i]->n) {
            return probe->chains[i];
        }
    }
    return NULL;
}

static int wants_waiting(void *data, const struct graft_node *node) {
    return waiting_in(data, node) != NULL;
}

static const char *interface_of(const struct graft_fused_chain *chain, size_t i) {
    return chain->modules[i].node->made_by->cls->interface_id;
}

/* Whether a module that was called but has not run has its input at this address: parents reuse their memory. */
static int is_awaited(const struct graft_fused_chain *chain, const void *values) {
    for (size_t i = 0; i < chain->next; i++) {
        struct graft_interface_chained chained = graft_interface_chained(interface_of(chain, i));
        for (int32_t j = 0; j < chained.n_inputs; j++) {
            const void *input;
            memcpy(&input, (const char *)chain->args[i] + chained.inputs[j], sizeof input);
            if (input == values) {
                return 1;
            }
        }
    }
    return 0;
}

static int spoil(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    const struct graft_fused_chain *chain = waiting_in(data, hooked->node);
    if (hooked->n_views == 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, hooked->node->path,
                               "cannot be fused: the sizes of its arguments are not known");
    }
    for (int32_t i = 0; i < hooked->n_views; i++) {
        const struct graft_view *view = &hooked->views[i];
        float *values = view->data;
        int free_to_spoil = view->direction == GRAFT_VIEW_OUT && !is_awaited(chain, values);
        int64_t count = free_to_spoil ? view->rows * view->columns : 0;
        for (int64_t j = 0; j < count; j++) {
            values[j] = NAN;
        }
    }
    return GRAFT_OK;
}

/* How many numbers a token results in: logits, or for an encoder the last hidden state. */
static size_t width(const struct graft_model *model) {
    struct graft_encoder_info info = {.struct_size = sizeof info};
    graft_model_encoder_info(model, &info);
    return (size_t)(graft_model_task(model) == GRAFT_TASK_CAUSAL_LM ? model->vocab_size : info.hidden_size);
}

static int run_model(struct graft_model *model, float *results, struct graft_error *error) {
    const int32_t ids[TOKENS] = {0, model->vocab_size > 1 ? 1 : 0};
    if (graft_model_task(model) == GRAFT_TASK_CAUSAL_LM) {
        const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};
        return graft_model_logits(model, &prompt, 1, results, error);
    }
    const struct graft_encoder_prompt text = {.struct_size = sizeof text, .ids = ids, .count = TOKENS};
    const struct graft_encoder_outputs outputs = {.struct_size = sizeof outputs, .last_hidden_state = results};
    return graft_model_encode(model, &text, 1, &outputs, error);
}

/* Runs two tokens with `hooks`; results [TOKENS, width]. */
static int run(struct graft_model *model, const struct graft_forward_hooks *hooks, float *results,
               struct graft_error *error) {
    struct graft_hook_handle *handle = NULL;
    int status = graft_forward_hooks_register(model->tree, hooks, &handle, error);
    if (status == GRAFT_OK) {
        status = run_model(model, results, error);
    }
    graft_forward_hooks_remove(handle);
    return status;
}

static int compare(struct graft_model *model, struct probe *probe, float *plain, float *fused,
                   struct graft_error *error) {
    const struct graft_forward_hooks order = {wants_siblings, before, NULL, probe};
    const struct graft_forward_hooks spoiling = {wants_waiting, NULL, spoil, probe};
    int status = run(model, &order, plain, error);
    for (size_t i = 0; i < probe->n; i++) {
        graft_chain_place(probe->chains[i]);
    }
    if (status == GRAFT_OK) {
        status = run(model, &spoiling, fused, error);
    }
    if (status == GRAFT_OK && memcmp(plain, fused, TOKENS * width(model) * sizeof *plain) != 0) {
        const struct graft_chain_module *modules = probe->chains[0]->modules;
        status =
            graft_error_set(error, GRAFT_ERROR_USAGE, modules[0].node->path,
                            "cannot be fused with %s: results differ when they run together", modules[1].node->path);
        graft_error_hint(error, "%s changes the output of one before the other takes it",
                         modules[0].node->parent->class_name);
    }
    return status;
}

int graft_chains_try(struct graft_model *model, size_t first, struct graft_error *error) {
    struct probe probe = {model->chains.items + first, model->chains.count - first};
    size_t bytes = TOKENS * width(model) * sizeof(float);
    float *plain = graft_alloc(1, bytes);
    float *fused = graft_alloc(1, bytes);
    int status = plain != NULL && fused != NULL ? compare(model, &probe, plain, fused, error)
                                                : graft_fail_memory(error, model->directory);
    graft_free(plain);
    graft_free(fused);
    return status;
}
