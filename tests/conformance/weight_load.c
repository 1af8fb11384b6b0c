/* SPDX-License-Identifier: Apache-2.0 */
/* weight_transforms.json, type `load`: a checkpoint that is loaded through a list of transforms, and saved again. */
#include <stdio.h>
#include <string.h>

#include "../unit/folder.h"
#include "base/alloc.h"
#include "base/dtype.h"
#include "bind/bind.h"
#include "case_tree.h"
#include "key_renaming.h"
#include "plan/plan.h"
#include "save/save.h"
#include "tensors.h"
#include "weight_load.h"
#include "weights/safetensors.h"
#include "weights/safetensors_write.h"

enum { MAX_TENSORS = 64 };

/* Writes the checkpoint of a case to a file. */
static int write_checkpoint(const graft_json *row, const char *folder, struct graft_error *error) {
    struct graft_tensor_view views[MAX_TENSORS];
    void *iterator = NULL;
    const char *name;
    const graft_json *label;
    size_t n = 0;
    while (graft_json_next(graft_json_get(row, "checkpoint"), &iterator, &name, &label) && n < MAX_TENSORS) {
        const struct graft_tensor_view *view = tensors_find(graft_json_string(label, NULL));
        if (view == NULL) {
            return graft_error_set(error, GRAFT_ERROR_INTERNAL, name, "there is no such tensor");
        }
        views[n] = *view;
        views[n++].name = name;
    }
    return graft_safetensors_write(folder_path(folder, "model.safetensors"), views, n, NULL, error);
}

static const struct graft_binding *binding_of(const struct graft_plan *plan, const char *name) {
    for (size_t i = 0; i < plan->n_bindings; i++) {
        if (strcmp(plan->bindings[i].parameter->name, name) == 0) {
            return &plan->bindings[i];
        }
    }
    return NULL;
}

