/* SPDX-License-Identifier: Apache-2.0 */
#include "value/box.h"

#include <stddef.h>

struct graft_box graft_box_run(int64_t at, int64_t begin, int64_t count) {
    struct graft_box box = {.at = at, .begin = begin};
    if (count > 1) {
        box.loops = 1;
        box.size[0] = count;
        box.to[0] = 1;
        box.from[0] = 1;
    }
    return box;
}

int64_t graft_box_count(const struct graft_box *box) {
    int64_t count = 1;
    for (int32_t i = 0; i < box->loops; i++) {
        count *= box->size[i];
    }
    return count;
}

/* Like graft_box_span, but only over the loops from `first` on. */
static int64_t span_from(const struct graft_box *box, int32_t first) {
    int64_t span = 1;
    for (int32_t i = first; i < box->loops; i++) {
        span += (box->size[i] - 1) * box->to[i];
    }
    return span;
}

int64_t graft_box_span(const struct graft_box *box) {
    return span_from(box, 0);
}

int64_t graft_box_together(const struct graft_box *box) {
    int32_t last = box->loops - 1;
    return last >= 0 && box->to[last] == 1 && box->from[last] == 1 ? box->size[last] : 1;
}

static void exchange(struct graft_box *box, int32_t i, int32_t j) {
    int64_t size = box->size[i], to = box->to[i], from = box->from[i];
    box->size[i] = box->size[j];
    box->to[i] = box->to[j];
    box->from[i] = box->from[j];
    box->size[j] = size;
    box->to[j] = to;
    box->from[j] = from;
}

static void remove_loop(struct graft_box *box, int32_t i) {
    for (; i + 1 < box->loops; i++) {
        exchange(box, i, i + 1);
    }
    box->loops--;
}

void graft_box_tidy(struct graft_box *box) {
    for (int32_t i = box->loops - 1; i >= 0; i--) {
        if (box->size[i] == 1) {
            remove_loop(box, i);
        }
    }
    for (int32_t i = 1; i < box->loops; i++) {
        for (int32_t j = i; j > 0 && box->to[j] > box->to[j - 1]; j--) {
            exchange(box, j, j - 1);
        }
    }
    for (int32_t i = box->loops - 1; i > 0; i--) {
        if (box->to[i - 1] == box->size[i] * box->to[i] && box->from[i - 1] == box->size[i] * box->from[i]) {
            box->size[i] *= box->size[i - 1];
            remove_loop(box, i - 1);
        }
    }
}

struct graft_box graft_box_inverse(const struct graft_box *box) {
    struct graft_box inverse = *box;
    inverse.at = box->begin;
    inverse.begin = box->at;
    for (int32_t i = 0; i < box->loops; i++) {
        inverse.to[i] = box->from[i];
        inverse.from[i] = box->to[i];
    }
    graft_box_tidy(&inverse);
    return inverse;
}

/* The part of the box with steps [first, last) of loop `loop` and all steps of the other loops. */
static struct graft_box steps(const struct graft_box *box, int32_t loop, int64_t first, int64_t last) {
    struct graft_box part = *box;
    part.at += first * box->to[loop];
    part.begin += first * box->from[loop];
    part.size[loop] = last - first;
    graft_box_tidy(&part);
    return part;
}

