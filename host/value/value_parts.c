/* SPDX-License-Identifier: Apache-2.0 */
#include "value/value_parts.h"

#include <stdlib.h>

#include "base/alloc.h"

static int failed(int result, const char *name, struct graft_error *error) {
    return result == 1
               ? graft_fail_memory(error, name)
               : graft_error_set(error, GRAFT_ERROR_MODEL, name,
                                 "the operations leave more than %d separate pieces of a tensor", (int)VALUE_MAX_PARTS);
}

int graft_value_add_part(struct graft_value *value, const struct graft_part *part) {
    struct graft_part *last = value->n_parts > 0 ? &value->parts[value->n_parts - 1] : NULL;
    if (last != NULL && last->tensor == part->tensor && graft_box_join(&last->box, &part->box)) {
        return 0;
    }
    if (value->n_parts == VALUE_MAX_PARTS) {
        return -1;
    }
    if (graft_grow(&value->parts, &value->capacity, value->n_parts, sizeof *value->parts) != 0) {
        return 1;
    }
    value->parts[value->n_parts++] = *part;
    return 0;
}

static int by_position(const void *left, const void *right) {
    const struct graft_part *a = left, *b = right;
    return (a->box.at > b->box.at) - (a->box.at < b->box.at);
}

void graft_value_tidy(struct graft_value *value) {
    size_t n = value->n_parts;
    if (n < 2) {
        return;
    }
    qsort(value->parts, n, sizeof *value->parts, by_position);
    value->n_parts = 1;
    for (size_t i = 1; i < n; i++) {
        struct graft_part *last = &value->parts[value->n_parts - 1];
        if (last->tensor != value->parts[i].tensor || !graft_box_join(&last->box, &value->parts[i].box)) {
            value->parts[value->n_parts++] = value->parts[i];
        }
    }
}

struct widening {
    struct graft_value *joined;
    const struct graft_tensor_view *tensor;
    int64_t own;
    int64_t width;
    int64_t offset;
};

static int widen(void *data, const struct graft_box *piece) {
    const struct widening *to = data;
    struct graft_part part = {to->tensor, *piece};
    part.box.at = piece->at / to->own * to->width + piece->at % to->own + to->offset;
    for (int32_t i = 0; i < piece->loops; i++) {
        if (piece->to[i] % to->own == 0) {
            part.box.to[i] = piece->to[i] / to->own * to->width;
        }
    }
    graft_box_tidy(&part.box);
    return graft_value_add_part(to->joined, &part);
}

int graft_value_widen(const struct graft_value *value, int64_t own, int64_t width, int64_t offset, const char *name,
                      struct graft_value *joined, struct graft_error *error) {
    for (size_t i = 0; i < value->n_parts; i++) {
        struct widening to = {joined, value->parts[i].tensor, own, width, offset};
        int result = graft_box_align(&value->parts[i].box, own, widen, &to);
        if (result != 0) {
            return failed(result, name, error);
        }
    }
    return GRAFT_OK;
}

struct narrowing {
    const struct graft_tensor_view *tensor;
    struct graft_value *part;
    int64_t width;  /* width of the windows that are cut */
    int64_t begin;  /* where the part begins in each window */
    int64_t narrow; /* the part's width */
    int64_t window; /* the window in which the current piece starts */
    const struct graft_box *piece;
};

/* Adds the cut of one window to the value, with the piece's loops over windows around it. */
static int add_narrow(void *data, const struct graft_box *cut) {
    const struct narrowing *to = data;
    struct graft_part part = {to->tensor, *cut};
    part.box.at = to->window * to->narrow + cut->at - to->begin;
    for (int32_t i = 0; i < to->piece->loops; i++) {
        if (to->piece->to[i] % to->width != 0) {
            continue;
        }
        if (part.box.loops == GRAFT_BOX_LOOPS) {
            return -1;
        }
        part.box.size[part.box.loops] = to->piece->size[i];
        part.box.to[part.box.loops] = to->piece->to[i] / to->width * to->narrow;
        part.box.from[part.box.loops++] = to->piece->from[i];
    }
    graft_box_tidy(&part.box);
    return graft_value_add_part(to->part, &part);
}

