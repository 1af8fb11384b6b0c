/* SPDX-License-Identifier: Apache-2.0 */
/* load_report.json: messages about model directories whose tensors do not fit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bind/copy.h"
#include "key_renaming.h"
#include "library/library.h"

/* One load of a case. */
struct report {
    const graft_json *row;
    const graft_json *load;
    const struct graft_model *model;
    struct graft_text *deviations;
};

/* Whether the tensors' names show that some list of experts lacks an index. */
static int has_gap(const graft_json *row) {
    void *iterator = NULL;
    const char *file;
    const graft_json *names;
    int64_t highest = -1;
    size_t counts[3] = {0};
    static const char *const projections[] = {".gate_proj.weight", ".up_proj.weight", ".down_proj.weight"};
    while (graft_json_next(graft_json_get(row, "files"), &iterator, &file, &names)) {
        for (size_t i = 0; i < graft_json_size(names); i++) {
            const char *name = graft_json_string(graft_json_at(names, i), NULL);
            const char *at = strstr(name, ".experts.");
            char *end = NULL;
            long long index = at != NULL ? strtoll(at + strlen(".experts."), &end, 10) : -1;
            for (size_t k = 0; k < 3 && at != NULL && end != at + strlen(".experts."); k++) {
                counts[k] += strcmp(end, projections[k]) == 0;
                highest = index > highest ? index : highest;
            }
        }
    }
    return highest >= 0 &&
           ((int64_t)counts[0] <= highest || (int64_t)counts[1] <= highest || (int64_t)counts[2] <= highest);
}

static const char *error_kind(const struct report *report) {
    return text_at(graft_json_get(report->load, "error"), "kind");
}

/* How many files of a case contain the tensor. */
static size_t count_files(const graft_json *row, const char *tensor) {
    void *iterator = NULL;
    const char *file;
    const graft_json *names;
    size_t count = 0;
    while (graft_json_next(graft_json_get(row, "files"), &iterator, &file, &names)) {
        count += names != NULL && case_holds((void *)(uintptr_t)names, tensor);
    }
    return count;
}

static int has_tensor_twice(const graft_json *row) {
    void *iterator = NULL;
    const char *file;
    const graft_json *names;
    int single = graft_json_get(graft_json_get(row, "files"), "model.safetensors") != NULL;
    while (!single && graft_json_next(graft_json_get(row, "files"), &iterator, &file, &names)) {
        for (size_t i = 0; i < graft_json_size(names); i++) {
            if (count_files(row, graft_json_string(graft_json_at(names, i), NULL)) > 1) {
                return 1;
            }
        }
    }
    return 0;
}

/* Whether the index names a tensor that no file has, or lacks a tensor of a file. */
static int has_wrong_index(const struct report *report, const char *message) {
    const graft_json *missing = graft_json_get(report->load, "missing");
    for (size_t i = 0; i < graft_json_size(missing); i++) {
        const char *name = graft_json_string(graft_json_at(missing, i), NULL);
        if (count_files(report->row, name) == 0 &&
            graft_json_get(graft_json_get(report->row, "files"), "model.safetensors.index.json") != NULL) {
            return strstr(message, "weight_map lists") != NULL;
        }
    }
    return 0;
}

/* Whether the whole directory is refused. */
static void judge_refusal(const struct report *report, const struct graft_error *error, struct graft_text *why) {
    const char *kind = error_kind(report);
    if (strcmp(kind, "file_not_found") == 0 || strcmp(kind, "bad_safetensors") == 0 ||
        (strcmp(kind, "index_without_metadata") == 0 && strstr(error->message, "metadata") != NULL)) {
        return;
    }
    if (strcmp(text_at(report->row, "hardening"), "refuse") == 0) {
        deviate(report->deviations, "files stay inside of the directory");
    } else if (has_tensor_twice(report->row)) {
        deviate(report->deviations, "a tensor that is there twice is an error");
    } else if (has_wrong_index(report, error->message)) {
        deviate(report->deviations, "a tensor that the index lists and no file has is an error");
    } else {
        (void)fail(why, "refused: %s: %s", error->source, error->message);
    }
}

