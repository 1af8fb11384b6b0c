/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/guarded_call.h"

#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "graft/attention.h"
#include "interface/interface.h"
#include "validate/crash.h"

/* --- Scratch memory. A mark is the number of regions made so far. --- */

static const struct graft_guarded_call *guarded_of(const struct graft_scratch *scratch) {
    return (const void *)scratch;
}

static int must_fail(struct graft_scratch *scratch) {
    struct graft_guarded_call *guarded = (void *)scratch;
    return guarded->fails_at > 0 && --guarded->fails_at == 0;
}

static void *scratch_alloc(struct graft_scratch *scratch, int64_t bytes) {
    enum { ALIGNMENT = 64, UNINITIALISED = 0xFF };
    const struct graft_call *outer = guarded_of(scratch)->outer;
    if (must_fail(scratch)) {
        return NULL;
    }
    struct graft_region *region =
        bytes >= 0 && bytes <= INT64_MAX / 4
            ? graft_region_make(GRAFT_REGION_SCRATCH, "", (size_t)bytes, ALIGNMENT, (int32_t)sizeof(float))
            : NULL;
    return region != NULL ? memset(region->data, UNINITIALISED, region->bytes)
                          : outer->scratch_alloc(outer->scratch, bytes);
}

/* Also calls the host's function, which checks the floating-point environment. */
static int64_t scratch_mark(const struct graft_scratch *scratch) {
    const struct graft_call *outer = guarded_of(scratch)->outer;
    (void)outer->scratch_mark(outer->scratch);
    return (int64_t)graft_region_count();
}

static void end_scratch(struct graft_region *region) {
    if (!graft_region_is_whole(region)) {
        char what[80];
        (void)snprintf(what, sizeof what, "Wrote beside scratch of %zu bytes", region->bytes);
        graft_crash_found(what);
    }
    graft_region_end(region, GRAFT_REGION_ENDED);
}

static void scratch_release(struct graft_scratch *scratch, int64_t mark) {
    const struct graft_call *outer = guarded_of(scratch)->outer;
    outer->scratch_release(outer->scratch, outer->scratch_mark(outer->scratch));
    for (size_t i = (size_t)mark; i < graft_region_count(); i++) {
        struct graft_region *region = graft_region_number(i);
        if (region != NULL && region->kind == GRAFT_REGION_SCRATCH && region->state == GRAFT_REGION_OPEN) {
            end_scratch(region);
        }
    }
}

/* --- Guarded copies of what a call passes to the module --- */

/* Names the module's call as the region's owner, since the parent is still the running call. */
static struct graft_region *make(const struct graft_hooked_call *hooked, enum graft_region_kind kind, const char *name,
                                 size_t bytes, size_t alignment, int32_t element) {
    struct graft_region *region = graft_region_make(kind, name, bytes, alignment, element);
    if (region != NULL) {
        (void)snprintf(region->owner, sizeof region->owner, "forward of %.120s (%.64s)", hooked->node->path,
                       hooked->node->class_name);
    }
    return region;
}

static struct graft_region *lend(const struct graft_hooked_call *hooked, const char *name, const void *object,
                                 size_t bytes) {
    struct graft_region *region = make(hooked, GRAFT_REGION_STRUCT, name, bytes, 0, 1);
    if (region != NULL) {
        memcpy(region->data, object, bytes);
    }
    return region;
}

/* The index of an earlier array with the same memory; -1 if there is none. */
static int32_t find_shared(const struct graft_hooked_call *hooked, int32_t i) {
    for (int32_t k = 0; k < i; k++) {
        if (hooked->views[k].data == hooked->views[i].data) {
            return k;
        }
    }
    return -1;
}

static int place_view(struct graft_guarded_call *guarded, const struct graft_hooked_call *hooked, int32_t i) {
    const struct graft_view *view = &hooked->views[i];
    const size_t element = (size_t)graft_dtype_size(view->dtype);
    const size_t bytes = (size_t)(view->rows * view->columns) * element;
    const int32_t shared = find_shared(hooked, i);
    struct graft_region *region = shared >= 0 ? guarded->views[shared] : NULL;
    if (region == NULL) {
        char name[96];
        (void)snprintf(name, sizeof name, "%.40s [%lld, %lld]", view->name, (long long)view->rows,
                       (long long)view->columns);
        region = make(hooked, GRAFT_REGION_ARRAY, name, bytes, element, (int32_t)element);
        if (region == NULL) {
            return -1;
        }
        guarded->views[i] = region;
        if (view->direction == GRAFT_VIEW_OUT) {
            memset(region->data, 0xFF, bytes);
        } else {
            memcpy(region->data, view->data, bytes);
        }
    }
    memcpy((char *)guarded->copy.args + view->field, &region->data, sizeof region->data);
    return 0;
}

