/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of a model's tokens, for stop strings. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "graft/host/tokenizer.h"
#include "library/library.h"
#include "tokenizer/byte_alphabet.h"

static const char before[] = "abcdef"; /* so that a token is decoded as in the middle of a text */
static const char unknown[] = "\xEF\xBF\xBD";

/* Adds the byte of a token such as "<0x0A>", or the bytes of a character of the byte alphabet, which alone may decode
 * to U+FFFD because they are part of a character. */
static void add_bytes(const char *token, size_t length, struct graft_text *text) {
    unsigned byte;
    char end;
    if (length == 6 && sscanf(token, "<0x%2x%c", &byte, &end) == 2 && end == '>') {
        graft_text_add(text, (const char[]){(char)byte}, 1);
        return;
    }
    for (size_t at = 0; at < length;) {
        uint32_t code;
        const size_t size = graft_utf8_read(token + at, &code);
        const int value = graft_byte_from_character(code);
        graft_text_add(text, value >= 0 ? (const char[]){(char)value} : token + at, value >= 0 ? 1 : size);
        at += size;
    }
}

/* Adds the text that a token decodes to after the ids of `before`. `token` [length] is its entry in the vocabulary. */
static int add_text_after(const struct graft_tokenizer *tokenizer, struct graft_ids *ids, int32_t id, const char *token,
                          size_t length, struct graft_text *text, struct graft_error *error) {
    struct graft_text decoded = {0};
    graft_ids_add(ids, id);
    int status = ids->failed ? graft_fail_memory(error, "tokenizer")
                             : graft_tokenizer_decode(tokenizer, ids->ids, ids->n, 0, &decoded, error);
    const char *found = status == GRAFT_OK && decoded.bytes != NULL ? strstr(decoded.bytes, before) : NULL;
    const char *rest = found != NULL ? found + sizeof before - 1 : token;
    if (status == GRAFT_OK && strstr(rest, unknown) != NULL) {
        add_bytes(token, length, text);
    } else if (status == GRAFT_OK) {
        graft_text_add(text, rest, strlen(rest));
    }
    ids->n -= !ids->failed;
    graft_text_free(&decoded);
    return status;
}

static int encode_before(const struct graft_tokenizer *tokenizer, struct graft_ids *ids, struct graft_error *error) {
    return graft_tokenizer_encode(tokenizer, before, sizeof before - 1, 0, ids, error);
}

static int add_text(const void *data, int32_t id, struct graft_text *text, struct graft_error *error) {
    const struct graft_model *model = data;
    size_t length = 0;
    const char *token = graft_tokenizer_token(model->tokenizer, id, &length);
    struct graft_ids ids = {0};
    if (token == NULL) {
        return GRAFT_OK;
    }
    int status = encode_before(model->tokenizer, &ids, error);
    if (status == GRAFT_OK) {
        status = add_text_after(model->tokenizer, &ids, id, token, length, text, error);
    }
    graft_ids_free(&ids);
    return status;
}

int graft_token_bytes(const struct graft_tokenizer *tokenizer, struct graft_text *bytes, size_t **places, size_t *size,
                      struct graft_error *error) {
    struct graft_ids ids = {0};
    *size = (size_t)(graft_tokenizer_max_id(tokenizer) + 1);
    *places = graft_alloc(*size + 1, sizeof **places);
    int status = *places != NULL ? encode_before(tokenizer, &ids, error) : graft_fail_memory(error, "tokenizer");
    for (size_t id = 0; id < *size && status == GRAFT_OK; id++) {
        size_t length = 0;
        const char *token = graft_tokenizer_token(tokenizer, (int32_t)id, &length);
        (*places)[id] = bytes->length;
        if (token != NULL && !graft_tokenizer_is_special(tokenizer, (int32_t)id)) {
            status = add_text_after(tokenizer, &ids, (int32_t)id, token, length, bytes, error);
        }
        status = status == GRAFT_OK && bytes->failed ? graft_fail_memory(error, "tokenizer") : status;
    }
    if (status == GRAFT_OK) {
        (*places)[*size] = bytes->length;
    } else {
        graft_text_free(bytes);
        graft_free(*places);
        *places = NULL;
    }
    graft_ids_free(&ids);
    return status;
}

int graft_model_token_texts(struct graft_model *model, const struct graft_generation *generation,
                            struct graft_token_texts *texts, struct graft_error *error) {
    struct graft_error found = graft_error_none();
    *texts = (struct graft_token_texts){add_text, model};
    if (generation->n_stop_strings == 0 || model->tokenizer != NULL) {
        return GRAFT_OK;
    }
    const struct graft_tokenizer_options options = {sizeof options, model->ignored.n, model->ignored.names};
    int status = graft_tokenizer_load_with(model->directory, &options, &model->tokenizer, &found);
    if (status == GRAFT_OK) {
        return GRAFT_OK;
    }
    (void)graft_error_set(error, status, "stop_strings", "%s: %s", found.source, found.message);
    graft_error_hint(error, "%s", found.hint);
    return status;
}
