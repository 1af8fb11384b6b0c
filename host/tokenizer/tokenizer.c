/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a tokenizer, and what is known about its tokens. */
#include "graft/host/tokenizer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "tokenizer/config_tokens.h"
#include "tokenizer/pipeline.h"

static int has_token(const void *data, int32_t id) {
    return graft_tokenizer_token(data, id, NULL) != NULL;
}

static int check_version(const struct graft_spec *root, struct graft_error *error) {
    struct graft_spec field = graft_spec_get(root, "version");
    const char *version;
    int status = graft_spec_optional_string(root, "version", &version, NULL, error);
    if (status == GRAFT_OK && version != NULL && strcmp(version, "1.0") != 0) {
        status = graft_spec_error(&field, error, "\"%s\" is not supported, only \"1.0\"", version);
    }
    return status;
}

static int load_postprocessor(struct graft_tokenizer *tokenizer, const struct graft_spec *spec,
                              struct graft_error *error) {
    int status = graft_postprocessor_load(spec, &tokenizer->postprocessor, error);
    if (status == GRAFT_OK) {
        int32_t id = graft_postprocessor_unknown(tokenizer->postprocessor, has_token, tokenizer);
        status = id < 0 ? GRAFT_OK : graft_spec_error(spec, error, "the special token's id %d is not a token", (int)id);
    }
    return status;
}

/* The file's own added tokens, and those of the files beside it. */
static int load_added(struct graft_tokenizer *tokenizer, struct graft_config_tokens *tokens,
                      const struct graft_spec *spec, struct graft_error *error) {
    int status = graft_added_load(&tokenizer->added, spec, &tokenizer->vocab, error);
    if (status == GRAFT_OK) {
        status = graft_config_tokens_add(tokens, &tokenizer->added, &tokenizer->vocab, &tokenizer->notes, error);
    }
    return status == GRAFT_OK ? graft_added_index(&tokenizer->added, tokenizer->normalizer, tokenizer->path, error)
                              : status;
}

/* transformers does not clean up what BPE decodes, unless told twice. */
static int load_decoder(struct graft_tokenizer *tokenizer, const struct graft_config_tokens *tokens,
                        const struct graft_spec *root, struct graft_error *error) {
    struct graft_spec decoder = graft_spec_get(root, "decoder");
    struct graft_spec model = graft_spec_get(root, "model");
    int is_bpe = graft_json_get(model.value, "merges") != NULL;
    int status = graft_decoder_load(&decoder, &tokenizer->decoder, error);
    return status == GRAFT_OK && tokens->clean_up && (!is_bpe || tokens->clean_up_bpe_too)
               ? graft_decoder_add_clean_up(&tokenizer->decoder, tokenizer->path, error)
               : status;
}

/* Each part may need those before it. */
static int load_parts(struct graft_tokenizer *tokenizer, const struct graft_document *document,
                      struct graft_config_tokens *tokens, const struct graft_spec *root, struct graft_error *error) {
    struct graft_spec normalizer = graft_spec_get(root, "normalizer");
    struct graft_spec pretokenizer = graft_spec_get(root, "pre_tokenizer");
    struct graft_spec model = graft_spec_get(root, "model");
    struct graft_spec added = graft_spec_get(root, "added_tokens");
    struct graft_spec postprocessor = graft_spec_get(root, "post_processor");
    int status = graft_normalizer_load(&normalizer, &tokenizer->normalizer, error);
    if (status == GRAFT_OK) {
        status = graft_pretokenizer_load(&pretokenizer, &tokenizer->pretokenizer, error);
    }
    if (status == GRAFT_OK) {
        status = graft_token_model_load(&model, document, &tokenizer->vocab, &tokenizer->model, error);
    }
    if (status == GRAFT_OK) {
        status = load_added(tokenizer, tokens, &added, error);
    }
    if (status == GRAFT_OK) {
        status = load_postprocessor(tokenizer, &postprocessor, error);
    }
    return status != GRAFT_OK ? status : load_decoder(tokenizer, tokens, root, error);
}

static int load_document(struct graft_tokenizer *tokenizer, const struct graft_document *document,
                         struct graft_config_tokens *tokens, struct graft_error *error) {
    static const char *const keys[] = {"version",       "truncation", "padding",        "added_tokens", "normalizer",
                                       "pre_tokenizer", "model",      "post_processor", "decoder",      NULL};
    struct graft_spec root = {document->rest, tokenizer->path, NULL, NULL, 0};
    int status = graft_spec_expect_object(&root, keys, error);
    if (status == GRAFT_OK) {
        status = check_version(&root, error);
    }
    return status != GRAFT_OK ? status : load_parts(tokenizer, document, tokens, &root, error);
}

