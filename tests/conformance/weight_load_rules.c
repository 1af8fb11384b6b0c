/* SPDX-License-Identifier: Apache-2.0 */
/* Rules over the content of a case of type `load`: where we refuse what the reference loads. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tensors.h"
#include "weight_load.h"

static size_t count_names(const graft_json *checkpoint, const char *ending) {
    void *iterator = NULL;
    const char *name;
    const graft_json *value;
    size_t count = 0, length = strlen(ending);
    while (graft_json_next(checkpoint, &iterator, &name, &value)) {
        count += strlen(name) >= length && strcmp(name + strlen(name) - length, ending) == 0;
    }
    return count;
}

/* The highest index in names of the form "...BEFORE index AFTER", and the number of such names. */
static int64_t highest_index(const graft_json *checkpoint, const char *before, const char *after, size_t *count) {
    void *iterator = NULL;
    const char *name;
    const graft_json *value;
    int64_t highest = -1;
    *count = 0;
    while (graft_json_next(checkpoint, &iterator, &name, &value)) {
        const char *at = strstr(name, before);
        char *end = NULL;
        long long index = at != NULL ? strtoll(at + strlen(before), &end, 10) : -1;
        if (index >= 0 && strcmp(end, after) == 0) {
            highest = index > highest ? index : highest;
            ++*count;
        }
    }
    return highest;
}

static int has_gap(const graft_json *checkpoint, const char *source) {
    const char *star = strchr(source, '*');
    size_t count;
    if (star == NULL) {
        return 0;
    }
    char *before = graft_strndup(source, (size_t)(star - source));
    int gap = before != NULL && highest_index(checkpoint, before, star + 1, &count) >= (int64_t)count;
    graft_free(before);
    return gap;
}

/* Whether one tensor would be split into parts of unequal size. */
static int is_uneven(const struct load_case *run, const struct graft_weight_transform *given) {
    void *iterator = NULL;
    const char *name;
    const graft_json *label;
    int uneven = 0;
    if (given->operations[0].kind != GRAFT_OP_CHUNK) {
        return 0;
    }
    while (graft_json_next(graft_json_get(run->row, "checkpoint"), &iterator, &name, &label)) {
        const struct graft_tensor_view *tensor = tensors_find(graft_json_string(label, NULL));
        uneven |= strstr(name, given->source_patterns[0]) != NULL && tensor->shape[0] % given->n_targets != 0;
    }
    return uneven;
}

static int converter_explains(const struct load_case *run, const struct graft_weight_transform *given) {
    const graft_json *checkpoint = graft_json_get(run->row, "checkpoint");
    int explained = is_uneven(run, given);
    for (int32_t i = 0; i < given->n_sources; i++) {
        const char *source = given->source_patterns[i];
        explained |=
            has_gap(checkpoint, source) || (strchr(source, '*') == NULL && count_names(checkpoint, source) == 0);
    }
    return explained;
}

int load_case_explains(const struct load_case *run, const struct graft_binding *binding) {
    const char *name = binding->parameter->name;
    const graft_json *checkpoint = graft_json_get(run->row, "checkpoint");
    const struct graft_tensor_view *own = tensors_find(text_at(checkpoint, name));
    int explained =
        own != NULL && own->dtype != GRAFT_DTYPE_F32 && own->dtype != GRAFT_DTYPE_F16 && own->dtype != GRAFT_DTYPE_BF16;
    for (size_t i = 0; i < run->list->n; i++) {
        const struct graft_weight_transform *given = run->list->items[i]->given;
        const char *target = given->target_patterns[0];
        if (given->kind == GRAFT_TRANSFORM_CONVERTER) {
            explained |= converter_explains(run, given);
        } else {
            explained |= strstr(name, target) != NULL && own != NULL && graft_json_size(checkpoint) > 1;
        }
    }
    return explained;
}
