/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/fusion_transforms.h"

#include <string.h>

#include "base/alloc.h"
#include "base/crash_context.h"
#include "base/fail.h"

static int add_conversion(void *data, const struct graft_conversion *conversion, struct graft_error *error) {
    return graft_candidate_add_conversion(data, conversion, error);
}

static int add_arguments(void *data, const struct graft_args *args, struct graft_error *error) {
    return graft_candidate_add_arguments(data, args, error);
}

/* The pattern of a name below a module, "patch_embed\.proj\.weight"; a `*` is kept. NULL if memory ran out. */
static char *pattern_of(const char *module_name, const char *name) {
    struct graft_text text = {0};
    const char *parts[] = {module_name, ".", name};
    for (size_t i = 0; i < 3; i++) {
        for (const char *at = parts[i]; *at != '\0'; at++) {
            graft_text_add(&text, "\\", strchr(".^$|?+()[]{}\\", *at) != NULL);
            graft_text_add(&text, at, 1);
        }
    }
    if (text.failed) {
        graft_text_free(&text);
    }
    return text.bytes;
}

/* Appends the patterns of `n` names; NULL if memory ran out. */
static const char *const *add_patterns(struct graft_fusion_transforms *made, const char *module_name,
                                       const char *const *names, int32_t n) {
    const char *const *first = &made->patterns[made->n_patterns];
    for (int32_t i = 0; i < n; i++) {
        char *pattern = pattern_of(module_name, names[i]);
        if (pattern == NULL) {
            return NULL;
        }
        made->patterns[made->n_patterns++] = pattern;
    }
    return first;
}

static int make_items(const char *module_name, struct graft_fusion_transforms *made, struct graft_error *error) {
    const struct graft_class *cls = &made->collected->fused;
    size_t patterns = 0;
    for (int32_t i = 0; i < cls->n_conversions; i++) {
        patterns += (size_t)cls->conversions[i].n_sources + (size_t)cls->conversions[i].n_targets;
    }
    made->items = graft_alloc((size_t)cls->n_conversions + 1, sizeof *made->items);
    made->patterns = graft_alloc(patterns + 1, sizeof *made->patterns);
    if (made->items == NULL || made->patterns == NULL) {
        return graft_fail_memory(error, module_name);
    }
    for (int32_t i = 0; i < cls->n_conversions; i++) {
        const struct graft_conversion *conversion = &cls->conversions[i];
        struct graft_weight_transform *item = &made->items[made->n++];
        *item = (struct graft_weight_transform){
            .struct_size = sizeof *item,
            .kind = conversion->n_operations > 0 ? GRAFT_TRANSFORM_CONVERTER : GRAFT_TRANSFORM_RENAME,
            .source_patterns = add_patterns(made, module_name, conversion->sources, conversion->n_sources),
            .n_sources = conversion->n_sources,
            .n_targets = conversion->n_targets,
            .operations = conversion->operations,
            .n_operations = conversion->n_operations,
            .operation_stride = conversion->operation_stride,
        };
        item->target_patterns = add_patterns(made, module_name, conversion->targets, conversion->n_targets);
        if (item->source_patterns == NULL || item->target_patterns == NULL) {
            return graft_fail_memory(error, module_name);
        }
    }
    return GRAFT_OK;
}

int graft_fusion_transforms_make(const struct graft_known_fusion *known, const char *module_name,
                                 const struct graft_config *config, const struct graft_config *options,
                                 const struct graft_module_info *module, struct graft_fusion_transforms *made,
                                 struct graft_error *error) {
    const struct graft_fusion_family *family = graft_fusion_family_of(known);
    *made = (struct graft_fusion_transforms){.collected = graft_candidate_create(known, module_name)};
    if (made->collected == NULL) {
        return graft_fail_memory(error, module_name);
    }
    const struct graft_fusion_sink sink = {sizeof sink, 0, made->collected, add_arguments, add_conversion};
    const struct graft_plugin_call task = {"make_transforms", module_name, family->name,
                                           graft_fusion_origin(known)->plugin, NULL};
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int status = family->make_transforms(family, config, module, options, &sink, error);
    graft_crash_context_end(before);
    if (status != GRAFT_OK) {
        return graft_error_complete(error, GRAFT_ERROR_PLUGIN, module_name,
                                    "fusion family %s: make_transforms failed without recording an error",
                                    family->name);
    }
    return make_items(module_name, made, error);
}

void graft_fusion_transforms_finish(struct graft_fusion_transforms *made) {
    for (size_t i = 0; i < made->n_patterns; i++) {
        graft_free((void *)(uintptr_t)made->patterns[i]);
    }
    graft_free(made->patterns);
    graft_free(made->items);
    graft_candidate_free(made->collected);
}
