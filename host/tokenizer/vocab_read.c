/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a vocabulary from an object that maps tokens to ids. */
#include "base/fail.h"
#include "tokenizer/model.h"

static int add_token(struct graft_vocab *vocab, const struct graft_field *spec, const struct graft_text *token,
                     int64_t id, struct graft_error *error) {
    if (id < 0 || id > INT32_MAX) {
        return graft_field_error(spec, error, "the id %lld of \"%s\" is not between 0 and %ld", (long long)id,
                                 token->bytes, (long)INT32_MAX);
    }
    const struct graft_token *other = graft_vocab_find_id(vocab, (int32_t)id);
    if (graft_vocab_find(vocab, token->bytes, token->length) != NULL) {
        return graft_field_error(spec, error, "\"%s\" appears twice", token->bytes);
    }
    if (other != NULL) {
        return graft_field_error(spec, error, "\"%s\" and \"%s\" have the same id %lld", graft_vocab_text(vocab, other),
                                 token->bytes, (long long)id);
    }
    return graft_vocab_add(vocab, token->bytes, token->length, (int32_t)id) == 0 ? GRAFT_OK
                                                                                 : graft_fail_memory(error, spec->file);
}

/* Reads one member, "token": id. `token` is scratch. */
static int read_token(struct graft_json_cursor *cursor, struct graft_vocab *vocab, const struct graft_field *spec,
                      struct graft_text *token, struct graft_error *error) {
    int64_t id;
    token->length = 0;
    if (graft_json_cursor_string(cursor, token) != 0 || !graft_json_cursor_take(cursor, ':')) {
        return token->failed ? graft_fail_memory(error, spec->file)
                             : graft_field_error(spec, error, "expected a token, %zu bytes in", cursor->at);
    }
    if (token->failed) {
        return graft_fail_memory(error, spec->file);
    }
    if (graft_json_cursor_integer(cursor, &id) != 0) {
        return graft_field_error(spec, error, "the id of \"%s\" is not an integer", token->bytes);
    }
    return add_token(vocab, spec, token, id, error);
}

/* Estimated bytes of a member in the file, for the tables' initial size; indented files have more. */
enum { BYTES_A_MEMBER = 20 };

int graft_vocab_read(const struct graft_field *spec, struct graft_json_cursor cursor, struct graft_vocab *vocab,
                     struct graft_error *error) {
    struct graft_text token = {0};
    int status = GRAFT_OK;
    if (!graft_json_cursor_take(&cursor, '{')) {
        return graft_field_error(spec, error, "expected an object that gives each token its id");
    }
    if (graft_vocab_reserve(vocab, cursor.length / BYTES_A_MEMBER) != 0) {
        return graft_fail_memory(error, spec->file);
    }
    int more = 0;
    for (size_t n = 0; status == GRAFT_OK && (more = graft_json_cursor_more(&cursor, '}', n)) > 0; n++) {
        status = read_token(&cursor, vocab, spec, &token, error);
    }
    if (status == GRAFT_OK && more < 0) {
        status = graft_field_error(spec, error, "expected a comma or the end, %zu bytes in", cursor.at);
    }
    graft_text_free(&token);
    return status;
}
