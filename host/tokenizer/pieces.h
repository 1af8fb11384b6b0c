/* SPDX-License-Identifier: Apache-2.0 */
/* A text that is split into pieces, as it passes from one step of an encode to the next. A piece is a text that is
 * still to be processed, or a token whose id is already known. Every step reads one list and writes another. */
#ifndef GRAFT_TOKENIZER_PIECES_H
#define GRAFT_TOKENIZER_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct graft_piece {
    size_t start; /* offset of its bytes in the list's text */
    size_t length;
    int32_t id; /* id of a known token, which has no bytes; -1: the piece is text */
    int first;  /* whether the piece is the beginning of the whole text */
};

/* Starts as {0}. After a failed allocation `failed` is set and later calls do nothing. */
struct graft_pieces {
    struct graft_text text;
    struct graft_piece *items; /* [n] */
    size_t n;
    size_t capacity;
    int failed;
};

/* Appends a piece of text; an empty one is left out. */
void graft_pieces_add(struct graft_pieces *pieces, const char *bytes, size_t length, int first);
/* Makes a piece of the text that was appended to `pieces->text` after its first `start` bytes, if there is any. */
void graft_pieces_close(struct graft_pieces *pieces, size_t start, int first);
void graft_pieces_add_token(struct graft_pieces *pieces, int32_t id);
/* Empties the list and keeps its memory. */
void graft_pieces_clear(struct graft_pieces *pieces);
void graft_pieces_free(struct graft_pieces *pieces);

static inline const char *graft_piece_text(const struct graft_pieces *pieces, const struct graft_piece *piece) {
    return pieces->text.bytes + piece->start;
}

#endif