static void count_tokens(struct graft_tokenizer *tokenizer) {
    const struct graft_vocab *vocab = &tokenizer->vocab, *added = &tokenizer->added.vocab;
    tokenizer->size = vocab->count;
    tokenizer->max_id = -1;
    for (size_t i = 0; i < vocab->count; i++) {
        int32_t id = vocab->tokens[i].id;
        tokenizer->max_id = id > tokenizer->max_id ? id : tokenizer->max_id;
    }
    for (size_t i = 0; i < added->count; i++) {
        int32_t id = added->tokens[i].id;
        tokenizer->max_id = id > tokenizer->max_id ? id : tokenizer->max_id;
        tokenizer->size += graft_vocab_find_id(vocab, id) == NULL;
    }
}

int graft_tokenizer_load(const char *directory, struct graft_tokenizer **tokenizer, struct graft_error *error) {
    struct graft_document document = {0};
    struct graft_config_tokens tokens = {0};
    struct graft_tokenizer *made = graft_alloc(1, sizeof *made);
    *tokenizer = NULL;
    if (made != NULL) {
        made->path = graft_path_join(directory, "tokenizer.json");
    }
    if (made == NULL || made->path == NULL) {
        graft_tokenizer_free(made);
        return graft_fail_memory(error, directory);
    }
    int status = graft_document_read(&document, made->path, error);
    if (status == GRAFT_OK) {
        status = graft_config_tokens_read(&tokens, directory, error);
    }
    if (status == GRAFT_OK) {
        status = load_document(made, &document, &tokens, error);
    }
    if (status == GRAFT_OK && made->notes.failed) {
        status = graft_fail_memory(error, directory);
    }
    graft_config_tokens_finish(&tokens);
    graft_document_finish(&document);
    if (status != GRAFT_OK) {
        graft_tokenizer_free(made);
        return status;
    }
    count_tokens(made);
    *tokenizer = made;
    return GRAFT_OK;
}

void graft_tokenizer_free(struct graft_tokenizer *tokenizer) {
    if (tokenizer == NULL) {
        return;
    }
    graft_decoder_destroy(tokenizer->decoder);
    graft_postprocessor_destroy(tokenizer->postprocessor);
    graft_added_finish(&tokenizer->added);
    graft_token_model_destroy(tokenizer->model);
    graft_vocab_free(&tokenizer->vocab);
    graft_pretokenizer_destroy(tokenizer->pretokenizer);
    graft_normalizer_destroy(tokenizer->normalizer);
    graft_text_free(&tokenizer->notes);
    graft_free(tokenizer->path);
    graft_free(tokenizer);
}

const char *graft_tokenizer_note(const struct graft_tokenizer *tokenizer, size_t i) {
    const struct graft_text *notes = &tokenizer->notes;
    size_t at = 0;
    for (; i > 0 && at < notes->length; i--) {
        at += strlen(notes->bytes + at) + 1;
    }
    return at < notes->length ? notes->bytes + at : NULL;
}

int32_t graft_tokenizer_id(const struct graft_tokenizer *tokenizer, const char *token) {
    const struct graft_token *found = graft_vocab_find(&tokenizer->added.vocab, token, strlen(token));
    if (found == NULL) {
        found = graft_vocab_find(&tokenizer->vocab, token, strlen(token));
    }
    return found != NULL ? found->id : -1;
}

const char *graft_tokenizer_token(const struct graft_tokenizer *tokenizer, int32_t id, size_t *length) {
    const struct graft_vocab *vocab = &tokenizer->added.vocab;
    const struct graft_token *token = graft_vocab_find_id(vocab, id);
    if (token == NULL) {
        vocab = &tokenizer->vocab;
        token = graft_vocab_find_id(vocab, id);
    }
    if (token == NULL) {
        return NULL;
    }
    if (length != NULL) {
        *length = token->length;
    }
    return graft_vocab_text(vocab, token);
}

int graft_tokenizer_is_special(const struct graft_tokenizer *tokenizer, int32_t id) {
    return graft_added_is_special(&tokenizer->added, id);
}

size_t graft_tokenizer_size(const struct graft_tokenizer *tokenizer) {
    return tokenizer->size;
}

int32_t graft_tokenizer_max_id(const struct graft_tokenizer *tokenizer) {
    return tokenizer->max_id;
}
