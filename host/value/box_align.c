/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts boxes at the borders of windows, which composing two boxes needs. */
#include <stddef.h>

#include "value/box.h"

/* The part of the box with steps [first, last) of loop `loop`. Loops that continue each other are not merged, as they
 * may have been split at a smaller width. */
static struct graft_box steps(const struct graft_box *box, int32_t loop, int64_t first, int64_t last) {
    struct graft_box part = *box;
    part.at += first * box->to[loop];
    part.begin += first * box->from[loop];
    part.size[loop] = last - first;
    for (int32_t i = loop; last - first == 1 && i + 1 < part.loops; i++) {
        part.size[i] = box->size[i + 1];
        part.to[i] = box->to[i + 1];
        part.from[i] = box->from[i + 1];
    }
    part.loops -= last - first == 1;
    return part;
}

/* Splits loop `loop`, `quotient` of whose steps make a window, into a loop over windows and a loop within a window.
 * Returns -1 if the box has no room for another loop. The box is not tidied, which would merge the two again. */
static int split_loop(struct graft_box *box, int32_t loop, int64_t quotient) {
    if (box->loops == GRAFT_BOX_LOOPS) {
        return -1;
    }
    for (int32_t i = box->loops; i > loop + 1; i--) {
        box->size[i] = box->size[i - 1];
        box->to[i] = box->to[i - 1];
        box->from[i] = box->from[i - 1];
    }
    box->loops++;
    box->size[loop + 1] = quotient;
    box->to[loop + 1] = box->to[loop];
    box->from[loop + 1] = box->from[loop];
    box->size[loop] /= quotient;
    box->to[loop] *= quotient;
    box->from[loop] *= quotient;
    return 0;
}

/* The outermost loop that does not step by whole windows; `loops` if all do. `*span` is the span of that loop and those
 * inside it. */
static int32_t inner_loop(const struct graft_box *box, int64_t width, int64_t *span) {
    int32_t found = box->loops;
    *span = 1;
    for (int32_t i = box->loops - 1; i >= 0; i--) {
        if (box->to[i] % width != 0) {
            found = i;
            *span += (box->size[i] - 1) * box->to[i];
        }
    }
    return found;
}

static int align(const struct graft_box *box, int64_t width, graft_box_taker take, void *data);

/* Aligns a box whose loop `loop` starts inside a window and whose step divides the window's width: the whole windows
 * become one box with a loop over them, the rest before and after become others. */
static int align_windows(const struct graft_box *box, int32_t loop, int64_t width, graft_box_taker take, void *data) {
    int64_t quotient = width / box->to[loop];
    int64_t phase = box->at % width;
    int64_t head = phase < box->to[loop] ? 0 : (width - phase + box->to[loop] - 1) / box->to[loop];
    int64_t whole = (box->size[loop] - head) / quotient * quotient;
    int64_t ends[] = {0, head, head + whole, box->size[loop]};
    int result = 0;
    for (int i = 0; i < 3 && result == 0; i++) {
        struct graft_box part = *box;
        if (ends[i] == ends[i + 1]) {
            continue;
        }
        if (i != 1 || whole == quotient) {
            part = steps(box, loop, ends[i], ends[i + 1]);
            result = align(&part, width, take, data);
            continue;
        }
        part.at += head * box->to[loop];
        part.begin += head * box->from[loop];
        part.size[loop] = whole;
        result = split_loop(&part, loop, quotient) != 0 ? -1 : align(&part, width, take, data);
    }
    return result;
}

static int align(const struct graft_box *box, int64_t width, graft_box_taker take, void *data) {
    struct graft_box rest = *box;
    for (;;) {
        int64_t span;
        int32_t loop = inner_loop(&rest, width, &span);
        int64_t phase = rest.at % width;
        if (phase + span <= width) {
            return take(data, &rest);
        }
        int64_t step = rest.to[loop], size = rest.size[loop];
        int64_t next = (width - phase + step - 1) / step; /* the first step in another window */
        if (next >= size) {
            next = size - 1; /* only the inside of the last step crosses the window's end */
        } else if (step < width && width % step == 0) {
            return align_windows(&rest, loop, width, take, data);
        }
        /* A step that starts in this window and ends in the next becomes a piece of its own. */
        int64_t inside = phase + span - (size - 1) * step; /* end of the first step */
        if (next > 1 && inside + (next - 1) * step > width) {
            next--;
        }
        if (size == 1) {
            return -1;
        }
        next = next > 0 ? next : 1;
        struct graft_box head = steps(&rest, loop, 0, next);
        int result = align(&head, width, take, data);
        if (result != 0) {
            return result;
        }
        rest = steps(&rest, loop, next, size);
    }
}

int graft_box_align(const struct graft_box *box, int64_t width, graft_box_taker take, void *data) {
    return align(box, width, take, data);
}
