/* SPDX-License-Identifier: Apache-2.0 */
/* key_renaming.json: tables of transforms, and names that they rename in both directions. */
#include "key_renaming.h"

#include <string.h>

#include "base/alloc.h"
#include "value/operations.h"

/* Operations of reversed transforms. A Concatenate is undone by a Split here, by a Chunk in the reference. */
static void compare_operations(const struct key_transform *reverse, const graft_json *recorded,
                               struct graft_text *deviations, struct graft_text *why) {
    const graft_json *operations = graft_json_get(recorded, "operations");
    if (graft_json_size(operations) != (size_t)reverse->given->n_operations) {
        (void)fail(why, "reversed: %d operations", (int)reverse->given->n_operations);
    }
    for (int32_t i = 0; i < reverse->given->n_operations && why->length == 0; i++) {
        const struct graft_operation *ours = &reverse->given->operations[i];
        const graft_json *theirs = graft_json_at(operations, (size_t)i);
        const char *name = text_at(theirs, "op");
        int transposed = ours->kind == GRAFT_OP_TRANSPOSE;
        int64_t dim = graft_json_int(graft_json_get(theirs, transposed ? "dim0" : "dim"));
        int64_t dim1 = graft_json_int(graft_json_get(theirs, "dim1"));
        if (strcmp(name, "Chunk") == 0 && ours->kind == GRAFT_OP_SPLIT) {
            deviate(deviations, "Concatenate is undone by Split");
        } else if (strcmp(name, graft_operation_name(ours->kind)) != 0) {
            (void)fail(why, "reversed: %s, expected %s", graft_operation_name(ours->kind), name);
        }
        if ((ours->dim != dim && !(transposed && ours->dim == dim1 && ours->dim1 == dim)) ||
            (graft_json_get(theirs, "inverse") != NULL &&
             graft_json_bool(graft_json_get(theirs, "inverse")) != ours->inverse)) {
            (void)fail(why, "reversed: other arguments of %s", name);
        }
    }
}

static enum verdict conclude(struct graft_text *deviations, struct graft_text *why) {
    enum verdict verdict = why->length > 0 ? FAILED : deviations->length > 0 ? DEVIATION : PASSED;
    if (verdict == DEVIATION) {
        graft_text_add(why, deviations->bytes, deviations->length);
    }
    graft_text_free(deviations);
    return verdict;
}

static void compare_forward(const struct key_list *list, const graft_json *transforms, struct graft_text *why) {
    for (size_t i = 0; i < list->n && why->length == 0; i++) {
        (void)case_same_patterns(list->items[i], graft_json_get(graft_json_at(transforms, i), "forward"), "forward",
                                 why);
    }
}

/* Whether the given sources are those that reversing makes of compiled ones: the reference had changed the list by
 * reversing it before. */
static int was_reversed_before(const struct key_list *ready, const graft_json *transforms) {
    int so = 1;
    for (size_t i = 0; i < ready->n && so; i++) {
        const graft_json *given = graft_json_get(graft_json_at(transforms, i), "source_patterns");
        struct key_transform *back = NULL;
        so = case_transform_reverse(ready->items[i], "reverse", &back, NULL, NULL) == GRAFT_OK;
        so = so && (case_same_strings(back->patterns.targets, back->patterns.n_targets, given) ||
                    case_same_strings((char *const *)(uintptr_t)ready->items[i]->given->source_patterns,
                                      ready->items[i]->given->n_sources, given) ||
                    ready->items[i]->given->kind == GRAFT_TRANSFORM_PREFIX_CHANGE);
        graft_key_transform_free(back);
    }
    return so;
}

/* Builds the list of a table, and compares its patterns with the recorded ones. */
static void make_table(const graft_json *transforms, struct key_list *list, struct graft_text *deviations,
                       struct graft_text *why) {
    struct graft_error error = graft_error_none();
    struct key_list ready = {0};
    enum key_fault fault = KEY_FAULT_NONE;
    if (case_list_init(list, transforms, CASE_AS_GIVEN, &fault, &error) != GRAFT_OK) {
        (void)fail(why, "cannot be made: %s: %s", error.source, error.message);
        return;
    }
    compare_forward(list, transforms, why);
    if (why->length > 0 && case_list_init(&ready, transforms, CASE_AS_READY, &fault, &error) == GRAFT_OK &&
        was_reversed_before(&ready, transforms)) {
        struct key_list given = *list;
        *list = ready;
        ready = given;
        graft_text_free(why);
        compare_forward(list, transforms, why);
        deviate(deviations, "reversing a transform leaves it as it is");
    }
    graft_key_list_finish(&ready);
}

enum verdict key_table_judge(const graft_json *row, struct graft_text *why) {
    const graft_json *transforms = graft_json_get(row, "transforms");
    struct graft_text deviations = {0};
    struct graft_error error = graft_error_none();
    struct key_list list;
    make_table(transforms, &list, &deviations, why);
    for (size_t i = 0; i < list.n && why->length == 0; i++) {
        const graft_json *recorded = graft_json_at(transforms, i);
        struct key_transform *reverse = NULL;
        if (case_transform_reverse(list.items[i], "reverse", &reverse, NULL, &error) != GRAFT_OK) {
            (void)fail(why, "cannot be reversed: %s", error.message);
            break;
        }
        (void)case_same_patterns(reverse, graft_json_get(recorded, "reverse"), "reverse", why);
        compare_operations(reverse, graft_json_get(recorded, "reverse"), &deviations, why);
        graft_key_transform_free(reverse);
    }
    graft_key_list_finish(&list);
    return conclude(&deviations, why);
}

