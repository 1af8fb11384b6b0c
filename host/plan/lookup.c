/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { MAX_NAME = RENAMING_MAX_NAME, MAX_INDEX_DIGITS = 9, WAYS = 3 };

/* `name` with the prefix added (way 1) or taken away (way 2), or as it is (way 0). Returns 0 when that way makes no
 * sense. */
static int spell(const struct lookup *lookup, const char *name, int way, char *spelled) {
    size_t prefix = strlen(lookup->prefix);
    size_t length = strlen(name);
    if (length + prefix + 2 > MAX_NAME || (way > 0 && prefix == 0)) {
        return 0;
    }
    if (way == 1) {
        memcpy(spelled, lookup->prefix, prefix);
        spelled[prefix] = '.';
        memcpy(spelled + prefix + 1, name, length + 1);
        return 1;
    }
    if (way == 2) {
        if (strncmp(name, lookup->prefix, prefix) != 0 || name[prefix] != '.') {
            return 0;
        }
        name += prefix + 1;
        length -= prefix + 1;
    }
    memcpy(spelled, name, length + 1);
    return 1;
}

static const struct graft_tensor_view *find_spelled(const struct lookup *lookup, const char *name) {
    for (int way = 0; way < WAYS; way++) {
        char spelled[MAX_NAME];
        const struct graft_source *source =
            spell(lookup, name, way, spelled) ? graft_sources_find(lookup->sources, spelled) : NULL;
        if (source != NULL) {
            return source->view;
        }
    }
    return NULL;
}

const struct graft_tensor_view *graft_lookup_find(const struct lookup *lookup, const char *name,
                                                  const struct graft_conversion **renaming) {
    char renamed[MAX_NAME];
    const struct graft_tensor_view *tensor = find_spelled(lookup, name);
    const struct graft_conversion *conversion =
        tensor == NULL ? graft_renamings_apply(&lookup->renamings, name, renamed) : NULL;
    if (conversion != NULL) {
        tensor = find_spelled(lookup, renamed);
    }
    if (renaming != NULL) {
        *renaming = tensor != NULL ? conversion : NULL;
    }
    return tensor;
}

static int is_below_spelled(const struct lookup *lookup, const char *path, const char *name) {
    for (int way = 0; way < WAYS; way++) {
        char spelled[MAX_NAME];
        size_t length = spell(lookup, path, way, spelled) ? strlen(spelled) : 0;
        if (length > 0 && strncmp(name, spelled, length) == 0 && name[length] == '.') {
            return 1;
        }
    }
    return 0;
}

int graft_lookup_is_below(const struct lookup *lookup, const char *path, const char *name) {
    char renamed[MAX_NAME];
    return is_below_spelled(lookup, path, name) || (graft_renamings_apply(&lookup->renamings, path, renamed) != NULL &&
                                                    is_below_spelled(lookup, renamed, name));
}

void graft_lookup_use(struct lookup *lookup, const struct graft_tensor_view *tensor) {
    graft_sources_find(lookup->sources, tensor->name)->used = 1;
}

int graft_lookup_take(struct lookup *lookup, const struct graft_tensor_view *tensor, struct graft_value *value,
                      struct graft_error *error) {
    struct graft_source *source = graft_sources_find(lookup->sources, tensor->name);
    source->used = 1;
    if (source->problem != NULL) {
        return graft_fail(error, GRAFT_ERROR_MODEL, tensor->name, "%s", source->problem);
    }
    return source->stored != NULL ? graft_value_of(source->stored, value, error)
                                  : graft_value_copy(&source->value, value, error);
}

int graft_conversion_filter_hits(const struct conversion_filter *filter, const char *target) {
    struct graft_regex_match match;
    for (size_t i = 0; filter != NULL && i < filter->n; i++) {
        if (graft_regex_search(filter->patterns[i], target, strlen(target), 0, &match) == GRAFT_REGEX_MATCH) {
            return 1;
        }
    }
    return 0;
}

int graft_lookup_leaves_out(const struct lookup *lookup, const struct graft_node *node,
                            const struct graft_conversion *conversion) {
    int hit = 0;
    for (int32_t i = 0; lookup->without != NULL && i < conversion->n_targets && !hit; i++) {
        char name[MAX_NAME];
        int length =
            snprintf(name, sizeof name, "%s%s%s", node->path, node->path[0] != '\0' ? "." : "", conversion->targets[i]);
        hit = length > 0 && length < MAX_NAME && graft_conversion_filter_hits(lookup->without, name);
    }
    return hit;
}

/* The index between `before` and `after` in a name, or -1. Leading zeros and signs are no indices. */
static int64_t index_in(const char *name, const char *before, const char *after) {
    size_t length = strlen(before);
    if (strncmp(name, before, length) != 0) {
        return -1;
    }
    const char *digits = name + length;
    size_t n = strspn(digits, "0123456789");
    if (n == 0 || n > MAX_INDEX_DIGITS || (n > 1 && digits[0] == '0') || strcmp(digits + n, after) != 0) {
        return -1;
    }
    return strtoll(digits, NULL, 10);
}

static int by_index(const void *a, const void *b) {
    const struct indexed_tensor *left = a, *right = b;
    return (left->index > right->index) - (left->index < right->index);
}

/* Collects the tensors of one spelling of `before`. */
static int64_t collect(const struct lookup *lookup, const char *before, const char *after,
                       struct indexed_tensor **found) {
    size_t count = 0, capacity = 0;
    for (size_t i = graft_sources_lower_bound(lookup->sources, before); i < lookup->sources->n; i++) {
        const struct graft_tensor_view *tensor = lookup->sources->items[i].view;
        if (strncmp(tensor->name, before, strlen(before)) != 0) {
            break;
        }
        int64_t index = index_in(tensor->name, before, after);
        if (index < 0) {
            continue;
        }
        if (graft_grow(found, &capacity, count, sizeof **found) != 0) {
            return -1;
        }
        (*found)[count++] = (struct indexed_tensor){index, tensor};
    }
    if (count > 0) {
        qsort(*found, count, sizeof **found, by_index);
    }
    return (int64_t)count;
}

static int64_t collect_spelled(const struct lookup *lookup, const char *before, const char *after,
                               struct indexed_tensor **found) {
    int64_t count = 0;
    for (int way = 0; way < WAYS && count == 0; way++) {
        char spelled[MAX_NAME];
        if (spell(lookup, before, way, spelled)) {
            count = collect(lookup, spelled, after, found);
        }
    }
    return count;
}

int64_t graft_lookup_indexed(const struct lookup *lookup, const char *before, const char *after,
                             struct indexed_tensor **found) {
    char renamed[MAX_NAME];
    *found = NULL;
    int64_t count = collect_spelled(lookup, before, after, found);
    if (count == 0 && graft_renamings_apply(&lookup->renamings, before, renamed) != NULL) {
        count = collect_spelled(lookup, renamed, after, found);
    }
    return count;
}
