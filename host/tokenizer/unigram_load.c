/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a Unigram model, whose vocabulary is an array of tokens and scores, [["<unk>", 0.0], ...]. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/model_make.h"
#include "tokenizer/score.h"

/* State while the vocabulary is read. */
struct reader {
    struct graft_json_cursor cursor;
    struct graft_vocab *vocab;
    double *scores; /* [vocab->count] */
    size_t capacity;
    struct graft_text token;
    struct graft_score_powers powers;
};

/* ["token", score] */
static int read_piece(struct reader *reader, const struct graft_field *spec, struct graft_error *error) {
    struct graft_json_cursor *cursor = &reader->cursor;
    struct graft_vocab *vocab = reader->vocab;
    double score = 0.0;
    reader->token.length = 0;
    int well_formed = graft_json_cursor_take(cursor, '[') && graft_json_cursor_string(cursor, &reader->token) == 0 &&
                      graft_json_cursor_take(cursor, ',') && graft_score_read(cursor, &reader->powers, &score) == 0 &&
                      graft_json_cursor_take(cursor, ']');
    if (reader->token.failed) {
        return graft_fail_memory(error, spec->file);
    }
    if (!well_formed) {
        return graft_field_error(spec, error, "expected a token and its score, [\"a\", -1.5]");
    }
    if (graft_grow(&reader->scores, &reader->capacity, vocab->count, sizeof *reader->scores) != 0) {
        return graft_fail_memory(error, spec->file);
    }
    reader->scores[vocab->count] = score;
    return graft_vocab_add(vocab, reader->token.bytes, reader->token.length, (int32_t)vocab->count) == 0
               ? GRAFT_OK
               : graft_fail_memory(error, spec->file);
}

static int read_pieces(struct reader *reader, const struct graft_field *spec, struct graft_error *error) {
    struct graft_field piece = {NULL, spec->file, spec, NULL, 0};
    int status = GRAFT_OK, more = 0;
    if (!graft_json_cursor_take(&reader->cursor, '[')) {
        return graft_field_error(spec, error, "expected an array of tokens and their scores");
    }
    while (status == GRAFT_OK && (more = graft_json_cursor_more(&reader->cursor, ']', piece.index)) > 0) {
        status = read_piece(reader, &piece, error);
        piece.index++;
    }
    if (status == GRAFT_OK && more < 0) {
        status = graft_field_error(spec, error, "expected a comma or the end, %zu bytes in", reader->cursor.at);
    }
    return status;
}

int graft_token_model_read_unigram(const struct graft_field *spec, const struct graft_document *document,
                                   struct graft_vocab *vocab, struct graft_token_model **made,
                                   struct graft_error *error) {
    struct fields {
        int64_t unk_id;
        int byte_fallback;
    } fields = {-1, 0};
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"vocab", .kind = GRAFT_MEMBER_SKIPPED},
        {"unk_id", GRAFT_MEMBER_INT, .offset = offsetof(struct fields, unk_id), .is_optional = 1, .most = INT32_MAX},
        {"byte_fallback", GRAFT_MEMBER_FLAG, .offset = offsetof(struct fields, byte_fallback), .is_optional = 1},
        {0},
    };
    struct graft_field vocab_field = graft_field_get(spec, "vocab");
    struct reader reader = {.cursor = document->vocab, .vocab = vocab};
    int status = graft_field_read(spec, members, &fields, error);
    if (status == GRAFT_OK) {
        status = read_pieces(&reader, &vocab_field, error);
    }
    if (status == GRAFT_OK && fields.unk_id >= (int64_t)vocab->count) {
        const struct graft_field field = graft_field_get(spec, "unk_id");
        status = graft_field_error(&field, error, "the id is %lld, but the vocabulary has %zu tokens",
                                   (long long)fields.unk_id, vocab->count);
    }
    const struct graft_unigram_settings settings = {
        .scores = reader.scores, .unk_id = (int32_t)fields.unk_id, .byte_fallback = fields.byte_fallback};
    if (status == GRAFT_OK) {
        status = graft_unigram_create(spec->file, vocab, &settings, made, error);
    }
    graft_free(reader.scores);
    graft_text_free(&reader.token);
    return status;
}