static int is_listed(const struct report *report, const char *key, const char *name) {
    return case_holds((void *)(uintptr_t)graft_json_get(report->load, key), name);
}

static int same_shape(const graft_json *recorded, int32_t rank, const int64_t *shape) {
    int same = graft_json_size(recorded) == (size_t)rank;
    for (int32_t i = 0; same && i < rank; i++) {
        same = graft_json_int(graft_json_at(recorded, (size_t)i)) == shape[i];
    }
    return same;
}

static int is_mismatched(const struct report *report, const struct graft_binding *binding) {
    const graft_json *list = graft_json_get(report->load, "mismatched");
    for (size_t i = 0; i < graft_json_size(list); i++) {
        const graft_json *row = graft_json_at(list, i);
        if (strcmp(graft_json_string(graft_json_at(row, 0), NULL), binding->parameter->name) == 0) {
            return same_shape(graft_json_at(row, 1), binding->value.rank, binding->value.shape) &&
                   same_shape(graft_json_at(row, 2), binding->parameter->rank, binding->parameter->shape);
        }
    }
    return 0;
}

static int is_in_mismatched(const struct report *report, const char *name) {
    const graft_json *list = graft_json_get(report->load, "mismatched");
    for (size_t i = 0; i < graft_json_size(list); i++) {
        if (strcmp(graft_json_string(graft_json_at(graft_json_at(list, i), 0), NULL), name) == 0) {
            return 1;
        }
    }
    return 0;
}

static void compare_values(const struct report *report, const struct graft_binding *binding, struct graft_text *why) {
    const graft_json *values = graft_json_get(graft_json_get(report->load, "values"), binding->parameter->name);
    const struct graft_binding *source = binding->status == GRAFT_BINDING_TIED ? binding->tied_to : binding;
    size_t n = graft_json_size(values);
    float *numbers = graft_alloc(n + 1, sizeof *numbers);
    if (n > 0 && numbers != NULL) {
        if ((size_t)graft_value_extent(&source->value, 0, source->value.rank) != n) {
            (void)fail(why, "%s: expected %zu numbers", binding->parameter->name, n);
        } else {
            graft_copy_value(&source->value, GRAFT_DTYPE_F32, (char *)numbers);
        }
    }
    for (size_t i = 0; i < n && numbers != NULL && why->length == 0; i++) {
        if ((double)numbers[i] != graft_json_real(graft_json_at(values, i))) {
            (void)fail(why, "%s: number %zu is %g", binding->parameter->name, i, (double)numbers[i]);
        }
    }
    graft_free(numbers);
}

static void compare_binding(const struct report *report, const struct graft_binding *binding, struct graft_text *why) {
    const char *name = binding->parameter->name;
    int missing = is_listed(report, "missing", name), mismatched = is_in_mismatched(report, name);
    int failed = graft_json_get(graft_json_get(report->load, "conversion_errors"), name) != NULL;
    switch (binding->status) {
    case GRAFT_BINDING_FOUND:
    case GRAFT_BINDING_TIED:
        if (missing || mismatched || failed) {
            (void)fail(why, "%s was found", name);
        }
        compare_values(report, binding, why);
        break;
    case GRAFT_BINDING_MISSING:
        if (!missing || failed) {
            (void)fail(why, "%s is missing", name);
        }
        break;
    case GRAFT_BINDING_MISMATCHED:
        if (!is_mismatched(report, binding)) {
            (void)fail(why, "%s is mismatched: %s", name, binding->problem);
        }
        break;
    default:
        if (!failed && !has_gap(report->row)) {
            (void)fail(why, "%s: %s", name, binding->problem != NULL ? binding->problem : "?");
        } else if (!failed) {
            deviate(report->deviations, "indices run from 0 without a gap");
        }
    }
}

/* Whether the reference reports only the head as unused, since the model without a head was requested. */
static int only_the_head_is_unexpected(const struct report *report) {
    static const char head[] = "lm_head.";
    const graft_json *names = graft_json_get(report->load, "unexpected");
    size_t n = graft_json_size(names), i = 0;
    while (i < n && strncmp(graft_json_string(graft_json_at(names, i), NULL), head, strlen(head)) == 0) {
        i++;
    }
    return n > 0 && i == n;
}

