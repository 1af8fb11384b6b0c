/* SPDX-License-Identifier: Apache-2.0 */
/* WordLevel: each word is a token or unknown. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/model_make.h"

struct wordlevel {
    struct graft_token_model base;
    const struct graft_vocab *vocab;
    int32_t unk; /* id of the unknown token; -1: the vocabulary lacks it */
    char *file;
};

static int encode(const struct graft_token_model *self, const char *word, size_t length, struct graft_model_work *work,
                  struct graft_ids *out, struct graft_error *error) {
    const struct wordlevel *model = (const struct wordlevel *)self;
    const struct graft_token *token = graft_vocab_find(model->vocab, word, length);
    (void)work;
    if (token == NULL && model->unk < 0) {
        return graft_unk_token_needed(model->file, error);
    }
    graft_ids_add(out, token != NULL ? token->id : model->unk);
    return GRAFT_OK;
}

static void destroy(struct graft_token_model *self) {
    graft_free(((struct wordlevel *)self)->file);
    graft_free(self);
}

/* Each word is a token of the vocabulary, or `unk_token`. If the vocabulary lacks that, a text that needs it is an
 * error. */
static int create(const char *file, const struct graft_vocab *vocab, struct graft_text_view unk_token,
                  struct graft_token_model **made, struct graft_error *error) {
    struct wordlevel *model = graft_alloc(1, sizeof *model);
    if (model == NULL) {
        return graft_fail_memory(error, file);
    }
    model->base.encode = encode;
    model->base.destroy = destroy;
    model->vocab = vocab;
    model->unk = graft_vocab_id(vocab, unk_token);
    model->file = graft_strdup(file);
    if (model->file == NULL) {
        destroy(&model->base);
        return graft_fail_memory(error, file);
    }
    *made = &model->base;
    return GRAFT_OK;
}

int graft_token_model_read_wordlevel(const struct graft_field *spec, const struct graft_document *document,
                                     struct graft_vocab *vocab, struct graft_token_model **made,
                                     struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"vocab", .kind = GRAFT_MEMBER_SKIPPED},
        {"unk_token", .kind = GRAFT_MEMBER_VIEW},
        {0},
    };
    struct graft_field vocab_field = graft_field_get(spec, "vocab");
    struct graft_text_view unk;
    int status = graft_field_read(spec, members, &unk, error);
    if (status == GRAFT_OK) {
        status = graft_vocab_read(&vocab_field, document->vocab, vocab, error);
    }
    return status == GRAFT_OK ? create(spec->file, vocab, unk, made, error) : status;
}
