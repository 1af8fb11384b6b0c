/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text cut into pieces, as it goes from step to step of an encode. A piece is text still to be worked on, or a token
 * whose id is known already. Every step reads one list and writes the next.
 */
#ifndef GRAFT_TOKENIZER_PIECES_H
#define GRAFT_TOKENIZER_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct graft_piece {
    size_t start; /* of its bytes in the list's text */
    size_t length;
    int32_t id; /* of a known token, which has no bytes; -1 for text */
    int first;  /* whether it starts where the whole text does */
};

/* Starts as {0}. After a failed allocation `failed` is set and later calls do nothing. */
struct graft_pieces {
    struct graft_text text;
    struct graft_piece *items; /* [n] */
    size_t n;
    size_t capacity;
    int failed;
};

/* Adds a piece of text; an empty one is left out. */
void graft_pieces_add(struct graft_pieces *pieces, const char *bytes, size_t length, int first);
/* Makes what was added to `pieces->text` since it had `start` bytes a piece; none when that is nothing. */
void graft_pieces_close(struct graft_pieces *pieces, size_t start, int first);
void graft_pieces_add_token(struct graft_pieces *pieces, int32_t id);
/* Empties the list and keeps its memory. */
void graft_pieces_clear(struct graft_pieces *pieces);
void graft_pieces_free(struct graft_pieces *pieces);

static inline const char *graft_piece_text(const struct graft_pieces *pieces, const struct graft_piece *piece) {
    return pieces->text.bytes + piece->start;
}

#endif
