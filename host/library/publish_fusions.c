/* SPDX-License-Identifier: Apache-2.0 */
/* Publishes for graft/host/plan.h which modules each chosen fusion family fused, and which it did not, with reasons. */
#include "base/fail.h"
#include "library/library.h"
#include "model/fusion.h"

static int fill_module(struct graft_model *model, const struct graft_candidate *candidate,
                       struct graft_considered_module *shown) {
    struct graft_text reason = {0};
    int fused = graft_tree_is_fused(model->tree, candidate, &reason);
    const char *why = fused ? candidate->reason : reason.bytes;
    *shown = (struct graft_considered_module){
        .struct_size = sizeof *shown,
        .path = candidate->path,
        .class_name = candidate->original->name,
        .fused_class = fused ? candidate->fused.name : NULL,
        .reason = why != NULL && !reason.failed ? graft_arena_strdup(&model->published.arena, why) : NULL,
    };
    int failed = reason.failed || (why != NULL && shown->reason == NULL);
    graft_text_free(&reason);
    return failed ? -1 : 0;
}

static int fill(struct graft_model *model, const struct graft_fused_modules *found,
                struct graft_planned_fusion *shown) {
    struct graft_arena *arena = &model->published.arena;
    const struct graft_considered_module **pointers = graft_arena_alloc(arena, found->n, sizeof *pointers);
    struct graft_considered_module *modules = graft_arena_alloc(arena, found->n, sizeof *modules);
    int failed = pointers == NULL || modules == NULL;
    for (size_t i = 0; i < found->n && !failed; i++) {
        failed = fill_module(model, found->candidates[i], &modules[i]) != 0;
        pointers[i] = &modules[i];
    }
    *shown = (struct graft_planned_fusion){
        .struct_size = sizeof *shown,
        .family = graft_fusion_family_of(found->known)->name,
        .plugin = graft_fusion_origin(found->known)->plugin,
        .modules = pointers,
        .n_modules = found->n,
    };
    return failed ? -1 : 0;
}

int graft_publish_fusions(struct graft_model *model, struct graft_error *error) {
    struct graft_published *published = &model->published;
    size_t n = model->tree->n_fused_modules;
    const struct graft_planned_fusion **pointers = graft_arena_alloc(&published->arena, n, sizeof *pointers);
    struct graft_planned_fusion *fusions = graft_arena_alloc(&published->arena, n, sizeof *fusions);
    int failed = pointers == NULL || fusions == NULL;
    for (size_t i = 0; i < n && !failed; i++) {
        failed = fill(model, model->tree->fused_modules[i], &fusions[i]) != 0;
        pointers[i] = &fusions[i];
    }
    published->plan.fusions = pointers;
    published->plan.n_fusions = n;
    return failed ? graft_fail_memory(error, model->directory) : GRAFT_OK;
}