/* Copies an array that is only read, and makes the pointer at `to` lead to the copy. */
static int place_input(const struct graft_hooked_call *hooked, const char *name, const void *array, int64_t n,
                       size_t element, void *to) {
    char full[96];
    if (array == NULL) {
        return 0;
    }
    (void)snprintf(full, sizeof full, "%s [%lld]", name, (long long)n);
    struct graft_region *region =
        make(hooked, GRAFT_REGION_ARRAY, full, (size_t)n * element, element, (int32_t)element);
    if (region == NULL) {
        return -1;
    }
    memcpy(region->data, array, (size_t)n * element);
    graft_region_seal(region);
    memcpy(to, &region->data, sizeof region->data);
    return 0;
}

static int place_batch(struct graft_guarded_call *guarded, const struct graft_hooked_call *hooked, size_t field) {
    struct graft_batch *batch = &guarded->copy.batch;
    int failed =
        place_input(hooked, "positions", batch->positions, batch->tokens, sizeof *batch->positions, &batch->positions) |
        place_input(hooked, "cu_seqlens", batch->cu_seqlens, batch->sequences + 1, sizeof *batch->cu_seqlens,
                    &batch->cu_seqlens) |
        place_input(hooked, "slots", batch->slots, batch->sequences, sizeof *batch->slots, &batch->slots);
    struct graft_region *region = failed ? NULL : lend(hooked, "batch", batch, sizeof *batch);
    if (region != NULL) {
        memcpy((char *)guarded->copy.args + field, &region->data, sizeof region->data);
    }
    return region != NULL ? 0 : -1;
}

/* Copies arrays that are not views, because interfaces do not give their width: an attention's cos and sin. */
static int place_rotary(struct graft_guarded_call *guarded, const struct graft_hooked_call *hooked) {
    struct graft_self_attention_args *args = guarded->copy.args;
    const struct graft_args *given = &hooked->node->args;
    const int64_t head_dim = graft_args_int(given, "head_dim", 0);
    const int64_t n = args->batch->tokens * graft_args_int(given, "rotary_width", head_dim);
    if (n <= 0) {
        return 0;
    }
    return place_input(hooked, "cos", args->cos, n, sizeof *args->cos, &args->cos) |
           place_input(hooked, "sin", args->sin, n, sizeof *args->sin, &args->sin);
}

int graft_guarded_call_prepare(struct graft_guarded_call *guarded, const struct graft_hooked_call *hooked,
                               struct graft_cache *cache, struct graft_error *error) {
    const struct graft_interface *interface = graft_interface_find(hooked->node->made_by->cls->interface_id);
    *guarded = (struct graft_guarded_call){
        .copy = {.module = hooked->module, .cache = cache}, .outer = hooked->call, .first = graft_region_count()};
    int status = graft_original_call_prepare(&guarded->copy, hooked, error);
    int failed = 0;
    for (int32_t i = 0; i < hooked->n_views && status == GRAFT_OK; i++) {
        failed |= place_view(guarded, hooked, i);
    }
    if (status == GRAFT_OK && interface->batch_field > 0) {
        failed |= place_batch(guarded, hooked, interface->batch_field);
    }
    if (status == GRAFT_OK && strcmp(interface->id, GRAFT_INTERFACE_SELF_ATTENTION) == 0) {
        failed |= place_rotary(guarded, hooked);
    }
    return status == GRAFT_OK && failed ? graft_fail_memory(error, hooked->node->path) : status;
}

int graft_guarded_call_run(struct graft_guarded_call *guarded, const struct graft_hooked_call *hooked,
                           struct graft_error *error) {
    const struct graft_interface *interface = graft_interface_find(hooked->node->made_by->cls->interface_id);
    struct graft_call inner;
    graft_struct_copy(&inner, sizeof inner, hooked->call);
    inner.threads = guarded->threads != NULL ? guarded->threads : inner.threads;
    inner.scratch = (void *)guarded;
    inner.scratch_alloc = scratch_alloc;
    inner.scratch_mark = scratch_mark;
    inner.scratch_release = scratch_release;
    struct graft_region *call = lend(hooked, "call", &inner, sizeof inner);
    struct graft_region *args = lend(hooked, "args", guarded->copy.args, interface->args_size);
    if (call == NULL || args == NULL) {
        return graft_fail_memory(error, hooked->node->path);
    }
    graft_crash_on_behalf(args->owner);
    int status = interface->run(guarded->copy.module, (const void *)call->data, args->data, error);
    graft_crash_on_behalf(NULL);
    graft_region_end_borrowed(guarded->first, GRAFT_REGION_STRUCT);
    return status;
}

void graft_guarded_call_end(struct graft_guarded_call *guarded) {
    graft_region_end_borrowed(guarded->first, GRAFT_REGION_ARRAY);
}
