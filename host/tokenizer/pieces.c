/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/pieces.h"

#include "base/alloc.h"

static void add(struct graft_pieces *pieces, struct graft_piece piece) {
    if (pieces->failed || graft_grow(&pieces->items, &pieces->capacity, pieces->n, sizeof *pieces->items) != 0) {
        pieces->failed = 1;
        return;
    }
    pieces->items[pieces->n++] = piece;
}

void graft_pieces_add(struct graft_pieces *pieces, const char *bytes, size_t length, int first) {
    size_t start = pieces->text.length;
    graft_text_add(&pieces->text, bytes, length);
    graft_pieces_close(pieces, start, first);
}

void graft_pieces_close(struct graft_pieces *pieces, size_t start, int first) {
    pieces->failed |= pieces->text.failed;
    if (pieces->text.length > start) {
        add(pieces, (struct graft_piece){start, pieces->text.length - start, -1, first});
    }
}

void graft_pieces_add_token(struct graft_pieces *pieces, int32_t id) {
    add(pieces, (struct graft_piece){0, 0, id, 0});
}

void graft_pieces_clear(struct graft_pieces *pieces) {
    pieces->n = 0;
    pieces->text.length = 0;
}

void graft_pieces_free(struct graft_pieces *pieces) {
    graft_text_free(&pieces->text);
    graft_free(pieces->items);
    *pieces = (struct graft_pieces){0};
}