static int is_mismatched(const graft_json *row, const char *name) {
    const graft_json *list = graft_json_get(row, "mismatched");
    for (size_t i = 0; i < graft_json_size(list); i++) {
        if (strcmp(graft_json_string(graft_json_at(graft_json_at(list, i), 0), NULL), name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Compares a parameter that was found: it has the recorded type, or that of the checkpoint. */
static void compare_found(const struct load_case *run, const struct graft_binding *binding, const char *type,
                          struct graft_text *why) {
    const char *name = binding->parameter->name;
    const struct graft_tensor_view *wanted = tensors_find(text_at(graft_json_get(run->row, "loaded"), name));
    const struct graft_tensor_view *stored = binding->value.n_parts > 0 ? binding->value.parts[0].tensor : NULL;
    if (graft_json_get(run->row, "raised") != NULL) {
        return;
    }
    if (stored != NULL && strcmp(graft_dtype_name(stored->dtype), type) != 0) {
        wanted = tensors_find(text_at(graft_json_get(run->row, "checkpoint"), stored->name));
        deviate(run->deviations, "a tensor keeps its own type");
    }
    if (wanted == NULL) {
        (void)fail(why, "%s was found", name);
    } else {
        (void)tensors_same(&binding->value, wanted, name, why);
    }
}

static void compare_parameter(const struct load_case *run, const char *name, const char *type, struct graft_text *why) {
    const struct graft_binding *binding = binding_of(run->plan, name);
    int missing = case_holds((void *)(uintptr_t)graft_json_get(run->row, "missing"), name);
    int failed = graft_json_get(graft_json_get(run->row, "conversion_errors"), name) != NULL;
    if (binding == NULL) {
        (void)fail(why, "%s is no parameter", name);
        return;
    }
    switch (binding->status) {
    case GRAFT_BINDING_FOUND:
        compare_found(run, binding, type, why);
        break;
    case GRAFT_BINDING_MISSING:
        if (!missing || failed) {
            (void)fail(why, "%s is missing", name);
        }
        break;
    case GRAFT_BINDING_MISMATCHED:
        if (!is_mismatched(run->row, name)) {
            (void)fail(why, "%s is mismatched", name);
        }
        break;
    default:
        if (!failed && !load_case_explains(run, binding)) {
            (void)fail(why, "%s: %s", name, binding->problem != NULL ? binding->problem : "?");
        } else if (!failed) {
            deviate(run->deviations, binding->problem);
        }
    }
}

static void compare_unexpected(const struct load_case *run, struct graft_text *why) {
    const graft_json *expected = graft_json_get(run->row, "unexpected");
    int raised = graft_json_get(run->row, "raised") != NULL;
    if (raised) {
        deviate(run->deviations, "a target that the model has not is unexpected");
    } else if (run->plan->n_unexpected != graft_json_size(expected)) {
        (void)fail(why, "%zu tensors are unexpected", run->plan->n_unexpected);
    }
    for (size_t i = 0; i < run->plan->n_unexpected; i++) {
        const char *name = run->plan->unexpected[i]->name;
        int in_model = graft_json_get(graft_json_get(run->row, "params"), name) != NULL;
        if (raised ? in_model : !case_holds((void *)(uintptr_t)expected, name)) {
            (void)fail(why, "%s is unexpected", name);
        }
    }
}

static void compare_saved(const struct load_case *run, const char *output, struct graft_text *why) {
    struct graft_safetensors *file = NULL;
    struct graft_error error = graft_error_none();
    const graft_json *checkpoint = graft_json_get(run->row, "checkpoint"), *saved = graft_json_get(run->row, "saved");
    void *iterator = NULL;
    const char *name;
    const graft_json *label;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/model.safetensors", output);
    if (graft_safetensors_open(path, &file, &error) != GRAFT_OK) {
        (void)fail(why, "saved: %s", error.message);
        return;
    }
    while (graft_json_next(checkpoint, &iterator, &name, &label)) {
        const struct graft_tensor_view *there = graft_safetensors_find(file, name);
        const struct graft_tensor_view *before = tensors_find(graft_json_string(label, NULL));
        const struct graft_tensor_view *theirs = tensors_find(text_at(saved, name));
        if (there == NULL || !tensors_equal(there, before)) {
            (void)fail(why, "saved: %s is not as it was", name);
        }
        if (theirs == NULL || !tensors_equal(theirs, before)) {
            deviate(run->deviations, "saving gives back what was loaded");
        }
    }
    if (graft_safetensors_count(file) != graft_json_size(checkpoint)) {
        (void)fail(why, "saved: %zu tensors", graft_safetensors_count(file));
    }
    graft_safetensors_close(file);
}

/* A model that can be run is saved as it was. Another one is refused, where the reference writes zeros. */
static void save_again(const struct load_case *run, struct graft_tree *tree, const char *folder,
                       struct graft_text *why) {
    static const struct graft_save_options options = {.struct_size = sizeof options};
    struct graft_error error = graft_error_none();
    struct graft_bound *bound = NULL;
    const char *output = folder_path(folder, "out");
    if (graft_save_check(folder, tree, run->plan, &error) != GRAFT_OK) {
        deviate(run->deviations, "what cannot be loaded is not saved");
        return;
    }
    if (graft_bind(run->plan, &bound, &error) != GRAFT_OK ||
        graft_save(folder, tree, run->plan, NULL, output, &options, &error) != GRAFT_OK) {
        (void)fail(why, "saving: %s: %s", error.source, error.message);
    } else {
        compare_saved(run, output, why);
    }
    graft_bound_free(bound);
}

static void judge(struct load_case *run, struct graft_tree *tree, const char *folder, struct graft_text *why) {
    const graft_json *prefix = graft_json_get(run->row, "base_model_prefix");
    const struct graft_plan_options options = {
        .base_model_prefix = prefix != NULL ? graft_json_string(prefix, NULL) : "model", .transforms = run->list};
    struct graft_error error = graft_error_none();
    struct graft_checkpoint *checkpoint = NULL;
    void *iterator = NULL;
    const char *name;
    const graft_json *spec;
    if (write_checkpoint(run->row, folder, &error) != GRAFT_OK ||
        graft_checkpoint_open(folder, &checkpoint, &error) != GRAFT_OK ||
        graft_plan_make(tree, checkpoint, &options, &run->plan, &error) != GRAFT_OK) {
        (void)fail(why, "%s: %s", error.source, error.message);
    } else {
        while (graft_json_next(graft_json_get(run->row, "params"), &iterator, &name, &spec)) {
            compare_parameter(run, name, graft_json_string(graft_json_at(spec, 1), NULL), why);
        }
        compare_unexpected(run, why);
        save_again(run, tree, folder, why);
    }
    graft_plan_free(run->plan);
    graft_checkpoint_close(checkpoint);
}

enum verdict load_judge(const graft_json *row, struct graft_text *why) {
    struct graft_text deviations = {0};
    struct graft_error error = graft_error_none();
    struct key_list list = {0};
    enum key_fault fault = KEY_FAULT_NONE;
    char folder[64];
    const char *wanted = text_at(graft_json_get(row, "error"), "kind");
    int status = case_list_init(&list, graft_json_get(row, "transforms"), CASE_AS_GIVEN, &fault, &error);
    if (status != GRAFT_OK || wanted[0] != '\0') {
        graft_key_list_finish(&list);
        return strcmp(case_key_fault(fault), wanted) == 0 ? PASSED : fail(why, "got %s", error.message);
    }
    struct case_tree *tree = graft_alloc(1, sizeof *tree);
    struct load_case run = {row, &list, NULL, &deviations};
    folder_create(folder);
    if (tree == NULL || case_tree_init(tree, graft_json_get(row, "params"), &error) != GRAFT_OK) {
        (void)fail(why, "%s: %s", error.source, error.message);
    } else {
        judge(&run, tree->tree, folder, why);
    }
    folder_remove(folder);
    if (tree != NULL) {
        case_tree_finish(tree);
    }
    graft_free(tree);
    graft_key_list_finish(&list);
    enum verdict verdict = why->length > 0 ? FAILED : deviations.length > 0 ? DEVIATION : PASSED;
    if (verdict == DEVIATION) {
        graft_text_add(why, deviations.bytes, deviations.length);
    }
    graft_text_free(&deviations);
    return verdict;
}
