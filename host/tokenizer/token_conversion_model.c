/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the vocabulary and the model from the class's recipe. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/model_make.h"
#include "tokenizer/token_conversion.h"
#include "tokenizer/unicode.h"

/* Reads a piece of `head` or `tail`: a text, whose score is 0, or a pair of text and score. */
static struct graft_scored_piece read_piece(const graft_json *value) {
    const graft_json *pair = graft_json_type(value) == GRAFT_JSON_ARRAY ? value : NULL;
    struct graft_scored_piece piece = {{"", 0}, graft_json_real(graft_json_at(pair, 1))};
    const char *text = graft_json_string(pair != NULL ? graft_json_at(pair, 0) : value, &piece.text.length);
    piece.text.text = text != NULL ? text : "";
    return piece;
}

static int is_text(struct graft_piece_text a, const char *text, size_t length) {
    return a.length == length && memcmp(a.text, text, length) == 0;
}

static int has_piece(const struct graft_token_conversion *conversion, const struct graft_added_token *token) {
    for (size_t i = 0; i < conversion->n_arranged; i++) {
        if (is_text(conversion->arranged[i].text, token->text, token->length)) {
            return 1;
        }
    }
    return 0;
}

enum { MAX_RENAMED = 4096 }; /* each of them is compared with all pieces */

/* Renames placeholder pieces to the token that added_tokens_decoder has for their id. */
static int rename_pieces(struct graft_token_conversion *conversion, const struct graft_config_tokens *tokens,
                         struct graft_error *error) {
    size_t renamed = 0;
    for (size_t i = 0; i < tokens->listed.n; i++) {
        const struct graft_config_token *item = &tokens->listed.items[i];
        struct graft_scored_piece *piece =
            (size_t)item->id < conversion->n_arranged ? &conversion->arranged[item->id] : NULL;
        if (piece == NULL || is_text(piece->text, item->token.text, item->token.length)) {
            continue;
        }
        if (renamed++ == MAX_RENAMED) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, item->file,
                                   "added_tokens_decoder gives other names to more than %d pieces of %s", MAX_RENAMED,
                                   conversion->path);
        }
        if (!has_piece(conversion, &item->token)) {
            piece->text = (struct graft_piece_text){item->token.text, item->token.length};
        }
    }
    return GRAFT_OK;
}

int graft_token_conversion_arrange(struct graft_token_conversion *conversion, const struct graft_config_tokens *tokens,
                                   struct graft_error *error) {
    const graft_json *entry = conversion->token_class->entry;
    int64_t skip_asked = graft_json_int(graft_json_get(graft_json_get(entry, "pieces"), "skip"));
    size_t n_head = graft_json_size(conversion->head), n_tail = graft_json_size(conversion->tail), n = 0;
    size_t skip = (size_t)skip_asked < conversion->pieces.n ? (size_t)skip_asked : conversion->pieces.n;
    conversion->arranged = graft_alloc(n_head + conversion->pieces.n + n_tail, sizeof *conversion->arranged);
    if (conversion->arranged == NULL) {
        return graft_fail_memory(error, conversion->path);
    }
    for (size_t i = 0; i < n_head; i++) {
        conversion->arranged[n++] = read_piece(graft_json_at(conversion->head, i));
    }
    for (size_t i = skip; i < conversion->pieces.n; i++) {
        const struct graft_sentence_piece *piece = &conversion->pieces.pieces[i];
        conversion->arranged[n++] = (struct graft_scored_piece){piece->text, (double)piece->score};
    }
    for (size_t i = 0; i < n_tail; i++) {
        conversion->arranged[n++] = read_piece(graft_json_at(conversion->tail, i));
    }
    conversion->n_arranged = n;
    int renames = graft_json_bool(graft_json_get(entry, "renames_pieces"));
    return renames && conversion->pieces.model_type != GRAFT_SENTENCEPIECE_UNIGRAM && tokens->has_decoder
               ? rename_pieces(conversion, tokens, error)
               : GRAFT_OK;
}

static int add_pieces(const struct graft_token_conversion *conversion, struct graft_vocab *vocab,
                      struct graft_error *error) {
    int failed = graft_vocab_reserve(vocab, conversion->n_arranged) != 0;
    for (size_t i = 0; !failed && i < conversion->n_arranged; i++) {
        const struct graft_piece_text *text = &conversion->arranged[i].text;
        failed = graft_vocab_add(vocab, text->text, text->length, (int32_t)i) != 0;
    }
    return failed ? graft_fail_memory(error, conversion->path) : GRAFT_OK;
}

