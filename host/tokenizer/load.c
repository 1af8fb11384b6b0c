/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a tokenizer from tokenizer.json, or from the files that stand in for it. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "tokenizer/config_fields.h"
#include "tokenizer/config_tokens.h"
#include "tokenizer/load_notes.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/token_conversion.h"

enum { MAX_CONFIG_BYTES = 64 << 20 };

/* State of a load. */
struct loading {
    struct graft_tokenizer *tokenizer;
    const char *directory;
    const struct graft_tokenizer_options *options; /* NULL: none */
    struct graft_json_file config;                 /* config.json, if there is one */
    struct graft_token_class token_class;
    struct graft_config_tokens tokens;
    struct graft_document document;           /* tokenizer.json */
    struct graft_token_conversion conversion; /* used where there is no tokenizer.json */
    int converts;
};

static int has_token(const void *data, int32_t id) {
    return graft_tokenizer_token(data, id, NULL) != NULL;
}

static int load_model(struct loading *loading, const struct graft_field *root, struct graft_error *error) {
    struct graft_tokenizer *tokenizer = loading->tokenizer;
    struct graft_field model = graft_field_get(root, "model");
    return loading->converts
               ? graft_token_conversion_model(&loading->conversion, &tokenizer->vocab, &tokenizer->model, error)
               : graft_token_model_load(&model, &loading->document, &tokenizer->vocab, &tokenizer->model, error);
}

/* Loads the added tokens of tokenizer.json and of the files next to it. */
static int load_added(struct loading *loading, const struct graft_field *root, struct graft_error *error) {
    struct graft_tokenizer *tokenizer = loading->tokenizer;
    struct graft_field added = graft_field_get(root, "added_tokens");
    int status = graft_added_load(&tokenizer->added, &added, &tokenizer->vocab, error);
    if (status == GRAFT_OK) {
        status = graft_config_tokens_add(&loading->tokens, loading->token_class.entry, &tokenizer->added,
                                         &tokenizer->vocab, &tokenizer->notes, error);
    }
    return status == GRAFT_OK ? graft_added_index(&tokenizer->added, tokenizer->normalizer, tokenizer->path, error)
                              : status;
}

static int load_names(struct loading *loading, struct graft_error *error) {
    struct graft_tokenizer *tokenizer = loading->tokenizer;
    const struct graft_config_token_list *named = &loading->tokens.named;
    int failed = 0;
    for (size_t i = 0; !failed && i < named->n; i++) {
        const struct graft_config_token *item = &named->items[i];
        const struct graft_token *token =
            graft_vocab_find(&tokenizer->added.vocab, item->token.text, item->token.length);
        failed = token != NULL && graft_vocab_add(&tokenizer->named, item->name, strlen(item->name), token->id) != 0;
    }
    return failed ? graft_fail_memory(error, tokenizer->path) : GRAFT_OK;
}

static int load_postprocessor(struct loading *loading, const struct graft_field *root, struct graft_error *error) {
    struct graft_tokenizer *tokenizer = loading->tokenizer;
    int status = GRAFT_OK;
    if (loading->converts) {
        status = graft_token_conversion_post(&loading->conversion, graft_json_get(loading->token_class.entry, "post"),
                                             &loading->tokens, &tokenizer->added, &tokenizer->vocab, error);
    }
    struct graft_field spec = graft_field_get(root, "post_processor");
    if (status == GRAFT_OK) {
        status = graft_postprocessor_load(&spec, &tokenizer->postprocessor, error);
    }
    if (status == GRAFT_OK) {
        int32_t id = graft_postprocessor_unknown(tokenizer->postprocessor, has_token, tokenizer);
        status = id < 0 ? GRAFT_OK
                        : graft_field_error(&spec, error,
                                            "no token has the id %d, which belongs to a special token here", (int)id);
    }
    return status;
}

/* Loads the decoder. transformers cleans up spaces of what BPE decodes only if two fields ask for it. */
static int load_decoder(struct loading *loading, const struct graft_field *root, struct graft_error *error) {
    struct graft_tokenizer *tokenizer = loading->tokenizer;
    const struct graft_config_tokens *tokens = &loading->tokens;
    struct graft_field decoder = graft_field_get(root, "decoder");
    struct graft_field model = graft_field_get(root, "model");
    const char *type = graft_json_string(graft_json_get(model.value, "type"), NULL);
    const char *suffix = graft_json_string(graft_json_get(loading->token_class.entry, "decoded_suffix"), NULL);
    int is_bpe = type != NULL ? strcmp(type, "BPE") == 0 : graft_json_get(model.value, "merges") != NULL;
    int status = graft_decoder_load(&decoder, &tokenizer->decoder, error);
    if (status == GRAFT_OK && suffix != NULL) {
        status = graft_decoder_add_suffix(&tokenizer->decoder, suffix, tokenizer->path, error);
    }
    return status == GRAFT_OK && tokens->clean_up && (!is_bpe || tokens->clean_up_bpe_too)
               ? graft_decoder_add_clean_up(&tokenizer->decoder, tokenizer->path, error)
               : status;
}