static int compare_rows(struct case_names *names, const graft_json *rows, struct graft_text *deviations,
                        struct graft_text *why) {
    names->states = graft_alloc(names->list->n, sizeof *names->states);
    for (size_t i = 0; names->states != NULL && i < graft_json_size(rows) && why->length == 0; i++) {
        (void)case_compare_name(names, graft_json_at(rows, i), deviations, why);
    }
    return names->states != NULL ? 0 : -1;
}

static void compare_used(const struct case_names *names, const graft_json *used, struct graft_text *why) {
    size_t k = 0;
    for (size_t i = 0; i < names->list->n && why->length == 0; i++) {
        int expected = k < graft_json_size(used) && graft_json_int(graft_json_at(used, k)) == (int64_t)i;
        k += expected;
        if (names->states[i].used != expected) {
            (void)fail(why, "transform %zu is %sused", i, expected ? "not " : "");
        }
    }
}

enum verdict key_model_judge(const graft_json *row, struct graft_text *why) {
    struct graft_text deviations = {0};
    struct graft_error error = graft_error_none();
    struct key_list list, own, back = {0};
    const graft_json *groups = graft_json_get(row, "groups");
    enum key_fault fault = KEY_FAULT_NONE;
    if (case_list_init(&list, graft_json_get(row, "transforms"), CASE_WITH_LEGACY, &fault, &error) != GRAFT_OK) {
        return fail(why, "cannot be made: %s: %s", error.source, error.message);
    }
    struct case_names names = {&list, NULL, text_at(row, "base_model_prefix"), graft_json_get(row, "runtime_keys")};
    for (size_t i = 0; i < graft_json_size(groups) && why->length == 0; i++) {
        const graft_json *group = graft_json_at(groups, i);
        (void)compare_rows(&names, graft_json_get(group, "cases"), &deviations, why);
        if (strcmp(text_at(group, "name"), "on_disk") == 0) {
            compare_used(&names, graft_json_get(row, "used_transforms"), why);
        }
        graft_free(names.states);
    }
    graft_key_list_finish(&list);
    if (case_list_init(&own, graft_json_get(row, "transforms"), CASE_AS_GIVEN, &fault, &error) != GRAFT_OK ||
        case_list_reverse(&own, 0, &back, &fault, &error) != GRAFT_OK) {
        (void)fail(why, "cannot be reversed: %s", error.message);
    } else {
        (void)case_compare_back(&back, graft_json_get(row, "reverse"), why);
    }
    graft_key_list_finish(&own);
    graft_key_list_finish(&back);
    return conclude(&deviations, why);
}

static void compare_reverse(const graft_json *row, const struct key_list *list, struct graft_text *why) {
    const graft_json *processed = graft_json_get(row, "reverse_processed");
    const char *wanted = text_at(graft_json_get(row, "reverse_error"), "kind");
    struct graft_error error = graft_error_none();
    enum key_fault fault = KEY_FAULT_NONE;
    struct key_list back;
    int status = case_list_reverse(list, 1, &back, &fault, &error);
    if (strcmp(wanted, case_key_fault(fault)) != 0 || (status != GRAFT_OK) != (wanted[0] != '\0')) {
        (void)fail(why, "reversed: expected error \"%s\", got \"%s\" %s", wanted, case_key_fault(fault), error.message);
    }
    for (size_t i = 0; i < back.n && why->length == 0; i++) {
        (void)case_same_patterns(back.items[i], graft_json_at(processed, i), "reverse", why);
    }
    if (why->length == 0 && status == GRAFT_OK) {
        (void)case_compare_back(&back, graft_json_get(row, "reverse"), why);
    }
    graft_key_list_finish(&back);
}

enum verdict key_synthetic_judge(const graft_json *row, struct graft_text *why) {
    struct graft_text deviations = {0};
    struct graft_error error = graft_error_none();
    struct key_list list;
    enum key_fault fault = KEY_FAULT_NONE;
    const char *wanted = text_at(graft_json_get(row, "error"), "kind");
    const graft_json *prefix = graft_json_get(row, "base_model_prefix");
    int status = case_list_init(&list, graft_json_get(row, "transforms"), CASE_AS_GIVEN, &fault, &error);
    if (status != GRAFT_OK || wanted[0] != '\0') {
        graft_key_list_finish(&list);
        return strcmp(wanted, case_key_fault(fault)) == 0
                   ? PASSED
                   : fail(why, "expected error \"%s\", got \"%s\" %s", wanted, case_key_fault(fault), error.message);
    }
    for (size_t i = 0; i < list.n && why->length == 0; i++) {
        (void)case_same_patterns(list.items[i], graft_json_at(graft_json_get(row, "processed"), i), "forward", why);
    }
    struct case_names names = {&list, NULL, graft_json_string(prefix, NULL), graft_json_get(row, "runtime_keys")};
    (void)compare_rows(&names, graft_json_get(row, "cases"), &deviations, why);
    compare_used(&names, graft_json_get(row, "used_transforms"), why);
    graft_free(names.states);
    if (why->length == 0) {
        compare_reverse(row, &list, why);
    }
    graft_key_list_finish(&list);
    return conclude(&deviations, why);
}

static const char *const types[] = {"table", "model", "synthetic"};

static int knows(const graft_json *row) {
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(text_at(row, "type"), types[i]) == 0 && graft_json_get(row, "transforms") != NULL) {
            return 1;
        }
    }
    return 0;
}

static enum verdict judge(const graft_json *row, struct graft_text *why) {
    enum verdict (*const judges[])(const graft_json *, struct graft_text *) = {key_table_judge, key_model_judge,
                                                                               key_synthetic_judge};
    size_t i = 0;
    while (strcmp(text_at(row, "type"), types[i]) != 0) {
        i++;
    }
    return judges[i](row, why);
}

const struct schema key_renaming_schema = {"key_renaming", knows, judge};
