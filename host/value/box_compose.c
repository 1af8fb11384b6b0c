/* SPDX-License-Identifier: Apache-2.0 */
/* Composes boxes: A is filled from M, and M from B; so which elements of B fill A? */
#include <stddef.h>

#include "value/box.h"

/* Two boxes that both have M on their `at` side. The result has the left box's `begin` side as `at` and the right box's
 * `begin` side as `begin`. */
struct meeting {
    int64_t *limit;
    graft_box_taker take;
    void *data;
    const struct meeting *outer; /* the meeting whose `loop` is around the pieces of this one; NULL: none */
    struct graft_box loop;       /* one loop */
};

static int meet(const struct meeting *meeting, const struct graft_box *left, const struct graft_box *right);

static int emit(const struct meeting *meeting, const struct graft_box *piece) {
    struct graft_box box = *piece;
    for (; meeting->outer != NULL; meeting = meeting->outer) {
        if (box.loops == GRAFT_BOX_LOOPS) {
            return -1;
        }
        box.size[box.loops] = meeting->loop.size[0];
        box.to[box.loops] = meeting->loop.to[0];
        box.from[box.loops] = meeting->loop.from[0];
        box.loops++;
    }
    graft_box_tidy(&box);
    return meeting->take(meeting->data, &box);
}

/* For cutting one side, where the other side is a plain range. */
struct range {
    const struct meeting *meeting;
    const struct graft_box *plain; /* at most one loop, of step 1 in M */
    int plain_is_right;
};

static int take_in_range(void *data, const struct graft_box *piece) {
    const struct range *range = data;
    const struct graft_box *plain = range->plain;
    int64_t step = plain->loops > 0 ? plain->from[0] : 1;
    int64_t there = plain->begin + (piece->at - plain->at) * step;
    struct graft_box box = *piece;
    box.at = range->plain_is_right ? piece->begin : there;
    box.begin = range->plain_is_right ? there : piece->begin;
    for (int32_t i = 0; i < piece->loops; i++) {
        int64_t stepped = piece->to[i] * step;
        box.to[i] = range->plain_is_right ? piece->from[i] : stepped;
        box.from[i] = range->plain_is_right ? stepped : piece->from[i];
    }
    return emit(range->meeting, &box);
}

static int is_plain(const struct graft_box *box) {
    return box->loops == 0 || (box->loops == 1 && box->to[0] == 1);
}

/* The box at step `step` of its outermost loop, without that loop. */
static struct graft_box step_of(const struct graft_box *box, int64_t step) {
    struct graft_box inner = *box;
    inner.at += step * box->to[0];
    inner.begin += step * box->from[0];
    inner.size[0] = 1;
    graft_box_tidy(&inner);
    return inner;
}

/* Handles outermost loops with the same step in M: step i of the left box meets step i - shift of the right box, for
 * one or two values of shift. */
static int meet_loops(const struct meeting *meeting, const struct graft_box *left, const struct graft_box *right) {
    int64_t step = left->to[0];
    int64_t distance = right->at - left->at;
    int64_t shift = distance >= 0 ? distance / step : -((-distance + step - 1) / step);
    int result = 0;
    for (int i = 0; i < 2 && result == 0; i++, shift++) {
        int64_t first = shift < 0 ? -shift : 0; /* the first of the right box's steps */
        int64_t last = left->size[0] - shift < right->size[0] ? left->size[0] - shift : right->size[0];
        if (first >= last) {
            continue;
        }
        struct graft_box inner_left = step_of(left, first + shift), inner_right = step_of(right, first);
        struct meeting inner = {meeting->limit, meeting->take, meeting->data, meeting, {.loops = 1}};
        inner.loop.size[0] = last - first;
        inner.loop.to[0] = left->from[0];
        inner.loop.from[0] = right->from[0];
        result = meet(&inner, &inner_left, &inner_right);
    }
    return result;
}

/* For the aligned pieces of the box with the smaller step. */
struct aligned {
    const struct meeting *meeting;
    const struct graft_box *other;
    int other_is_left;
};

static int meet_steps(const struct meeting *meeting, const struct graft_box *wide, const struct graft_box *other,
                      int wide_is_left) {
    int64_t end = other->at + graft_box_span(other);
    int result = 0;
    for (int64_t i = 0; i < wide->size[0] && result == 0; i++) {
        struct graft_box one = step_of(wide, i);
        if (one.at >= end) {
            break;
        }
        result = wide_is_left ? meet(meeting, &one, other) : meet(meeting, other, &one);
    }
    return result;
}

static int take_aligned(void *data, const struct graft_box *piece) {
    const struct aligned *aligned = data;
    const struct graft_box *other = aligned->other;
    if (piece->loops > 0 && piece->to[0] == other->to[0]) {
        return aligned->other_is_left ? meet_loops(aligned->meeting, other, piece)
                                      : meet_loops(aligned->meeting, piece, other);
    }
    return meet_steps(aligned->meeting, other, piece, aligned->other_is_left);
}

static int meet(const struct meeting *meeting, const struct graft_box *left, const struct graft_box *right) {
    if (left->at >= right->at + graft_box_span(right) || right->at >= left->at + graft_box_span(left)) {
        return 0;
    }
    if (--*meeting->limit < 0) {
        return -1;
    }
    if (is_plain(right) || is_plain(left)) {
        int plain_is_right = is_plain(right);
        struct range range = {meeting, plain_is_right ? right : left, plain_is_right};
        return graft_box_cut(plain_is_right ? left : right, range.plain->at,
                             range.plain->at + graft_box_span(range.plain), take_in_range, &range);
    }
    if (left->to[0] == right->to[0]) {
        return meet_loops(meeting, left, right);
    }
    int left_is_wide = left->to[0] > right->to[0];
    const struct graft_box *wide = left_is_wide ? left : right, *other = left_is_wide ? right : left;
    struct aligned aligned = {meeting, wide, left_is_wide};
    return graft_box_align(other, wide->to[0], take_aligned, &aligned);
}

int graft_box_compose(const struct graft_box *first, const struct graft_box *second, int64_t *limit,
                      graft_box_taker take, void *data) {
    struct graft_box left = graft_box_inverse(first);
    struct meeting meeting = {.limit = limit, .take = take, .data = data};
    return meet(&meeting, &left, second);
}
