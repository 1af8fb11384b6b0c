/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of each of the plugin's modules, made a second time on guarded memory. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "hooks/original_call.h"
#include "kernels/cache.h"
#include "library/library.h"
#include "validate/compare.h"
#include "validate/guard.h"

/* What is looked for. */
enum aim { WRITES_ALL, WITHIN_BOUNDS, INPUTS, UNKNOWN_FEATURE };

enum { MAX_NODES = 256 };

/* The caches of second calls, a module each. */
struct second {
    const struct graft_subject *subject;
    const char *id; /* of the plugin */
    enum aim aim;
    const struct graft_node *nodes[MAX_NODES];
    struct graft_cache *caches[MAX_NODES];
    size_t n;
    int64_t calls;
};

static int wants(void *data, const struct graft_node *node) {
    const struct second *second = data;
    return node->maker != NULL && node->maker->origin.plugin != NULL &&
           strcmp(node->maker->origin.plugin, second->id) == 0;
}

static struct graft_cache *cache_of(struct second *second, const struct graft_node *node) {
    for (size_t i = 0; i < second->n; i++) {
        if (second->nodes[i] == node) {
            return second->caches[i];
        }
    }
    if (second->n == MAX_NODES) {
        return NULL;
    }
    second->nodes[second->n] = node;
    second->caches[second->n] = graft_cache_create(1, graft_model_kv_dtype(second->subject->model));
    return second->caches[second->n++];
}

static int fault(const struct second *second, const struct graft_hooked_call *hooked, const char *view,
                 const char *what, struct graft_error *error) {
    return graft_validation_fault(second->subject->validation, error, "%s (%s): %s: %s", hooked->node->path,
                                  hooked->node->class_name, view, what);
}

/* The array that shares its memory with array `i`, an earlier one; or -1. */
static int32_t find_shared(const struct graft_hooked_call *hooked, int32_t i) {
    for (int32_t k = 0; k < i; k++) {
        if (hooked->views[k].data == hooked->views[i].data) {
            return k;
        }
    }
    return -1;
}

/* Guarded copies in the place of all arrays: outputs hold NaN (ids: -1). */
static int place(const struct graft_hooked_call *hooked, void *args, struct graft_guard *guards,
                 struct graft_error *error) {
    for (int32_t i = 0; i < hooked->n_views; i++) {
        const struct graft_view *view = &hooked->views[i];
        int32_t shared = find_shared(hooked, i);
        size_t bytes = (size_t)(view->rows * view->columns * graft_dtype_size(view->dtype));
        if (shared < 0 && graft_guard_make(bytes, &guards[i]) != 0) {
            return graft_fail_memory(error, hooked->node->path);
        }
        void *data = shared >= 0 ? guards[shared].data : guards[i].data;
        if (shared < 0 && view->direction == GRAFT_VIEW_OUT) {
            memset(data, 0xFF, bytes);
        } else if (shared < 0) {
            memcpy(data, view->data, bytes);
        }
        memcpy((char *)args + view->field, &data, sizeof data);
    }
    return GRAFT_OK;
}

/* Inputs that no output shares memory with. */
static int is_input(const struct graft_hooked_call *hooked, int32_t i) {
    int is_written = hooked->views[i].direction != GRAFT_VIEW_IN;
    for (int32_t k = 0; k < hooked->n_views; k++) {
        is_written |= hooked->views[k].data == hooked->views[i].data && hooked->views[k].direction != GRAFT_VIEW_IN;
    }
    /* A norm adds the residual to what it is given (graft/norm.h). */
    return !is_written && strcmp(hooked->node->maker->cls->interface_id, GRAFT_INTERFACE_NORM) != 0;
}

static int judge_bounds(const struct second *second, const struct graft_hooked_call *hooked,
                        const struct graft_guard *guards, struct graft_error *error) {
    for (int32_t i = 0; i < hooked->n_views; i++) {
        if (guards[i].map != NULL && !graft_guard_is_whole(&guards[i])) {
            return fault(second, hooked, hooked->views[i].name, "the module writes outside of this array", error);
        }
        if (guards[i].map != NULL && is_input(hooked, i) &&
            memcmp(guards[i].data, hooked->views[i].data, guards[i].bytes) != 0) {
            return fault(second, hooked, hooked->views[i].name,
                         "the module writes to this array, which it may only read", error);
        }
    }
    return GRAFT_OK;
}

static int run_second(struct second *second, struct graft_hooked_call *hooked, struct graft_original_call *copy,
                      struct graft_guard *guards, struct graft_error *error) {
    *copy = (struct graft_original_call){.module = hooked->module, .cache = cache_of(second, hooked->node)};
    int status = copy->cache != NULL ? graft_original_call_prepare(copy, hooked, error)
                                     : graft_fail_memory(error, hooked->node->path);
    if (status == GRAFT_OK) {
        status = place(hooked, copy->args, guards, error);
    }
    for (int32_t i = 0; i < hooked->n_views && status == GRAFT_OK && second->aim == INPUTS; i++) {
        if (guards[i].map != NULL && is_input(hooked, i)) {
            graft_guard_seal(&guards[i]);
        }
    }
    if (status == GRAFT_OK) {
        status = graft_original_call_run(copy, hooked, error);
    }
    return status == GRAFT_OK ? judge_bounds(second, hooked, guards, error) : status;
}

