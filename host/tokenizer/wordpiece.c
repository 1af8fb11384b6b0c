/* SPDX-License-Identifier: Apache-2.0 */
/* WordPiece: takes the longest token that begins the word, then the longest that continues it, and so on; if none does,
 * the word is unknown. */
#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/model_make.h"

struct wordpiece {
    struct graft_token_model base;
    struct graft_lexicon lexicon;
    int continues;           /* whether any token has the prefix */
    uint32_t continuing;     /* the lexicon's node that the prefix leads to */
    uint64_t max_characters; /* a longer word is unknown */
    int32_t unk;             /* id of the unknown token; -1: the vocabulary lacks it */
    char *file;
};

/* Splits a word into tokens, and appends their ids. Returns whether that is possible. */
static int cut(const struct wordpiece *model, const char *word, size_t length, struct graft_ids *out) {
    size_t before = out->n;
    for (size_t at = 0; at < length;) {
        size_t taken = 0;
        int32_t id = -1;
        if (at == 0 || model->continues) {
            taken =
                graft_lexicon_longest(&model->lexicon, at == 0 ? 0 : model->continuing, word + at, length - at, &id);
        }
        if (taken == 0) {
            out->n = before;
            return 0;
        }
        graft_ids_add(out, id);
        at += taken;
    }
    return 1;
}

static int encode(const struct graft_token_model *self, const char *word, size_t length, struct graft_model_work *work,
                  struct graft_ids *out, struct graft_error *error) {
    const struct wordpiece *model = (const struct wordpiece *)self;
    (void)work;
    if (graft_utf8_count(word, length) <= model->max_characters && cut(model, word, length, out)) {
        return GRAFT_OK;
    }
    if (model->unk < 0) {
        return graft_unk_token_needed(model->file, error);
    }
    graft_ids_add(out, model->unk);
    return GRAFT_OK;
}

static void destroy(struct graft_token_model *self) {
    struct wordpiece *model = (struct wordpiece *)self;
    graft_lexicon_free(&model->lexicon);
    graft_free(model->file);
    graft_free(model);
}

static void find_prefix(struct wordpiece *model, struct graft_text_view prefix) {
    model->continues = 1;
    for (size_t i = 0; i < prefix.length && model->continues; i++) {
        model->continuing = graft_lexicon_step(&model->lexicon, model->continuing, prefix.text[i]);
        model->continues = model->continuing != 0;
    }
}

int graft_wordpiece_create(const char *file, const struct graft_vocab *vocab,
                           const struct graft_wordpiece_settings *settings, struct graft_token_model **made,
                           struct graft_error *error) {
    struct wordpiece *model = graft_alloc(1, sizeof *model);
    if (model == NULL) {
        return graft_fail_memory(error, file);
    }
    model->base.encode = encode;
    model->base.destroy = destroy;
    model->max_characters = (uint64_t)settings->max_characters;
    model->unk = graft_vocab_id(vocab, settings->unk_token);
    model->file = graft_strdup(file);
    int status = model->file == NULL ? graft_fail_memory(error, file) : GRAFT_OK;
    if (status == GRAFT_OK) {
        status = graft_vocab_lexicon(vocab, file, &model->lexicon, error);
    }
    if (status != GRAFT_OK) {
        destroy(&model->base);
        return status;
    }
    find_prefix(model, settings->prefix);
    *made = &model->base;
    return GRAFT_OK;
}

int graft_token_model_read_wordpiece(const struct graft_field *spec, const struct graft_document *document,
                                     struct graft_vocab *vocab, struct graft_token_model **made,
                                     struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"vocab", .kind = GRAFT_MEMBER_SKIPPED},
        {"unk_token", GRAFT_MEMBER_VIEW, .offset = offsetof(struct graft_wordpiece_settings, unk_token)},
        {"continuing_subword_prefix", GRAFT_MEMBER_VIEW, .offset = offsetof(struct graft_wordpiece_settings, prefix)},
        {"max_input_chars_per_word", GRAFT_MEMBER_INT,
         .offset = offsetof(struct graft_wordpiece_settings, max_characters), .most = INFINITY},
        {0},
    };
    struct graft_field vocab_field = graft_field_get(spec, "vocab");
    struct graft_wordpiece_settings settings = {{NULL, 0}, {NULL, 0}, 0};
    int status = graft_field_read(spec, members, &settings, error);
    if (status == GRAFT_OK) {
        status = graft_vocab_read(&vocab_field, document->vocab, vocab, error);
    }
    return status == GRAFT_OK ? graft_wordpiece_create(spec->file, vocab, &settings, made, error) : status;
}
