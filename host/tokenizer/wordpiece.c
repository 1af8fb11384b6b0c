/* SPDX-License-Identifier: Apache-2.0 */
/* WordPiece: the longest token that begins the word, then the longest that continues it; else the word is unknown. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/model.h"
#include "tokenizer/utf8.h"

/* Every word is tried at every length; this bounds what that can cost. */
enum { MAX_CHARACTERS = 1000 };

struct wordpiece {
    struct graft_token_model base;
    const struct graft_vocab *vocab;
    struct graft_text prefix; /* of tokens that continue a word */
    size_t longest;           /* bytes of the longest token: no longer part need be looked up */
    int64_t max_characters;   /* of a word that is cut at all */
    int32_t unk;
};

/* The longest token at the start of `rest`; its part of `rest` has `*length` bytes. `word` is memory for look-ups. */
static const struct graft_token *find_longest(const struct wordpiece *model, const char *rest, size_t *length,
                                              int continues, struct graft_text *word) {
    size_t prefix = continues ? model->prefix.length : 0;
    size_t n = *length + prefix <= model->longest ? *length : model->longest - prefix;
    while (n < *length && n > 0 && ((unsigned char)rest[n] & 0xC0) == 0x80) {
        n--;
    }
    word->length = 0;
    graft_text_add(word, model->prefix.bytes, prefix);
    graft_text_add(word, rest, n);
    while (n > 0 && !word->failed) {
        const struct graft_token *token = graft_vocab_find(model->vocab, word->bytes, prefix + n);
        if (token != NULL) {
            *length = n;
            return token;
        }
        n = graft_utf8_previous(rest, n);
    }
    return NULL;
}

static int encode(const struct graft_token_model *self, const char *word, size_t length, struct graft_merge_work *work,
                  struct graft_ids *out, struct graft_error *error) {
    const struct wordpiece *model = (const struct wordpiece *)self;
    struct graft_text scratch = {0};
    size_t before = out->n, at = 0;
    (void)work;
    if (graft_utf8_count(word, length) <= (uint64_t)model->max_characters) {
        while (at < length) {
            size_t n = length - at;
            const struct graft_token *token = find_longest(model, word + at, &n, at > 0, &scratch);
            if (token == NULL) {
                break;
            }
            graft_ids_add(out, token->id);
            at += n;
        }
    }
    int failed = scratch.failed;
    graft_text_free(&scratch);
    if (failed) {
        return graft_fail_memory(error, "WordPiece");
    }
    if (at < length) {
        out->n = before;
        graft_ids_add(out, model->unk);
    }
    return GRAFT_OK;
}

static void destroy(struct graft_token_model *self) {
    graft_text_free(&((struct wordpiece *)self)->prefix);
    graft_free(self);
}

static int read_unk(struct wordpiece *model, const struct graft_spec *spec, struct graft_error *error) {
    struct graft_spec field = graft_spec_get(spec, "unk_token");
    const char *unk;
    size_t length = 0;
    int status = graft_spec_string(spec, "unk_token", &unk, &length, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_token *token = graft_vocab_find(model->vocab, unk, length);
    if (token == NULL) {
        return graft_spec_error(&field, error, "\"%s\" is not in the vocabulary", unk);
    }
    model->unk = token->id;
    return GRAFT_OK;
}

static int read_settings(struct wordpiece *model, const struct graft_spec *spec, struct graft_error *error) {
    static const char *const keys[] = {"type",  "unk_token", "continuing_subword_prefix", "max_input_chars_per_word",
                                       "vocab", NULL};
    const char *prefix;
    size_t length = 0;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = read_unk(model, spec, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_count(spec, "max_input_chars_per_word", MAX_CHARACTERS, &model->max_characters, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_string(spec, "continuing_subword_prefix", &prefix, &length, error);
    }
    if (status == GRAFT_OK) {
        graft_text_add(&model->prefix, prefix, length);
        status = model->prefix.failed ? graft_fail_memory(error, spec->file) : GRAFT_OK;
    }
    return status;
}

int graft_token_model_create_wordpiece(const struct graft_spec *spec, const struct graft_document *document,
                                       const struct graft_vocab *vocab, struct graft_token_model **made,
                                       struct graft_error *error) {
    struct wordpiece *model = graft_alloc(1, sizeof *model);
    if (model == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    (void)document;
    model->base.encode = encode;
    model->base.destroy = destroy;
    model->vocab = vocab;
    int status = read_settings(model, spec, error);
    if (status != GRAFT_OK) {
        destroy(&model->base);
        return status;
    }
    model->longest = model->prefix.length;
    for (size_t i = 0; i < vocab->count; i++) {
        model->longest = vocab->tokens[i].length > model->longest ? vocab->tokens[i].length : model->longest;
    }
    *made = &model->base;
    return GRAFT_OK;
}
