/* SPDX-License-Identifier: Apache-2.0 */
/* The separators in a text and the text between them, and the pieces that a pre-tokenizer makes of both. */
#ifndef GRAFT_TOKENIZER_SEGMENTS_H
#define GRAFT_TOKENIZER_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "tokenizer/pieces.h"

struct graft_segment {
    size_t start;
    size_t end;
    int match; /* whether it is a separator */
};

/* Starts as {0}. Segments cover the text without gaps. After a failed allocation `failed` is set. */
struct graft_segments {
    struct graft_segment *items; /* [n] */
    size_t n;
    size_t capacity;
    int failed;
};

/* Where separators end up. */
enum graft_split_behavior {
    GRAFT_SPLIT_REMOVED,
    GRAFT_SPLIT_ISOLATED,             /* a piece of its own */
    GRAFT_SPLIT_MERGED_WITH_PREVIOUS, /* part of the piece before it */
    GRAFT_SPLIT_MERGED_WITH_NEXT,
    GRAFT_SPLIT_CONTIGUOUS, /* adjacent separators are one piece */
};

void graft_segments_add(struct graft_segments *segments, size_t start, size_t end, int match);

/* Replaces the segments by one-character segments; `is_separator` decides which are separators. */
void graft_segments_by_character(struct graft_segments *segments, const char *text, size_t length,
                                 int (*is_separator)(uint32_t code));

/* Appends the pieces of `text`. `first`: the text is the beginning of the whole text. Changes the segments. */
void graft_segments_split(struct graft_segments *segments, enum graft_split_behavior behavior, const char *text,
                          int first, struct graft_pieces *out);

void graft_segments_free(struct graft_segments *segments);

#endif