/* Loads the components in an order in which each finds those that it depends on. */
static int load_parts(struct loading *loading, const struct graft_field *root, struct graft_error *error) {
    struct graft_tokenizer *tokenizer = loading->tokenizer;
    struct graft_field normalizer = graft_field_get(root, "normalizer");
    struct graft_field pretokenizer = graft_field_get(root, "pre_tokenizer");
    int status = graft_normalizer_load(&normalizer, &tokenizer->normalizer, error);
    if (status == GRAFT_OK) {
        status = graft_pretokenizer_load(&pretokenizer, &tokenizer->pretokenizer, error);
    }
    if (status == GRAFT_OK) {
        status = load_model(loading, root, error);
    }
    if (status == GRAFT_OK) {
        status = load_added(loading, root, error);
    }
    if (status == GRAFT_OK) {
        status = load_names(loading, error);
    }
    if (status == GRAFT_OK) {
        status = load_postprocessor(loading, root, error);
    }
    return status == GRAFT_OK ? load_decoder(loading, root, error) : status;
}

/* Reads from `truncation` only the side on which a text is cut; the caller says how long it may be, as in transformers.
 */
static int read_truncation(struct loading *loading, const struct graft_field *root, struct graft_error *error) {
    static const char *const sides[] = {"Right", "Left", NULL};
    static const struct graft_member members[] = {
        {"direction", .kind = GRAFT_MEMBER_CHOICE, .is_optional = 1, .names = sides},
        {"max_length", .kind = GRAFT_MEMBER_SKIPPED},
        {"strategy", .kind = GRAFT_MEMBER_SKIPPED},
        {"stride", .kind = GRAFT_MEMBER_SKIPPED},
        {0},
    };
    const struct graft_config_tokens *tokens = &loading->tokens;
    const struct graft_field truncation = graft_field_get(root, "truncation");
    int is_left = 0;
    int status = graft_field_is_none(&truncation) ? GRAFT_OK : graft_field_read(&truncation, members, &is_left, error);
    loading->tokenizer->truncates_left = tokens->has_truncation_side ? tokens->truncates_left : is_left;
    return status;
}

