/* SPDX-License-Identifier: Apache-2.0 */
#include "save/reverse.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* How many parts are searched for repetitions. Repetitions beyond that only make saving slower. */
enum { MAX_COMPARED = 1024 };

int graft_claims_add(struct claims *claims, const struct journal_entry *entry, const struct save_source *source) {
    for (size_t i = 0; i < entry->n_parts; i++) {
        if (graft_grow(&claims->items, &claims->capacity, claims->count, sizeof *claims->items) != 0) {
            return -1;
        }
        claims->items[claims->count++] =
            (struct claim){entry->parts[i].tensor, source, graft_box_inverse(&entry->parts[i].box)};
    }
    return 0;
}

/* Orders claims by tensor, and claims on the same tensor by their source's place in the tree. */
static int compare(const void *left, const void *right) {
    const struct claim *a = left, *b = right;
    if (a->tensor != b->tensor) {
        return a->tensor < b->tensor ? -1 : 1;
    }
    if (a->source->order != b->source->order) {
        return a->source->order < b->source->order ? -1 : 1;
    }
    return (a->box.at > b->box.at) - (a->box.at < b->box.at);
}

void graft_claims_sort(struct claims *claims) {
    if (claims->count > 0) {
        qsort(claims->items, claims->count, sizeof *claims->items, compare);
    }
}

int graft_claims_merge(struct claims *claims, struct claims *more) {
    for (size_t i = 0; i < more->count; i++) {
        if (graft_grow(&claims->items, &claims->capacity, claims->count, sizeof *claims->items) != 0) {
            return -1;
        }
        claims->items[claims->count++] = more->items[i];
    }
    more->count = 0;
    graft_claims_sort(claims);
    return 0;
}

void graft_claims_free(struct claims *claims) {
    graft_free(claims->items);
    *claims = (struct claims){0};
}

/* The index of the first claim on `tensor`, or, if there is none, where it would be inserted. */
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

static int add_claims(const struct claims *claims, size_t number, struct save_tensor *tensor) {
    for (size_t i = first_claim(claims, number); i < claims->count && claims->items[i].tensor == number; i++) {
        const struct claim *claim = &claims->items[i];
        const struct save_part part = {claim->source, claim->box};
        int known = 0;
        /* of two parts with the same elements only the first is used */
        for (size_t k = 0; k < tensor->n_parts && k < MAX_COMPARED && !known; k++) {
            known = graft_box_same(&tensor->parts[k].box, &part.box, 0);
        }
        if (!known && graft_content_add_part(tensor, &part) != 0) {
            return -1;
        }
    }
    return 0;
}

static int by_position(const void *left, const void *right) {
    const struct save_part *a = left, *b = right;
    return (a->box.at > b->box.at) - (a->box.at < b->box.at);
}

/* Sorts the parts by position. If any of them overlap, returns 0 and leaves their order unchanged. */
static int sort_apart(struct save_tensor *tensor) {
    struct save_part *sorted = graft_alloc(tensor->n_parts + 1, sizeof *sorted);
    int apart = sorted != NULL;
    if (apart && tensor->n_parts > 0) {
        memcpy(sorted, tensor->parts, tensor->n_parts * sizeof *sorted);
        qsort(sorted, tensor->n_parts, sizeof *sorted, by_position);
    }
    for (size_t i = 1; i < tensor->n_parts && apart; i++) {
        apart = sorted[i].box.at >= sorted[i - 1].box.at + graft_box_span(&sorted[i - 1].box);
    }
    if (apart && tensor->n_parts > 0) {
        memcpy(tensor->parts, sorted, tensor->n_parts * sizeof *sorted);
    }
    graft_free(sorted);
    return apart;
}

/* A bit for each element. */
static int mark(void *data, int64_t at, int64_t begin, int64_t count) {
    unsigned char *bits = data;
    (void)begin;
    for (; count > 0 && (at % 8 != 0 || count < 8); at++, count--) {
        bits[at / 8] |= (unsigned char)(1U << at % 8);
    }
    if (count >= 8) {
        memset(bits + at / 8, 0xff, (size_t)(count / 8));
    }
    for (at += count / 8 * 8, count %= 8; count > 0; at++, count--) {
        bits[at / 8] |= (unsigned char)(1U << at % 8);
    }
    return 0;
}

/* Whether the parts cover all elements: 1, 0, or -1 if memory ran out. Overlapping parts are counted element by
 * element. */
static int is_complete(struct save_tensor *tensor) {
    int64_t sum = 0, count = tensor->form.count;
    for (size_t i = 0; i < tensor->n_parts && sum <= count; i++) {
        sum += graft_box_count(&tensor->parts[i].box);
    }
    if (sum < count) {
        return 0;
    }
    if (sort_apart(tensor)) {
        return sum == count;
    }
    unsigned char *bits = graft_alloc((size_t)(count / 8 + 1), 1);
    if (bits == NULL) {
        return -1;
    }
    for (size_t i = 0; i < tensor->n_parts; i++) {
        (void)graft_box_stretches(&tensor->parts[i].box, mark, bits);
    }
    int complete = 1;
    for (int64_t i = 0; i < count / 8 && complete; i++) {
        complete = bits[i] == 0xff;
    }
    complete = complete && bits[count / 8] == (unsigned char)((1U << count % 8) - 1);
    graft_free(bits);
    return complete;
}

int graft_claims_fill(const struct claims *first, const struct claims *second, size_t number,
                      struct save_tensor *tensor) {
    const struct claims *const levels[] = {first, second};
    if (tensor->form.count == 0) {
        return 0;
    }
    for (int i = 0; i < 2 && levels[i] != NULL; i++) {
        int complete = add_claims(levels[i], number, tensor) == 0 ? is_complete(tensor) : -1;
        if (complete != 0) {
            return complete > 0 ? 0 : -1;
        }
    }
    return 1;
}