static int narrow(void *data, const struct graft_box *piece) {
    struct narrowing *to = data;
    struct graft_box inside = *piece; /* the piece within one window */
    inside.at = piece->at % to->width;
    inside.loops = 0;
    for (int32_t i = 0; i < piece->loops; i++) {
        if (piece->to[i] % to->width != 0) {
            inside.size[inside.loops] = piece->size[i];
            inside.to[inside.loops] = piece->to[i];
            inside.from[inside.loops++] = piece->from[i];
        }
    }
    to->window = piece->at / to->width;
    to->piece = piece;
    return graft_box_cut(&inside, to->begin, to->begin + to->narrow, add_narrow, to);
}

/* Whether a piece can have elements of the part at all. Without this test a row of many narrow windows would look at
 * every piece for each of them. */
static int touches(const struct graft_box *box, const struct narrowing *to) {
    int64_t first = box->at, last = box->at + graft_box_span(box) - 1;
    if (last - first >= to->width || first / to->width != last / to->width) {
        return 1;
    }
    return first % to->width < to->begin + to->narrow && last % to->width >= to->begin;
}

int graft_value_narrow(const struct graft_value *value, const int64_t *sizes, size_t n, int64_t inner, const char *name,
                       struct graft_value *parts, struct graft_error *error) {
    struct narrowing to = {0};
    for (size_t i = 0; i < n; i++) {
        to.width += sizes[i] * inner;
    }
    for (size_t i = 0; i < n; i++, to.begin += to.narrow) {
        to.narrow = sizes[i] * inner;
        to.part = &parts[i];
        for (size_t k = 0; k < value->n_parts; k++) {
            to.tensor = value->parts[k].tensor;
            int result =
                touches(&value->parts[k].box, &to) ? graft_box_align(&value->parts[k].box, to.width, narrow, &to) : 0;
            if (result != 0) {
                return failed(result, name, error);
            }
        }
    }
    return GRAFT_OK;
}

struct exchanging {
    struct graft_value *result;
    const struct graft_tensor_view *tensor;
    int64_t widths[4]; /* strides of the four inner dimensions, then of the outer ones; innermost first */
    int64_t moved[3];  /* the new strides of the first three */
    int level;         /* index in `widths` of the windows to which the piece is aligned */
};

/* The new position of an element, computed digit by digit. */
static int64_t move(const struct exchanging *to, int64_t position) {
    int64_t rest = position % to->widths[3], moved = position - rest;
    for (int i = 2; i >= 0; i--) {
        moved += rest / to->widths[i] * to->moved[i];
        rest %= to->widths[i];
    }
    return moved + rest;
}

static int exchange_piece(void *data, const struct graft_box *piece) {
    struct exchanging *to = data;
    if (to->level < 4) {
        int64_t width = to->widths[to->level++];
        int result = graft_box_align(piece, width, exchange_piece, to);
        to->level--;
        return result;
    }
    struct graft_part part = {to->tensor, *piece};
    part.box.at = move(to, piece->at);
    for (int32_t i = 0; i < piece->loops; i++) {
        part.box.to[i] = move(to, piece->to[i]);
    }
    graft_box_tidy(&part.box);
    return graft_value_add_part(to->result, &part);
}

int graft_value_exchange_loops(struct graft_value *value, const struct value_exchange *exchange, const char *name,
                               struct graft_error *error) {
    struct graft_value result = *value;
    int64_t inner = exchange->inner;
    struct exchanging to = {
        .result = &result,
        .widths = {inner, inner * exchange->second, inner * exchange->second * exchange->middle,
                   inner * exchange->second * exchange->middle * exchange->first},
        .moved = {inner * exchange->first * exchange->middle, inner * exchange->first, inner},
    };
    result.parts = NULL;
    result.n_parts = 0;
    result.capacity = 0;
    for (size_t i = 0; i < value->n_parts; i++) {
        to.tensor = value->parts[i].tensor;
        int moved = exchange_piece(&to, &value->parts[i].box);
        if (moved != 0) {
            graft_free(result.parts);
            return failed(moved, name, error);
        }
    }
    graft_free(value->parts);
    *value = result;
    graft_value_tidy(value);
    return GRAFT_OK;
}
