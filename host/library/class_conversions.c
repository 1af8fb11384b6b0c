/* SPDX-License-Identifier: Apache-2.0 */
#include "library/class_conversions.h"

#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "library/library.h"
#include "registry/mapping.h"

/* Keeps a block until the end. Returns NULL if `block_take` is NULL or memory ran out. */
static void *keep(struct class_conversions *made, void *block_take) {
    if (block_take == NULL ||
        graft_grow(&made->strings, &made->strings_capacity, made->n_strings, sizeof(char *)) != 0) {
        graft_free(block_take);
        return NULL;
    }
    made->strings[made->n_strings++] = block_take;
    return block_take;
}

/* Turns a name relative to a module into a pattern: "^*.w1\\.weight" for a converter, "^(\d+)\.w1\\.weight" for a
 * renaming. */
static char *source_pattern(const char *name, int is_renaming) {
    struct graft_text text = {0};
    graft_text_add_string(&text, "^");
    for (const char *at = name; *at != '\0'; at++) {
        if (strncmp(at, "*.", 2) == 0 && !is_renaming) {
            graft_text_add_string(&text, "*.");
            at++;
        } else if (*at == '*') {
            graft_text_add_string(&text, "(\\d+)");
        } else {
            graft_text_add(&text, "\\", strchr("\\.^$|?+()[]{}", *at) != NULL);
            graft_text_add(&text, at, 1);
        }
    }
    if (text.failed) {
        graft_text_free(&text);
    }
    return text.bytes;
}

/* The target of a renaming, with the index that its source captured. */
static char *target_pattern(const char *name, int is_renaming) {
    const char *star = is_renaming ? strchr(name, '*') : NULL;
    return star != NULL ? graft_format("%.*s\\1%s", (int)(star - name), name, star + 1) : graft_strdup(name);
}

/* Turns `n` names into patterns; NULL if memory ran out. */
static const char *const *patterns_of(struct class_conversions *made, const char *const *names, int32_t n,
                                      char *(*pattern)(const char *name, int is_renaming), int is_renaming) {
    const char **patterns = keep(made, graft_alloc((size_t)n + 1, sizeof *patterns));
    for (int32_t i = 0; patterns != NULL && i < n; i++) {
        patterns[i] = keep(made, pattern(names[i], is_renaming));
        if (patterns[i] == NULL) {
            return NULL;
        }
    }
    return patterns;
}

static int add(struct class_conversions *made, const struct graft_conversion *conversion, const char *scope_class,
               struct graft_error *error) {
    int is_renaming = conversion->n_operations == 0;
    if (graft_grow(&made->items, &made->capacity, made->n, sizeof *made->items) != 0) {
        return graft_fail_memory(error, "conversions");
    }
    struct graft_weight_transform *item = &made->items[made->n++];
    *item = (struct graft_weight_transform){
        .struct_size = sizeof *item,
        .kind = is_renaming ? GRAFT_TRANSFORM_RENAME : GRAFT_TRANSFORM_CONVERTER,
        .source_patterns = patterns_of(made, conversion->sources, conversion->n_sources, source_pattern, is_renaming),
        .target_patterns = patterns_of(made, conversion->targets, conversion->n_targets, target_pattern, is_renaming),
        .n_sources = conversion->n_sources,
        .n_targets = conversion->n_targets,
        .operations = conversion->operations,
        .n_operations = conversion->n_operations,
        .operation_stride = conversion->operation_stride,
        .scope_class = scope_class,
    };
    return item->source_patterns != NULL && item->target_patterns != NULL ? GRAFT_OK
                                                                          : graft_fail_memory(error, "conversions");
}

static const struct graft_conversion *conversion_at(const struct graft_class *cls, int32_t i) {
    return (const void *)((const char *)cls->conversions + (size_t)i * cls->conversion_stride);
}

/* Adds a class's conversions. A class tries its renamings one at a time, whereas a list applies each to the result of
 * the one before. They are added in reverse order, so that none is applied to what an earlier one made: "model" to
 * "..." must come before "visual" to "model.visual". */
static int add_class(struct class_conversions *made, const struct graft_class *cls, const char *scope_class,
                     struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = cls->n_conversions - 1; i >= 0 && status == GRAFT_OK; i--) {
        if (conversion_at(cls, i)->n_operations == 0) {
            status = add(made, conversion_at(cls, i), scope_class, error);
        }
    }
    for (int32_t i = 0; i < cls->n_conversions && status == GRAFT_OK; i++) {
        if (conversion_at(cls, i)->n_operations > 0) {
            status = add(made, conversion_at(cls, i), scope_class, error);
        }
    }
    return status;
}

/* Finds the class whose conversions the class of that name uses, in the host or a plugin; NULL if there is no such
 * class, or if its bases are faulty, which is reported for models that use it. */
static int find_class(const struct graft_snapshot *snapshot, const char *name, const struct graft_class **found,
                      struct graft_error *error) {
    const struct graft_known_class *known = NULL;
    const struct graft_known_plugin *plugin;
    int status = graft_snapshot_find_class(snapshot, name, NULL, &known, error);
    *found = NULL;
    for (size_t i = 0; status == GRAFT_OK && known == NULL && (plugin = graft_snapshot_plugin_at(snapshot, i)) != NULL;
         i++) {
        for (int32_t k = 0; k < plugin->descriptor->n_replacements; k++) {
            const struct graft_class *cls = graft_plugin_replacement(plugin->descriptor, k)->replacement;
            if (strcmp(cls->name, name) == 0) {
                *found = cls;
                return GRAFT_OK;
            }
        }
        status = graft_snapshot_find_class(snapshot, name, plugin->descriptor->id, &known, error);
    }
    if (known != NULL && graft_snapshot_describing_class(snapshot, known, &known, NULL) == GRAFT_OK && known != NULL) {
        *found = known->cls;
    }
    return status;
}

/* Adds the conversions of each class of a family, or of the class that replaces it. Replacements of some modules only
 * do not count. */
static int add_family(const struct graft_snapshot *snapshot, const struct graft_family *family,
                      struct class_conversions *made, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < family->n_classes && status == GRAFT_OK; i++) {
        const struct graft_class *cls = graft_family_class(family, i);
        const struct graft_class *describing[GRAFT_MAX_STACK];
        size_t n;
        status = graft_snapshot_describing_classes(snapshot, cls->name, family->model_type, describing, &n, error);
        for (size_t k = 0; k < n && status == GRAFT_OK; k++) {
            status = add_class(made, describing[k], cls->name, error);
        }
    }
    return status;
}

int graft_class_conversions_collect(const struct graft_snapshot *snapshot, const char *name,
                                    struct class_conversions *made, struct graft_error *error) {
    const struct graft_class *cls = NULL;
    const struct graft_known_family *known = NULL;
    *made = (struct class_conversions){0};
    int status = find_class(snapshot, name, &cls, error);
    if (status == GRAFT_OK && cls == NULL) {
        status = graft_snapshot_find_family(snapshot, name, &known, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (known != NULL) {
        return add_family(snapshot, known->family, made, error);
    }
    return cls != NULL ? add_class(made, cls, NULL, error) : GRAFT_OK;
}

void graft_class_conversions_finish(struct class_conversions *made) {
    for (size_t i = 0; i < made->n_strings; i++) {
        graft_free(made->strings[i]);
    }
    graft_free(made->strings);
    graft_free(made->items);
    *made = (struct class_conversions){0};
}
