/* SPDX-License-Identifier: Apache-2.0 */
/* Where a separator was found in a text and where not, and what a pre-tokenizer makes of that. */
#ifndef GRAFT_TOKENIZER_SEGMENTS_H
#define GRAFT_TOKENIZER_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "tokenizer/pieces.h"

struct graft_segment {
    size_t start;
    size_t end;
    int match; /* is a separator */
};

/* Starts as {0}; covers the text without gaps. After a failed allocation `failed` is set. */
struct graft_segments {
    struct graft_segment *items; /* [n] */
    size_t n;
    size_t capacity;
    int failed;
};

/* What becomes of a separator. */
enum graft_split_behavior {
    GRAFT_SPLIT_REMOVED,
    GRAFT_SPLIT_ISOLATED,             /* a piece of its own */
    GRAFT_SPLIT_MERGED_WITH_PREVIOUS, /* part of the piece before it */
    GRAFT_SPLIT_MERGED_WITH_NEXT,
    GRAFT_SPLIT_CONTIGUOUS, /* a piece together with the separators that follow at once */
};

void graft_segments_add(struct graft_segments *segments, size_t start, size_t end, int match);

/* Starts anew with one-character segments where `is_separator` says so. */
void graft_segments_by_character(struct graft_segments *segments, const char *text, size_t length,
                                 int (*is_separator)(uint32_t code));

/* Adds the pieces that `text` falls into. `first` says whether the text is a first piece. Changes the segments. */
void graft_segments_split(struct graft_segments *segments, enum graft_split_behavior behavior, const char *text,
                          int first, struct graft_pieces *out);

void graft_segments_free(struct graft_segments *segments);

#endif