/* Before the module runs: it does on the guarded copy what it will do then. */
static int before(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct second *second = data;
    const struct graft_call *call = hooked->call;
    struct graft_original_call *copy = call->scratch_alloc(call->scratch, sizeof *copy);
    struct graft_guard *guards = graft_alloc(GRAFT_MAX_VIEWS, sizeof *guards);
    hooked->data = NULL;
    if (copy == NULL || guards == NULL) {
        graft_free(guards);
        return graft_fail_memory(error, hooked->node->path);
    }
    if (hooked->n_views == 0) {
        graft_free(guards);
        return GRAFT_OK;
    }
    graft_validation_at(second->subject->validation, hooked->node->path);
    second->calls++;
    hooked->data = guards;
    return run_second(second, hooked, copy, guards, error);
}

/* Afterwards both have to be the same: what is not written is still NaN in the copy. */
static int after(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    const struct second *second = data;
    struct graft_guard *guards = hooked->data;
    int status = GRAFT_OK;
    for (int32_t i = 0; guards != NULL && i < hooked->n_views; i++) {
        const struct graft_view *view = &hooked->views[i];
        if (status == GRAFT_OK && second->aim == WRITES_ALL && view->direction != GRAFT_VIEW_IN &&
            guards[i].map != NULL && memcmp(guards[i].data, view->data, guards[i].bytes) != 0) {
            status = fault(second, hooked, view->name,
                           "its content depends on what was there before, or not all of it is written", error);
        }
    }
    for (int32_t i = 0; guards != NULL && i < GRAFT_MAX_VIEWS; i++) {
        graft_guard_free(&guards[i]);
    }
    graft_free(guards);
    return status;
}

/* A call that asks for something which nobody has defined has to be refused, not answered. */
static int ask_unknown(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct second *second = data;
    const struct graft_interface *interface = graft_interface_find(hooked->node->maker->cls->interface_id);
    struct graft_call_args *args = hooked->call->scratch_alloc(hooked->call->scratch, (int64_t)interface->args_size);
    struct graft_error own = graft_error_none();
    if (args == NULL) {
        return graft_fail_memory(error, hooked->node->path);
    }
    graft_struct_copy(args, interface->args_size, hooked->args);
    args->required_features |= 1U << 31;
    second->calls++;
    return interface->run(hooked->module, hooked->call, args, &own) == GRAFT_OK
               ? fault(second, hooked, "required_features",
                       "the module accepts a call that requires a feature it cannot know", error)
               : GRAFT_OK;
}

static int watch(struct graft_subject *subject, enum aim aim, struct graft_error *error) {
    struct second second = {
        .subject = subject, .id = graft_library_plugin(subject->library, 0)->descriptor->id, .aim = aim};
    struct graft_forward_hooks hooks = {wants, before, after, &second};
    const struct graft_prompt prompt = {
        .struct_size = sizeof prompt, .ids = graft_validation_ids(), .count = GRAFT_VALIDATION_IDS};
    struct graft_hook_handle *handle = NULL;
    float *logits = NULL;
    if (!graft_subject_has_logits(subject)) {
        return GRAFT_OK;
    }
    if (aim == UNKNOWN_FEATURE) {
        hooks = (struct graft_forward_hooks){wants, ask_unknown, NULL, &second};
    }
    int status = graft_forward_hooks_register(subject->model->tree, &hooks, &handle, error);
    if (status == GRAFT_OK) {
        status = graft_make_logits(subject, subject->model, &prompt, 1, &logits, error);
    }
    graft_forward_hooks_remove(handle);
    for (size_t i = 0; i < second.n; i++) {
        graft_cache_destroy(second.caches[i]);
    }
    graft_free(logits);
    return status == GRAFT_OK && second.calls == 0
               ? graft_subject_leave(subject, "no module of its own was called, or none has arrays that are known")
               : status;
}

#define WATCH(name, aim)                                                                \
    static int name##_watch(struct graft_subject *subject, struct graft_error *error) { \
        return watch(subject, (aim), error);                                            \
    }                                                                                   \
    static int name(struct graft_validation *validation, struct graft_error *error) {   \
        return graft_tiny_each(validation, name##_watch, error);                        \
    }
WATCH(check_writes, WRITES_ALL)
WATCH(check_bounds, WITHIN_BOUNDS)
WATCH(check_inputs, INPUTS)
WATCH(check_unknown, UNKNOWN_FEATURE)

const struct graft_validation_check graft_call_checks[] = {
    GRAFT_CHECK("call.writes_all", "each module writes all of its outputs, whatever they held before", check_writes),
    GRAFT_CHECK("call.bounds", "no module touches memory beside its arrays (guard pages)", check_bounds),
    GRAFT_CHECK("call.inputs", "no module writes to its inputs (read-only pages)", check_inputs),
    GRAFT_CHECK("call.unknown_feature", "a call with required_features that it does not know is refused",
                check_unknown),
    {{0}, NULL},
};