static int64_t floor_divide(int64_t a, int64_t b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

int graft_box_cut(const struct graft_box *box, int64_t begin, int64_t end, graft_box_taker take, void *data) {
    int64_t span = graft_box_span(box);
    if (begin >= end || box->at >= end || box->at + span <= begin) {
        return 0;
    }
    if (box->at >= begin && box->at + span <= end) {
        return take(data, box);
    }
    /* Steps [low, high] of the outer loop touch the range; the first and the last may touch it only in part. */
    int64_t inner = span_from(box, 1);
    int64_t low = floor_divide(begin - box->at - inner, box->to[0]) + 1;
    int64_t high = floor_divide(end - 1 - box->at, box->to[0]);
    low = low > 0 ? low : 0;
    high = high < box->size[0] - 1 ? high : box->size[0] - 1;
    if (low > high) {
        return 0;
    }
    int64_t first = low + (box->at + low * box->to[0] < begin);
    int64_t last = high + 1 - (box->at + high * box->to[0] + inner > end);
    int result = 0;
    if (first > low) {
        struct graft_box edge = steps(box, 0, low, low + 1);
        result = graft_box_cut(&edge, begin, end, take, data);
    }
    if (result == 0 && first < last) {
        struct graft_box middle = steps(box, 0, first, last);
        result = take(data, &middle);
    }
    if (result == 0 && last <= high && (high > low || first == low)) {
        struct graft_box edge = steps(box, 0, high, high + 1);
        result = graft_box_cut(&edge, begin, end, take, data);
    }
    return result;
}

int graft_box_join(struct graft_box *first, const struct graft_box *second) {
    int32_t differs = -1;
    if (first->loops == 0 && second->loops == 0) {
        if (second->at != first->at + 1 || second->begin != first->begin + 1) {
            return 0;
        }
        *first = graft_box_run(first->at, first->begin, 2);
        return 1;
    }
    if (first->loops != second->loops) {
        return 0;
    }
    for (int32_t i = 0; i < first->loops; i++) {
        if (first->to[i] != second->to[i] || first->from[i] != second->from[i]) {
            return 0;
        }
        if (second->at == first->at + first->size[i] * first->to[i] &&
            second->begin == first->begin + first->size[i] * first->from[i]) {
            differs = i;
        }
    }
    for (int32_t i = 0; i < first->loops; i++) {
        if (differs < 0 || (i != differs && first->size[i] != second->size[i])) {
            return 0;
        }
    }
    first->size[differs] += second->size[differs];
    graft_box_tidy(first);
    return 1;
}

int graft_box_same(const struct graft_box *a, const struct graft_box *b, int sides) {
    int same = a->at == b->at && a->loops == b->loops && (!sides || a->begin == b->begin);
    for (int32_t i = 0; i < a->loops && same; i++) {
        same = a->size[i] == b->size[i] && a->to[i] == b->to[i] && (!sides || a->from[i] == b->from[i]);
    }
    return same;
}

/* Whether the loops are nested on the `to` side and end below `count`. */
static int fits(const struct graft_box *box, int64_t count) {
    int64_t span = 1;
    for (int32_t i = box->loops - 1; i >= 0; i--) {
        if (box->to[i] < span || box->size[i] - 1 > (count - span) / box->to[i]) {
            return 0;
        }
        span += (box->size[i] - 1) * box->to[i];
    }
    return span <= count && box->at <= count - span;
}

int graft_box_valid(const struct graft_box *box, int64_t count_at, int64_t count_begin) {
    if (box->at < 0 || box->begin < 0 || box->loops < 0 || box->loops > GRAFT_BOX_LOOPS) {
        return 0;
    }
    for (int32_t i = 0; i < box->loops; i++) {
        if (box->size[i] <= 1 || box->to[i] <= 0 || box->from[i] <= 0 || (i > 0 && box->to[i] >= box->to[i - 1])) {
            return 0;
        }
    }
    if (!fits(box, count_at)) {
        return 0;
    }
    struct graft_box sides = *box; /* not graft_box_inverse, whose merging could overflow on unchecked numbers */
    sides.at = box->begin;
    for (int32_t i = 0; i < box->loops; i++) {
        sides.to[i] = box->from[i];
    }
    for (int32_t i = 1; i < sides.loops; i++) {
        for (int32_t j = i; j > 0 && sides.to[j] > sides.to[j - 1]; j--) {
            exchange(&sides, j, j - 1);
        }
    }
    return fits(&sides, count_begin);
}

int graft_box_stretches(const struct graft_box *box, graft_stretch_mover move, void *data) {
    int64_t together = graft_box_together(box);
    int32_t outer = box->loops - (together > 1);
    int64_t index[GRAFT_BOX_LOOPS] = {0};
    int result = 0;
    for (int64_t left = graft_box_count(box) / together; left > 0 && result == 0; left--) {
        int64_t at = box->at, begin = box->begin;
        for (int32_t i = 0; i < outer; i++) {
            at += index[i] * box->to[i];
            begin += index[i] * box->from[i];
        }
        result = move(data, at, begin, together);
        for (int32_t i = outer - 1; i >= 0 && ++index[i] == box->size[i]; i--) {
            index[i] = 0;
        }
    }
    return result;
}
