/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes text as ids: runs the steps of the tokenizer in order. */
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/pipeline.h"

/* Splits the raw text at added tokens, normalizes the rest, and splits that at the normalized added tokens. */
static int find_added(const struct graft_tokenizer *tokenizer, const char *text, size_t length,
                      const struct graft_added_marks *marks, struct graft_pieces *pieces, struct graft_error *error) {
    struct graft_pieces raw = {0};
    struct graft_text normal = {0};
    int status = GRAFT_OK;
    graft_added_split(&tokenizer->added, GRAFT_ADDED_RAW, marks, text, length, 1, &raw);
    for (size_t i = 0; status == GRAFT_OK && i < raw.n; i++) {
        const struct graft_piece *piece = &raw.items[i];
        if (piece->id >= 0) {
            graft_pieces_add_token(pieces, piece->id);
            continue;
        }
        normal.length = 0;
        graft_text_add(&normal, graft_piece_text(&raw, piece), piece->length);
        status = normal.failed ? graft_fail_memory(error, tokenizer->path)
                               : graft_normalizer_run(tokenizer->normalizer, &normal, error);
        if (status == GRAFT_OK) {
            graft_added_split(&tokenizer->added, GRAFT_ADDED_NORMALIZED, marks, normal.bytes, normal.length,
                              piece->first, pieces);
        }
    }
    if (status == GRAFT_OK && (raw.failed || pieces->failed)) {
        status = graft_fail_memory(error, tokenizer->path);
    }
    graft_text_free(&normal);
    graft_pieces_free(&raw);
    return status;
}

static int apply_model(const struct graft_tokenizer *tokenizer, const struct graft_pieces *pieces,
                       struct graft_ids *ids, struct graft_error *error) {
    struct graft_model_work work = {0};
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < pieces->n; i++) {
        const struct graft_piece *piece = &pieces->items[i];
        if (piece->id >= 0) {
            graft_ids_add(ids, piece->id);
        } else {
            status = tokenizer->model->encode(tokenizer->model, graft_piece_text(pieces, piece), piece->length, &work,
                                              ids, error);
        }
    }
    if (status == GRAFT_OK && ids->failed) {
        status = graft_fail_memory(error, tokenizer->path);
    }
    graft_model_work_free(&work);
    return status;
}

/* The ids of one text, without the tokens that the post-processor puts around it; `marks` may be NULL. */
static int encode_text(const struct graft_tokenizer *tokenizer, const struct graft_text_view *view,
                       const struct graft_added_marks *marks, struct graft_ids *ids, struct graft_error *error) {
    struct graft_text text = {0};
    struct graft_pieces pieces = {0};
    int status = GRAFT_OK;
    (void)graft_utf8_lossy(view->text, view->length, 1, &text);
    if (text.failed) {
        status = graft_fail_memory(error, tokenizer->path);
    }
    if (status == GRAFT_OK) {
        status = find_added(tokenizer, text.bytes, text.length, marks, &pieces, error);
    }
    if (status == GRAFT_OK) {
        status = graft_pretokenizer_run(tokenizer->pretokenizer, &pieces, error);
    }
    if (status == GRAFT_OK) {
        status = apply_model(tokenizer, &pieces, ids, error);
    }
    graft_pieces_free(&pieces);
    graft_text_free(&text);
    return status;
}

int graft_tokenizer_encode(const struct graft_tokenizer *tokenizer, const char *text, size_t length,
                           int add_special_tokens, struct graft_ids *ids, struct graft_error *error) {
    struct graft_text_view view = {text, length};
    return graft_tokenizer_encode_pair(tokenizer, &view, NULL, add_special_tokens, ids, NULL, error);
}

int graft_tokenizer_encode_pair(const struct graft_tokenizer *tokenizer, const struct graft_text_view *first,
                                const struct graft_text_view *second, int add_special_tokens, struct graft_ids *ids,
                                struct graft_ids *types, struct graft_error *error) {
    struct graft_ids first_ids = {0}, second_ids = {0};
    int status = encode_text(tokenizer, first, NULL, &first_ids, error);
    if (status == GRAFT_OK && second != NULL) {
        status = encode_text(tokenizer, second, NULL, &second_ids, error);
    }
    if (status == GRAFT_OK) {
        status = graft_postprocessor_run(tokenizer->postprocessor, &first_ids, second != NULL ? &second_ids : NULL,
                                         add_special_tokens, tokenizer->path, ids, types, error);
    }
    graft_ids_free(&first_ids);
    graft_ids_free(&second_ids);
    return status;
}

int graft_tokenizer_encode_within(const struct graft_tokenizer *tokenizer, const char *text, size_t length,
                                  size_t limit, struct graft_ids *ids, int *cut, struct graft_error *error) {
    const struct graft_text_view view = {text, length};
    const struct graft_ids nothing = {0};
    struct graft_ids own = {0}, around = {0};
    int status = encode_text(tokenizer, &view, NULL, &own, error);
    if (status == GRAFT_OK) {
        status =
            graft_postprocessor_run(tokenizer->postprocessor, &nothing, NULL, 1, tokenizer->path, &around, NULL, error);
    }
    if (status == GRAFT_OK) {
        size_t room = limit > around.n ? limit - around.n : 0;
        *cut = own.n > room;
        struct graft_ids kept = own;
        if (*cut) {
            kept.n = room;
            kept.ids += tokenizer->truncates_left ? own.n - room : 0;
        }
        status = graft_postprocessor_run(tokenizer->postprocessor, &kept, NULL, 1, tokenizer->path, ids, NULL, error);
    }
    graft_ids_free(&own);
    graft_ids_free(&around);
    return status;
}

int graft_tokenizer_encode_marked(const struct graft_tokenizer *tokenizer, const char *text, size_t length,
                                  const struct graft_added_marks *marks, struct graft_ids *ids,
                                  struct graft_error *error) {
    const struct graft_text_view view = {text, length};
    return encode_text(tokenizer, &view, marks, ids, error);
}
