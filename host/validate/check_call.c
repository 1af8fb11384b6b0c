/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats each call of the plugin's modules on memory between guard pages. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "validate/checks.h"
#include "validate/guarded_call.h"
#include "validate/second_calls.h"

/* What a run of these checks looks for. */
enum aim { WRITES_ALL, WITHIN_BOUNDS, INPUTS, KEPT };

/* Whether the view is an input that shares no memory with an output. */
static int is_input(const struct graft_hooked_call *hooked, int32_t i) {
    int is_written = hooked->views[i].direction != GRAFT_VIEW_IN;
    for (int32_t k = 0; k < hooked->n_views; k++) {
        is_written |= hooked->views[k].data == hooked->views[i].data && hooked->views[k].direction != GRAFT_VIEW_IN;
    }
    /* norms may write to their input: they add the residual to it (graft/norm.h) */
    return !is_written && strcmp(hooked->node->made_by->cls->interface_id, GRAFT_INTERFACE_NORM) != 0;
}

static int judge_bounds(const struct graft_second_calls *second, const struct graft_hooked_call *hooked,
                        const struct graft_guarded_call *guarded, struct graft_error *error) {
    for (int32_t i = 0; i < hooked->n_views; i++) {
        const struct graft_region *region = guarded->views[i];
        if (region != NULL && !graft_region_is_whole(region)) {
            return graft_second_calls_fault(second, hooked, region->name, "the module writes outside of this array",
                                            error);
        }
        if (region != NULL && is_input(hooked, i) && memcmp(region->data, hooked->views[i].data, region->bytes) != 0) {
            return graft_second_calls_fault(second, hooked, region->name,
                                            "the module writes to this array, which it may only read", error);
        }
    }
    return GRAFT_OK;
}

static int run_second(struct graft_second_calls *second, struct graft_hooked_call *hooked,
                      struct graft_guarded_call *guarded, struct graft_error *error) {
    struct graft_cache *cache = graft_second_calls_cache(second, hooked->node);
    int status = cache != NULL ? graft_guarded_call_prepare(guarded, hooked, cache, error)
                               : graft_fail_memory(error, hooked->node->path);
    for (int32_t i = 0; i < hooked->n_views && status == GRAFT_OK && second->aim == INPUTS; i++) {
        if (guarded->views[i] != NULL && is_input(hooked, i)) {
            graft_region_seal(guarded->views[i]);
        }
    }
    if (status == GRAFT_OK) {
        status = graft_guarded_call_run(guarded, hooked, error);
    }
    if (status == GRAFT_OK) {
        status = judge_bounds(second, hooked, guarded, error);
    }
    if (second->aim == KEPT) {
        graft_guarded_call_end(guarded);
    }
    return status;
}

/* Makes the same call on guarded copies, before the module itself runs. */
static int before(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct graft_second_calls *second = data;
    hooked->data = NULL;
    if (hooked->n_views == 0) {
        return GRAFT_OK;
    }
    struct graft_guarded_call *guarded = graft_alloc(1, sizeof *guarded);
    if (guarded == NULL) {
        return graft_fail_memory(error, hooked->node->path);
    }
    graft_validation_at(second->subject->validation, second->subject->model_type);
    second->calls++;
    hooked->data = guarded;
    return run_second(second, hooked, guarded, error);
}

/* Reports the first number that differs: it was not written, or was computed from uninitialised memory. */
static int judge_content(const struct graft_second_calls *second, const struct graft_hooked_call *hooked, int32_t i,
                         const struct graft_region *region, struct graft_error *error) {
    const struct graft_view *view = &hooked->views[i];
    uint32_t word = 0;
    size_t k = 0;
    while (k + sizeof word < region->bytes &&
           memcmp(region->data + k, (const char *)view->data + k, sizeof word) == 0) {
        k += sizeof word;
    }
    char what[200];
    memcpy(&word, region->data + k, sizeof word);
    const long long at = (long long)(k / sizeof word), columns = view->columns;
    (void)snprintf(what, sizeof what, "[%lld, %lld] %s", at / columns, at % columns,
                   word == UINT32_MAX ? "is not written, or made of what was there before"
                                      : "is made of what was there before, in it or in scratch memory");
    return graft_second_calls_fault(second, hooked, region->name, what, error);
}

/* Compares the outputs of the two calls: what was not written is still NaN in the copy. */
static int after(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    const struct graft_second_calls *second = data;
    struct graft_guarded_call *guarded = hooked->data;
    int status = GRAFT_OK;
    for (int32_t i = 0; guarded != NULL && i < hooked->n_views; i++) {
        const struct graft_view *view = &hooked->views[i];
        const struct graft_region *region = guarded->views[i];
        if (status == GRAFT_OK && second->aim == WRITES_ALL && view->direction != GRAFT_VIEW_IN && region != NULL &&
            memcmp(region->data, view->data, region->bytes) != 0) {
            status = judge_content(second, hooked, i, region, error);
        }
    }
    if (guarded != NULL) {
        graft_guarded_call_end(guarded);
        graft_free(guarded);
    }
    return status;
}