static int load_document(struct loading *loading, struct graft_error *error) {
    static const char *const versions[] = {"1.0", NULL};
    static const struct graft_member members[] = {
        {"version", .kind = GRAFT_MEMBER_CHOICE, .is_optional = 1, .names = versions},
        {"truncation", .kind = GRAFT_MEMBER_SKIPPED},
        {"padding", .kind = GRAFT_MEMBER_SKIPPED},
        {"added_tokens", .kind = GRAFT_MEMBER_SKIPPED},
        {"normalizer", .kind = GRAFT_MEMBER_SKIPPED},
        {"pre_tokenizer", .kind = GRAFT_MEMBER_SKIPPED},
        {"model", .kind = GRAFT_MEMBER_SKIPPED},
        {"post_processor", .kind = GRAFT_MEMBER_SKIPPED},
        {"decoder", .kind = GRAFT_MEMBER_SKIPPED},
        {0},
    };
    const graft_json *document = loading->converts ? loading->conversion.rest : loading->document.rest;
    const struct graft_field root = graft_field_root(document, loading->tokenizer->path);
    int version = 0;
    int status = graft_field_read(&root, members, &version, error);
    if (status == GRAFT_OK) {
        status = read_truncation(loading, &root, error);
    }
    return status == GRAFT_OK ? load_parts(loading, &root, error) : status;
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

/* Removes the ignored fields from a document, which may be NULL. */
static void ignore_fields(const struct loading *loading, graft_json *document) {
    for (int32_t i = 0; loading->options != NULL && i < loading->options->n_ignored_fields; i++) {
        graft_json_free(graft_json_detach_path(document, loading->options->ignored_fields[i]));
    }
}

/* Reads the files that determine the tokenizer's class. */
static int read_configs(struct loading *loading, struct graft_error *error) {
    int status = graft_config_tokens_open(&loading->tokens, loading->directory, error);
    if (status == GRAFT_OK) {
        status = graft_json_file_open(&loading->config, loading->directory, "config.json", MAX_CONFIG_BYTES, 1, error);
    }
    ignore_fields(loading, loading->config.document);
    ignore_fields(loading, loading->tokens.documents[GRAFT_TOKENIZER_CONFIG]);
    ignore_fields(loading, loading->tokens.documents[GRAFT_SPECIAL_TOKENS_MAP]);
    return status == GRAFT_OK
               ? graft_token_class_choose(&loading->token_class, loading->tokens.documents[GRAFT_TOKENIZER_CONFIG],
                                          loading->config.document, error)
               : status;
}

static int read_vocabulary(struct loading *loading, struct graft_error *error) {
    struct graft_tokenizer *tokenizer = loading->tokenizer;
    if (!loading->converts) {
        return graft_document_read(&loading->document, tokenizer->path, error);
    }
    int status = graft_token_conversion_open(&loading->conversion, loading->directory, &loading->token_class,
                                             loading->tokens.documents[GRAFT_TOKENIZER_CONFIG], error);
    if (status == GRAFT_OK) {
        graft_free(tokenizer->path);
        tokenizer->path = graft_strdup(loading->conversion.path);
        status = tokenizer->path != NULL ? GRAFT_OK : graft_fail_memory(error, loading->directory);
    }
    return status;
}

static int load(struct loading *loading, struct graft_error *error) {
    const struct graft_token_conversion *conversion = &loading->conversion;
    int status = read_configs(loading, error);
    if (status == GRAFT_OK) {
        loading->converts = !graft_file_exists(loading->tokenizer->path) && graft_file_exists(loading->directory);
        status = read_vocabulary(loading, error);
    }
    const struct graft_recipe_values values = {conversion->own, loading->tokens.documents[GRAFT_TOKENIZER_CONFIG]};
    const struct graft_token_defaults defaults = {
        loading->token_class.entry, &values,
        loading->converts && conversion->kind == GRAFT_VOCABULARY_PIECES ? &conversion->pieces : NULL};
    if (status == GRAFT_OK) {
        status = graft_config_tokens_read(&loading->tokens, &defaults, error);
    }
    if (status == GRAFT_OK && loading->converts) {
        status = graft_token_conversion_fill(&loading->conversion, &loading->tokens, error);
    }
    if (status == GRAFT_OK) {
        status = load_document(loading, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_fields_check(loading->tokens.documents[GRAFT_TOKENIZER_CONFIG],
                                           loading->tokens.paths[GRAFT_TOKENIZER_CONFIG], loading->config.document,
                                           loading->tokenizer->vocab.count, error);
    }
    if (status == GRAFT_OK && !loading->converts) {
        status = graft_load_note_class(loading->tokenizer, &loading->token_class, &loading->tokens, &loading->document,
                                       error);
    }
    return status == GRAFT_OK && loading->tokenizer->notes.failed ? graft_fail_memory(error, loading->directory)
                                                                  : status;
}

int graft_tokenizer_load(const char *directory, struct graft_tokenizer **tokenizer, struct graft_error *error) {
    return graft_tokenizer_load_with(directory, NULL, tokenizer, error);
}

int graft_tokenizer_load_with(const char *directory, const struct graft_tokenizer_options *options,
                              struct graft_tokenizer **tokenizer, struct graft_error *error) {
    *tokenizer = NULL;
    if (graft_check_given(options, GRAFT_TOKENIZER_OPTIONS_SIZE_1_0, "struct graft_tokenizer_options", error) !=
        GRAFT_OK) {
        return GRAFT_ERROR_USAGE;
    }
    struct loading loading = {
        .directory = directory, .options = options, .tokenizer = graft_alloc(1, sizeof *loading.tokenizer)};
    if (loading.tokenizer != NULL) {
        loading.tokenizer->path = graft_path_join(directory, "tokenizer.json");
    }
    int status = loading.tokenizer != NULL && loading.tokenizer->path != NULL ? load(&loading, error)
                                                                              : graft_fail_memory(error, directory);
    graft_token_conversion_finish(&loading.conversion);
    graft_document_finish(&loading.document);
    graft_config_tokens_finish(&loading.tokens);
    graft_token_class_finish(&loading.token_class);
    graft_json_file_close(&loading.config);
    if (status != GRAFT_OK) {
        graft_tokenizer_free(loading.tokenizer);
        return status;
    }
    count_tokens(loading.tokenizer);
    *tokenizer = loading.tokenizer;
    return GRAFT_OK;
}
