/* SPDX-License-Identifier: Apache-2.0 */
/* graft/host/library.h. */
#include "base/alloc.h"
#include "base/fail.h"
#include "library/library.h"

/* Whether an implementation is the default: the first of its kind. */
static int is_default(const struct graft_snapshot *snapshot, const struct graft_implementation *implementation) {
    const struct graft_implementation *at = graft_snapshot_implementation_at(snapshot, 0);
    for (size_t i = 0; at != NULL && at->kind != implementation->kind; i++) {
        at = graft_snapshot_implementation_at(snapshot, i);
    }
    return at == implementation && (implementation->kind == GRAFT_IMPLEMENTATION_ATTENTION ||
                                    implementation->kind == GRAFT_IMPLEMENTATION_EXPERTS);
}

static struct graft_implementation_info info_of(const struct graft_snapshot *snapshot,
                                                const struct graft_implementation *implementation) {
    const struct graft_kernel_override *kernel =
        implementation->kind == GRAFT_IMPLEMENTATION_KERNEL ? implementation->declared : NULL;
    return (struct graft_implementation_info){
        .struct_size = sizeof(struct graft_implementation_info),
        .kind = (int32_t)implementation->kind,
        .name = implementation->name,
        .plugin = implementation->origin.plugin,
        .class_name = kernel != NULL ? kernel->replacement->replacement->name : NULL,
        .original_class = kernel != NULL ? kernel->replacement->target : NULL,
        .is_default = is_default(snapshot, implementation),
    };
}

static int64_t count_modules(const struct graft_model *model, const struct graft_implementation *kernel) {
    const struct graft_kernel_override *declared = kernel->declared;
    int64_t modules = 0;
    for (size_t i = 0; i < model->published.n_modules; i++) {
        modules += model->published.modules[i].cls == declared->replacement->replacement;
    }
    return modules;
}

static size_t count_implementations(const struct graft_snapshot *snapshot) {
    size_t n = 0;
    while (graft_snapshot_implementation_at(snapshot, n) != NULL) {
        n++;
    }
    return n;
}

int graft_publish_implementations(struct graft_model *model, struct graft_error *error) {
    struct graft_published *published = &model->published;
    const struct graft_snapshot *snapshot = model->tree->snapshot;
    size_t count = count_implementations(snapshot);
    struct graft_implementation_info *infos = graft_arena_alloc(&published->arena, count + 2, sizeof *infos);
    if (infos == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    infos[published->n_implementations++] = info_of(snapshot, model->attention);
    infos[published->n_implementations++] = info_of(snapshot, model->experts);
    for (size_t i = 0; i < count; i++) {
        const struct graft_implementation *implementation = graft_snapshot_implementation_at(snapshot, i);
        int64_t modules =
            implementation->kind == GRAFT_IMPLEMENTATION_KERNEL ? count_modules(model, implementation) : 0;
        if (modules > 0) {
            infos[published->n_implementations] = info_of(snapshot, implementation);
            infos[published->n_implementations++].modules = modules;
        }
    }
    published->implementations = infos;
    return GRAFT_OK;
}

const struct graft_implementation_info *graft_model_implementation(const struct graft_model *model, size_t i) {
    return i < model->published.n_implementations ? &model->published.implementations[i] : NULL;
}

int graft_library_implementations(struct graft_library *library, struct graft_implementation_info **implementations,
                                  size_t *n, struct graft_error *error) {
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    size_t count = count_implementations(snapshot);
    *n = 0;
    *implementations = graft_alloc(count, sizeof **implementations);
    for (size_t i = 0; i < count && *implementations != NULL; i++) {
        (*implementations)[(*n)++] = info_of(snapshot, graft_snapshot_implementation_at(snapshot, i));
    }
    graft_snapshot_release(snapshot);
    return *implementations != NULL ? GRAFT_OK : graft_fail_memory(error, "library");
}

void graft_implementations_free(struct graft_implementation_info *implementations) {
    graft_free(implementations);
}