/* Calls the module with an undefined feature bit set, which it has to refuse. */
static int ask_unknown(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct graft_second_calls *second = data;
    const struct graft_interface *interface = graft_interface_find(hooked->node->made_by->cls->interface_id);
    struct graft_call_args *args = hooked->call->scratch_alloc(hooked->call->scratch, (int64_t)interface->args_size);
    struct graft_error own = graft_error_none();
    if (args == NULL) {
        return graft_fail_memory(error, hooked->node->path);
    }
    graft_struct_copy(args, interface->args_size, hooked->args);
    args->required_features |= 1U << 31;
    second->calls++;
    return interface->run(hooked->module, hooked->call, args, &own) == GRAFT_OK
               ? graft_second_calls_fault(second, hooked, "required_features",
                                          "the module accepts a call that requires a feature it cannot know", error)
               : GRAFT_OK;
}

/* Lets each of the module's scratch allocations fail in turn. */
static int without_scratch(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    enum { MOST = 12 };
    struct graft_second_calls *second = data;
    struct graft_cache *cache = graft_second_calls_cache(second, hooked->node);
    int failed = GRAFT_ERROR_INTERNAL;
    if (cache == NULL) {
        return graft_fail_memory(error, hooked->node->path);
    }
    second->calls++;
    graft_validation_at(second->subject->validation, second->subject->model_type);
    for (int64_t n = 1; n <= MOST && failed != GRAFT_OK && hooked->n_views > 0; n++) {
        struct graft_guarded_call guarded;
        struct graft_error own = graft_error_none();
        int status = graft_guarded_call_prepare(&guarded, hooked, cache, error);
        if (status != GRAFT_OK) {
            return status;
        }
        guarded.fails_at = n;
        failed = graft_guarded_call_run(&guarded, hooked, &own);
        graft_guarded_call_end(&guarded);
    }
    return GRAFT_OK;
}

int graft_check_bounds_of(struct graft_subject *subject, struct graft_error *error) {
    int status =
        graft_second_calls_run_guarded(subject, GRAFT_REGION_GUARD_AFTER, WITHIN_BOUNDS, 1, before, after, error);
    return status == GRAFT_OK ? graft_second_calls_run_guarded(subject, GRAFT_REGION_GUARD_BEFORE, WITHIN_BOUNDS, 1,
                                                               before, after, error)
                              : status;
}

static int watch_kept(struct graft_subject *subject, struct graft_error *error) {
    return graft_second_calls_run_guarded(subject, GRAFT_REGION_GUARD_AFTER, KEPT, 2, before, after, error);
}

static int check_bounds(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each_closed(validation, graft_check_bounds_of, error);
}

static int check_kept(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each_closed(validation, watch_kept, error);
}

#define WATCH(name, aim, before, after)                                                 \
    static int name##_watch(struct graft_subject *subject, struct graft_error *error) { \
        return graft_second_calls_run(subject, (aim), 1, (before), (after), error);     \
    }                                                                                   \
    static int name(struct graft_validation *validation, struct graft_error *error) {   \
        return graft_tiny_each(validation, name##_watch, error);                        \
    }
WATCH(check_writes, WRITES_ALL, before, after)
WATCH(check_inputs, INPUTS, before, after)
WATCH(check_unknown, 0, ask_unknown, NULL)
WATCH(check_scratch, 0, without_scratch, NULL)

const struct graft_validation_check graft_call_checks[] = {
    GRAFT_CHECK("call.bounds",
                "no module touches memory before or after its arrays, parameters, scratch and host->alloc",
                check_bounds),
    GRAFT_CHECK("call.kept", "nothing that a call was given is used after it", check_kept),
    GRAFT_OBJECT_CHECK("call.statics", "no static variable is written while models are built and run (read-only pages)",
                       graft_check_statics),
    GRAFT_CHECK("call.again",
                "each module gives the same when repeated: with loops divided differently to the bit, and by rows and "
                "by as_product within 5e-5 of the largest",
                graft_check_again),
    GRAFT_CHECK("call.inputs", "no module writes to its inputs (read-only pages)", check_inputs),
    GRAFT_CHECK("call.writes_all", "each module writes all of its outputs, whatever they held before", check_writes),
    GRAFT_CHECK("call.scratch", "if scratch memory runs out, the module returns an error", check_scratch),
    GRAFT_CHECK("call.unknown_feature", "a call with required_features that it does not know is refused",
                check_unknown),
    GRAFT_CHECK("call.bfloat16", "weights in bf16 are read as such, or refused", graft_check_narrow),
    {{0}, NULL, 0},
};