static size_t line_end(const char *text, size_t length, size_t at) {
    const char *end = memchr(text + at, '\n', length - at);
    return end != NULL ? (size_t)(end - text) : length;
}

/* Length of a text without its trailing white space. */
static size_t trimmed(const char *text, size_t length) {
    while (length > 0) {
        uint32_t code;
        size_t previous = graft_utf8_previous(text, length);
        (void)graft_utf8_read(text + previous, &code);
        if (!graft_unicode_is_space(code)) {
            break;
        }
        length = previous;
    }
    return length;
}

/* Adds vocab.txt: each line is a token, whose id is the line's number from 0. Of equal lines the last counts. */
static int add_lines(const struct graft_token_conversion *conversion, struct graft_vocab *vocab,
                     struct graft_error *error) {
    struct graft_vocab all = {0};
    int32_t id = 0;
    int failed = 0;
    for (size_t at = 0; !failed && at < conversion->vocab_length; id++) {
        size_t end = line_end(conversion->vocab, conversion->vocab_length, at);
        failed = graft_vocab_add(&all, conversion->vocab + at, trimmed(conversion->vocab + at, end - at), id) != 0;
        at = end + 1;
    }
    for (size_t i = 0; !failed && i < all.count; i++) {
        const struct graft_token *token = &all.tokens[i];
        const char *text = graft_vocab_text(&all, token);
        if (graft_vocab_find(&all, text, token->length) == token) {
            failed = graft_vocab_add(vocab, text, token->length, token->id) != 0;
        }
    }
    graft_vocab_free(&all);
    return failed ? graft_fail_memory(error, conversion->path) : GRAFT_OK;
}

static int add_vocabulary(const struct graft_token_conversion *conversion, struct graft_vocab *vocab,
                          struct graft_error *error) {
    struct graft_field root = graft_field_root(NULL, conversion->path);
    struct graft_json_cursor cursor = {conversion->vocab, conversion->vocab_length, 0};
    return conversion->kind == GRAFT_VOCABULARY_PIECES  ? add_pieces(conversion, vocab, error)
           : conversion->kind == GRAFT_VOCABULARY_LINES ? add_lines(conversion, vocab, error)
                                                        : graft_vocab_read(&root, cursor, vocab, error);
}

static struct graft_text_view view_of(const graft_json *object, const char *name) {
    struct graft_text_view view = {NULL, 0};
    view.text = graft_json_string(graft_json_get(object, name), &view.length);
    return view;
}

/* Adds a merge for every way to split a piece into two other pieces; merges of earlier pieces come first. */
static int add_piece_merges(const struct graft_token_conversion *conversion, struct graft_token_model *model,
                            const struct graft_vocab *vocab, struct graft_error *error) {
    struct graft_text missing = {0};
    int status = 0;
    for (size_t i = 0; status == 0 && i < conversion->n_arranged; i++) {
        const struct graft_piece_text *piece = &conversion->arranged[i].text;
        uint32_t code;
        for (size_t cut = 0; status == 0 && cut < piece->length;) {
            cut += graft_utf8_read(piece->text + cut, &code);
            struct graft_text_view left = {piece->text, cut}, right = {piece->text + cut, piece->length - cut};
            if (right.length > 0 && graft_vocab_id(vocab, left) >= 0 && graft_vocab_id(vocab, right) >= 0) {
                status = graft_bpe_add_merge(model, left, right, &missing);
            }
        }
    }
    graft_text_free(&missing);
    return status != 0 ? graft_fail_memory(error, conversion->path) : GRAFT_OK;
}

/* Adds one line of merges.txt. */
static int add_line_merge(const struct graft_token_conversion *conversion, struct graft_token_model *model,
                          const char *line, size_t length, size_t number, struct graft_error *error) {
    const char *space = memchr(line, ' ', length);
    struct graft_text missing = {0};
    if (space == NULL || memchr(space + 1, ' ', length - (size_t)(space + 1 - line)) != NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, conversion->merges_path,
                               "line %zu: expected two tokens with a space between them", number);
    }
    struct graft_text_view left = {line, (size_t)(space - line)};
    struct graft_text_view right = {space + 1, length - left.length - 1};
    int status = graft_bpe_add_merge(model, left, right, &missing);
    if (status < 0 || missing.failed) {
        status = graft_fail_memory(error, conversion->merges_path);
    } else if (status > 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, conversion->merges_path,
                                 "line %zu: \"%s\" is not in vocab.json", number, missing.bytes);
    }
    graft_text_free(&missing);
    return status;
}

