/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/segments.h"

#include "base/alloc.h"
#include "base/utf8.h"

void graft_segments_add(struct graft_segments *segments, size_t start, size_t end, int match) {
    if (segments->failed ||
        graft_grow(&segments->items, &segments->capacity, segments->n, sizeof *segments->items) != 0) {
        segments->failed = 1;
        return;
    }
    segments->items[segments->n++] = (struct graft_segment){start, end, match};
}

void graft_segments_by_character(struct graft_segments *segments, const char *text, size_t length,
                                 int (*is_separator)(uint32_t code)) {
    size_t open = 0;
    segments->n = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t next = at + graft_utf8_read(text + at, &code);
        if (is_separator(code)) {
            if (open < at) {
                graft_segments_add(segments, open, at, 0);
            }
            graft_segments_add(segments, at, next, 1);
            open = next;
        }
        at = next;
    }
    if (open < length) {
        graft_segments_add(segments, open, length, 0);
    }
}

/* Merges each separator into the segment before it, unless that is a separator too. */
static void merge_with_previous(struct graft_segments *segments) {
    size_t n = 0;
    int previous = 0;
    for (size_t i = 0; i < segments->n; i++) {
        struct graft_segment segment = segments->items[i];
        if (segment.match && !previous && n > 0) {
            segments->items[n - 1].end = segment.end;
        } else {
            segments->items[n++] = segment;
        }
        previous = segment.match;
    }
    segments->n = n;
}

/* Merges each separator into the segment after it: the result is written from the back, then moved to the front. */
static void merge_with_next(struct graft_segments *segments) {
    size_t kept = segments->n;
    int next = 0;
    for (size_t i = segments->n; i-- > 0;) {
        struct graft_segment segment = segments->items[i];
        if (segment.match && !next && kept < segments->n) {
            segments->items[kept].start = segment.start;
        } else {
            segments->items[--kept] = segment;
        }
        next = segment.match;
    }
    for (size_t i = kept; i < segments->n; i++) {
        segments->items[i - kept] = segments->items[i];
    }
    segments->n -= kept;
}

static void merge_equal(struct graft_segments *segments) {
    size_t n = 0;
    for (size_t i = 0; i < segments->n; i++) {
        struct graft_segment segment = segments->items[i];
        if (n > 0 && segments->items[n - 1].match == segment.match) {
            segments->items[n - 1].end = segment.end;
        } else {
            segments->items[n++] = segment;
        }
    }
    segments->n = n;
}

void graft_segments_split(struct graft_segments *segments, enum graft_split_behavior behavior, const char *text,
                          int first, struct graft_pieces *out) {
    if (behavior == GRAFT_SPLIT_MERGED_WITH_PREVIOUS) {
        merge_with_previous(segments);
    } else if (behavior == GRAFT_SPLIT_MERGED_WITH_NEXT) {
        merge_with_next(segments);
    } else if (behavior == GRAFT_SPLIT_CONTIGUOUS) {
        merge_equal(segments);
    }
    for (size_t i = 0; i < segments->n; i++) {
        const struct graft_segment *segment = &segments->items[i];
        if (behavior != GRAFT_SPLIT_REMOVED || !segment->match) {
            graft_pieces_add(out, text + segment->start, segment->end - segment->start, first && segment->start == 0);
        }
    }
    out->failed |= segments->failed;
}

void graft_segments_free(struct graft_segments *segments) {
    graft_free(segments->items);
    *segments = (struct graft_segments){0};
}
