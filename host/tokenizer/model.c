/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/model.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/model_make.h"
#include "tokenizer/model_work.h"
#include "tokenizer/sequence.h"

static const struct {
    const char *type;
    const char *own; /* a field by which a model without the field `type` is recognised; the first kind whose field is
                        present counts */
    graft_token_model_read *read;
} kinds[] = {
    {"BPE", "merges", graft_token_model_read_bpe},
    {"WordPiece", "max_input_chars_per_word", graft_token_model_read_wordpiece},
    {"WordLevel", "unk_token", graft_token_model_read_wordlevel},
    {"Unigram", "vocab", graft_token_model_read_unigram},
};

int graft_token_model_load(const struct graft_field *spec, const struct graft_document *document,
                           struct graft_vocab *vocab, struct graft_token_model **model, struct graft_error *error) {
    size_t kind;
    *model = NULL;
    if (graft_json_type(spec->value) != GRAFT_JSON_OBJECT) {
        return graft_field_error(spec, error, spec->value == NULL ? "missing" : "expected an object");
    }
    int status = graft_sequence_kind(spec, kinds, sizeof kinds[0], sizeof kinds / sizeof kinds[0], &kind, error);
    return status == GRAFT_OK ? kinds[kind].read(spec, document, vocab, model, error) : status;
}

void graft_token_model_destroy(struct graft_token_model *model) {
    if (model != NULL) {
        model->destroy(model);
    }
}

int graft_vocab_lexicon(const struct graft_vocab *vocab, const char *file, struct graft_lexicon *lexicon,
                        struct graft_error *error) {
    struct graft_lexicon_entry *entries = graft_alloc(vocab->count, sizeof *entries);
    int status = entries == NULL ? graft_fail_memory(error, file) : GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < vocab->count; i++) {
        const struct graft_token *token = &vocab->tokens[i];
        entries[i] = (struct graft_lexicon_entry){graft_vocab_text(vocab, token), token->length, token->id};
        if (token->length > GRAFT_TOKEN_MAX_BYTES) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, file,
                                     "model.vocab: the token with the id %d has %lu bytes, at most %d are supported",
                                     (int)token->id, (unsigned long)token->length, GRAFT_TOKEN_MAX_BYTES);
        }
    }
    if (status == GRAFT_OK && graft_lexicon_build(lexicon, entries, vocab->count) != 0) {
        status = graft_fail_memory(error, file);
    }
    graft_free(entries);
    return status;
}

int graft_unk_token_needed(const char *file, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                           "model.unk_token: not in the vocabulary, but needed for this text");
}

void graft_model_work_free(struct graft_model_work *work) {
    graft_merge_free(&work->merge);
    graft_free(work->path);
    graft_text_free(&work->scratch);
    *work = (struct graft_model_work){0};
}