static int add_line_merges(const struct graft_token_conversion *conversion, struct graft_token_model *model,
                           struct graft_error *error) {
    static const char version[] = "#version";
    int status = GRAFT_OK;
    size_t number = 0;
    for (size_t at = 0; status == GRAFT_OK && at < conversion->merges_length;) {
        const char *line = conversion->merges + at;
        size_t end = line_end(conversion->merges, conversion->merges_length, at), length = end - at;
        length -= length > 0 && line[length - 1] == '\r';
        number++;
        if (length < sizeof version - 1 || memcmp(line, version, sizeof version - 1) != 0) {
            status = add_line_merge(conversion, model, line, length, number, error);
        }
        at = end + 1;
    }
    return status;
}

static int make_bpe(const struct graft_token_conversion *conversion, const graft_json *settings,
                    struct graft_vocab *vocab, struct graft_token_model **model, struct graft_error *error) {
    const struct graft_bpe_settings bpe = {
        .unk_token = view_of(settings, "unk_token"),
        .continuing_subword_prefix = view_of(settings, "continuing_subword_prefix"),
        .end_of_word_suffix = view_of(settings, "end_of_word_suffix"),
        .ignore_merges = graft_json_bool(graft_json_get(settings, "ignore_merges")),
        .byte_fallback = graft_json_bool(graft_json_get(settings, "byte_fallback")),
        .fuse_unk = graft_json_bool(graft_json_get(settings, "fuse_unk")),
    };
    int status = graft_bpe_create(conversion->path, vocab, &bpe, model, error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = conversion->kind == GRAFT_VOCABULARY_PIECES ? add_piece_merges(conversion, *model, vocab, error)
                                                         : add_line_merges(conversion, *model, error);
    if (status != GRAFT_OK) {
        graft_token_model_destroy(*model);
        *model = NULL;
    }
    return status;
}

static int make_unigram(const struct graft_token_conversion *conversion, const graft_json *settings,
                        struct graft_vocab *vocab, struct graft_token_model **model, struct graft_error *error) {
    int64_t unk_id = graft_json_int(graft_json_get(settings, "unk_id"));
    double *scores = graft_alloc(conversion->n_arranged, sizeof *scores);
    if (scores == NULL) {
        return graft_fail_memory(error, conversion->path);
    }
    for (size_t i = 0; i < conversion->n_arranged; i++) {
        scores[i] = conversion->arranged[i].score;
    }
    const struct graft_unigram_settings unigram = {
        .scores = scores,
        .unk_id = (int32_t)unk_id,
        .byte_fallback = graft_json_bool(graft_json_get(settings, "byte_fallback")),
    };
    int status = unk_id >= 0 && unk_id < (int64_t)conversion->n_arranged
                     ? graft_unigram_create(conversion->path, vocab, &unigram, model, error)
                     : graft_error_set(error, GRAFT_ERROR_MODEL, conversion->path,
                                       "the unknown token's id is %lld, and there are %zu pieces", (long long)unk_id,
                                       conversion->n_arranged);
    graft_free(scores);
    return status;
}

int graft_token_conversion_model(struct graft_token_conversion *conversion, struct graft_vocab *vocab,
                                 struct graft_token_model **model, struct graft_error *error) {
    const graft_json *settings = graft_json_get(conversion->rest, "model");
    const char *type = graft_json_string(graft_json_get(settings, "type"), NULL);
    int has_scores = conversion->kind == GRAFT_VOCABULARY_PIECES;
    int is_unigram = strcmp(type, "Unigram") == 0, is_bpe = strcmp(type, "BPE") == 0;
    if ((is_unigram && !has_scores) || (!is_unigram && !is_bpe && has_scores)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, conversion->path,
                               "the tokenizer class %s makes a %s model, for which this is not the right kind of file",
                               conversion->token_class->name, type);
    }
    int status = add_vocabulary(conversion, vocab, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_wordpiece_settings words = {
        .unk_token = view_of(settings, "unk_token"),
        .prefix = view_of(settings, "continuing_subword_prefix"),
        .max_characters = graft_json_int(graft_json_get(settings, "max_input_chars_per_word")),
    };
    return is_bpe       ? make_bpe(conversion, settings, vocab, model, error)
           : is_unigram ? make_unigram(conversion, settings, vocab, model, error)
                        : graft_wordpiece_create(conversion->path, vocab, &words, model, error);
}
