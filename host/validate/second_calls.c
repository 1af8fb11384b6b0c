/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/second_calls.h"

#include <string.h>

#include "base/alloc.h"
#include "kernels/cache.h"
#include "library/library.h"
#include "validate/lender.h"

static int wants(void *data, const struct graft_node *node) {
    const struct graft_second_calls *second = data;
    return node->made_by != NULL && node->made_by->origin.plugin != NULL &&
           strcmp(node->made_by->origin.plugin, second->id) == 0;
}

struct graft_cache *graft_second_calls_cache(struct graft_second_calls *second, const struct graft_node *node) {
    for (size_t i = 0; i < second->n; i++) {
        if (second->nodes[i] == node) {
            return second->caches[i];
        }
    }
    if (second->n == GRAFT_SECOND_NODES) {
        return NULL;
    }
    second->nodes[second->n] = node;
    second->caches[second->n] = graft_cache_create(1, graft_model_kv_dtype(second->subject->model));
    return second->caches[second->n++];
}

int graft_second_calls_fault(const struct graft_second_calls *second, const struct graft_hooked_call *hooked,
                             const char *where, const char *what, struct graft_error *error) {
    return graft_validation_fault(second->subject->validation, error, "%s (%s): %s: %s", hooked->node->path,
                                  hooked->node->class_name, where, what);
}

static int run(struct graft_second_calls *second, int times, const struct graft_forward_hooks *hooks,
               struct graft_error *error) {
    const struct graft_prompt prompt = graft_validation_prompt();
    struct graft_hook_handle *handle = NULL;
    int status = graft_forward_hooks_register(second->subject->model->tree, hooks, &handle, error);
    for (int i = 0; i < times && status == GRAFT_OK; i++) {
        float *logits = NULL;
        status = graft_make_logits(second->subject, second->subject->model, &prompt, 1, &logits, error);
        graft_free(logits);
    }
    graft_forward_hooks_remove(handle);
    for (size_t i = 0; i < second->n; i++) {
        graft_cache_destroy(second->caches[i]);
    }
    return status;
}

static int run_open(struct graft_subject *subject, int32_t aim, int times, graft_second_calls_hook before,
                    graft_second_calls_hook after, struct graft_error *error) {
    struct graft_second_calls second = {
        .subject = subject, .aim = aim, .id = graft_library_plugin(subject->library, 0)->descriptor->id};
    const struct graft_forward_hooks hooks = {wants, before, after, &second};
    if (!graft_subject_has_logits(subject)) {
        return GRAFT_OK;
    }
    int status = run(&second, times, &hooks, error);
    return status == GRAFT_OK && second.calls == 0
               ? graft_subject_leave(subject, "no module of its own was called, or none has arrays that are known")
               : status;
}

int graft_second_calls_run(struct graft_subject *subject, int32_t aim, int times, graft_second_calls_hook before,
                           graft_second_calls_hook after, struct graft_error *error) {
    graft_region_forget();
    return run_open(subject, aim, times, before, after, error);
}

int graft_second_calls_run_guarded(struct graft_subject *subject, enum graft_region_side side, int32_t aim, int times,
                                   graft_second_calls_hook before, graft_second_calls_hook after,
                                   struct graft_error *error) {
    graft_region_forget();
    graft_lender_begin(side);
    int status = graft_subject_open(subject, 0, &subject->library, &subject->model, error);
    if (status == GRAFT_OK) {
        status = run_open(subject, aim, times, before, after, error);
    }
    if (status == GRAFT_OK) {
        status = graft_lender_check_blocks(subject->validation, error);
    }
    graft_subject_close(subject);
    return status;
}