static void compare_unexpected(const struct report *report, struct graft_text *why) {
    const struct graft_plan *plan = report->model->plan;
    if (plan->n_unexpected == 0 && only_the_head_is_unexpected(report)) {
        deviate(report->deviations, "the model without a head beside the tensors of one is the causal LM");
        return;
    }
    for (size_t i = 0; i < plan->n_unexpected; i++) {
        if (!is_listed(report, "unexpected", plan->unexpected[i]->name)) {
            (void)fail(why, "%s is unexpected", plan->unexpected[i]->name);
        }
    }
    if (plan->n_unexpected != graft_json_size(graft_json_get(report->load, "unexpected"))) {
        (void)fail(why, "%zu tensors are unexpected", plan->n_unexpected);
    }
}

/* Checks tied weights: they are one tensor if the checkpoint has one of them, or the same bytes for both. */
static void compare_ties(const struct report *report, struct graft_text *why) {
    const struct graft_plan *plan = report->model->plan;
    const graft_json *warnings = graft_json_get(report->load, "warnings");
    int apart = graft_plan_tied_apart(plan) != NULL;
    if (apart != case_holds((void *)(uintptr_t)warnings, "tied_values_differ")) {
        (void)fail(why, "tied weights %s", apart ? "differ" : "do not differ");
    }
}

static void compare_plan(const struct report *report, struct graft_text *why) {
    const struct graft_plan *plan = report->model->plan;
    struct graft_error error = graft_error_none();
    for (size_t i = 0; i < plan->n_bindings; i++) {
        compare_binding(report, &plan->bindings[i], why);
    }
    compare_unexpected(report, why);
    compare_ties(report, why);
    int sound = graft_plan_check(plan, &error) == GRAFT_OK;
    int ok = graft_json_bool(graft_json_get(report->load, "ok"));
    if (sound && !ok) {
        (void)fail(why, "can be loaded, expected %s", error_kind(report));
    } else if (!sound && ok && graft_json_size(graft_json_get(report->load, "missing")) > 0) {
        deviate(report->deviations, "without a parameter there is no forward");
    } else if (!sound && ok && graft_json_bool(graft_json_get(report->load, "ignore_mismatched_sizes"))) {
        deviate(report->deviations, "a shape that does not fit is never ignored");
    } else if (!sound && ok && !has_gap(report->row)) {
        (void)fail(why, "cannot be loaded: %s: %s", error.source, error.message);
    }
}

static void judge_load(struct report *report, struct graft_text *why) {
    struct graft_error error = graft_error_none();
    struct graft_library *library = NULL;
    struct graft_model *model = NULL;
    char *directory = graft_format("%s/%s", case_folder(), text_at(report->row, "directory"));
    if (directory == NULL || graft_library_create(&library, &error) != GRAFT_OK) {
        (void)fail(why, "out of memory");
    } else if (graft_model_open(library, directory, NULL, &model, &error) != GRAFT_OK) {
        judge_refusal(report, &error, why);
    } else {
        report->model = model;
        compare_plan(report, why);
    }
    graft_model_free(model);
    graft_library_free(library);
    graft_free(directory);
}

static int knows(const graft_json *row) {
    return graft_json_get(row, "directory") != NULL && graft_json_get(row, "loads") != NULL;
}

static enum verdict judge(const graft_json *row, struct graft_text *why) {
    struct graft_text deviations = {0};
    const graft_json *loads = graft_json_get(row, "loads");
    for (size_t i = 0; i < graft_json_size(loads) && why->length == 0; i++) {
        struct report report = {row, graft_json_at(loads, i), NULL, &deviations};
        judge_load(&report, why);
    }
    enum verdict verdict = why->length > 0 ? FAILED : deviations.length > 0 ? DEVIATION : PASSED;
    if (verdict == DEVIATION) {
        graft_text_add(why, deviations.bytes, deviations.length);
    }
    graft_text_free(&deviations);
    return verdict;
}

const struct schema load_report_schema = {"load_report", knows, judge};
