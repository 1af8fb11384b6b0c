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
static int read_piece(struct reader *reader, const struct graft_spec *spec, struct graft_error *error) {
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
        return graft_spec_error(spec, error, "expected a token and its score, [\"a\", -1.5]");
    }
    if (graft_grow(&reader->scores, &reader->capacity, vocab->count, sizeof *reader->scores) != 0) {
        return graft_fail_memory(error, spec->file);
    }
    reader->scores[vocab->count] = score;
    return graft_vocab_add(vocab, reader->token.bytes, reader->token.length, (int32_t)vocab->count) == 0
               ? GRAFT_OK
               : graft_fail_memory(error, spec->file);
}

static int read_pieces(struct reader *reader, const struct graft_spec *spec, struct graft_error *error) {
    struct graft_spec piece = {NULL, spec->file, spec, NULL, 0};
    int status = GRAFT_OK, more = 0;
    if (!graft_json_cursor_take(&reader->cursor, '[')) {
        return graft_spec_error(spec, error, "expected an array of tokens and their scores");
    }
    while (status == GRAFT_OK && (more = graft_json_cursor_more(&reader->cursor, ']', piece.index)) > 0) {
        status = read_piece(reader, &piece, error);
        piece.index++;
    }
    if (status == GRAFT_OK && more < 0) {
        status = graft_spec_error(spec, error, "expected a comma or the end, %zu bytes in", reader->cursor.at);
    }
    return status;
}

static int read_unk(const struct graft_spec *spec, size_t n_tokens, int32_t *unk, struct graft_error *error) {
    struct graft_spec field = graft_spec_get(spec, "unk_id");
    int64_t id = -1;
    int status = GRAFT_OK;
    if (!graft_spec_is_none(&field)) {
        status = graft_spec_count(spec, "unk_id", INT32_MAX, &id, error);
    }
    if (status == GRAFT_OK && id >= (int64_t)n_tokens) {
        status = graft_spec_error(&field, error, "the id is %lld, but the vocabulary has %zu tokens", (long long)id,
                                  n_tokens);
    }
    *unk = (int32_t)id;
    return status;
}

int graft_token_model_read_unigram(const struct graft_spec *spec, const struct graft_document *document,
                                   struct graft_vocab *vocab, struct graft_token_model **made,
                                   struct graft_error *error) {
    static const char *const keys[] = {"type", "unk_id", "vocab", "byte_fallback", NULL};
    struct graft_spec vocab_field = graft_spec_get(spec, "vocab");
    struct graft_unigram_settings settings = {0};
    struct reader reader = {.cursor = document->vocab, .vocab = vocab};
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = read_pieces(&reader, &vocab_field, error);
    }
    if (status == GRAFT_OK) {
        status = read_unk(spec, vocab->count, &settings.unk_id, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "byte_fallback", 0, &settings.byte_fallback, error);
    }
    settings.scores = reader.scores;
    if (status == GRAFT_OK) {
        status = graft_unigram_create(spec->file, vocab, &settings, made, error);
    }
    graft_free(reader.scores);
    graft_text_free(&reader.token);
    return status;
}
