/* SPDX-License-Identifier: Apache-2.0 */
#include "save/reverse.h"

#include <stdlib.h>

#include "base/alloc.h"

int claims_add(struct claims *claims, const struct journal_entry *entry, const struct save_source *source) {
    int64_t offset = 0;
    for (size_t i = 0; i < entry->n_runs; i++) {
        const struct journal_run *run = &entry->runs[i];
        if (graft_grow(&claims->items, &claims->capacity, claims->count, sizeof *claims->items) != 0) {
            return -1;
        }
        claims->items[claims->count++] = (struct claim){run->tensor, run->begin, run->count, source, offset};
        offset += run->count;
    }
    return 0;
}

/* Sources are elements of one array, in the tree's order: the earlier goes first. */
static int compare(const void *left, const void *right) {
    const struct claim *a = left, *b = right;
    if (a->tensor != b->tensor) {
        return a->tensor < b->tensor ? -1 : 1;
    }
    if (a->begin != b->begin) {
        return a->begin < b->begin ? -1 : 1;
    }
    return (a->source > b->source) - (a->source < b->source);
}

void claims_sort(struct claims *claims) {
    if (claims->count > 0) {
        qsort(claims->items, claims->count, sizeof *claims->items, compare);
    }
}

void claims_free(struct claims *claims) {
    graft_free(claims->items);
    *claims = (struct claims){0};
}

/* The first claim on a tensor, or on a later one. */
static size_t first_claim(const struct claims *claims, size_t tensor) {
    size_t low = 0, high = claims->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (claims->items[middle].tensor < tensor) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A range of elements of one original tensor, and what fills it. */
struct range {
    size_t number;
    int64_t begin;
    int64_t end;
};

static int fill(const struct claims *const *claims, const struct range *range, struct save_tensor *tensor) {
    int64_t at = range->begin;
    if (at == range->end) {
        return 0;
    }
    if (*claims == NULL) {
        return 1;
    }
    for (size_t i = first_claim(*claims, range->number); i < (*claims)->count && at < range->end; i++) {
        const struct claim *claim = &(*claims)->items[i];
        int64_t end = claim->begin + claim->count < range->end ? claim->begin + claim->count : range->end;
        if (claim->tensor != range->number || claim->begin >= range->end) {
            break;
        }
        if (end <= at) {
            continue;
        }
        struct range gap = {range->number, at, claim->begin > at ? claim->begin : at};
        int result = fill(claims + 1, &gap, tensor);
        if (result != 0) {
            return result;
        }
        struct save_part part = {claim->source, claim->offset + gap.end - claim->begin, end - gap.end};
        if (content_add_part(tensor, &part) != 0) {
            return -1;
        }
        at = end;
    }
    struct range rest = {range->number, at, range->end};
    return fill(claims + 1, &rest, tensor);
}

int claims_fill(const struct claims *first, const struct claims *second, size_t number, struct save_tensor *tensor) {
    const struct claims *const levels[] = {first, second, NULL};
    struct range all = {number, 0, tensor->form.count};
    return fill(levels, &all, tensor);
}
