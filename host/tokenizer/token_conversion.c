/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the vocabulary's files, and builds the rest of a tokenizer.json from the class's recipe. */
#include "tokenizer/token_conversion.h"

#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"

enum { MAX_VOCABULARY_BYTES = 64 << 20 };

static int exists(const char *directory, const char *name) {
    char *path = graft_path_join(directory, name);
    int there = path != NULL && graft_file_exists(path);
    graft_free(path);
    return there;
}

/* The first of some files that exists; NULL: none does. */
static const char *find_file(const char *directory, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (exists(directory, names[i])) {
            return names[i];
        }
    }
    return NULL;
}

/* The error of a directory without a vocabulary: names the missing file and the remedy. */
static int refuse(const struct graft_token_class *token_class, const char *directory, const char *own,
                  struct graft_error *error) {
    static const char *const unread[] = {"tekken.json", "tiktoken.model"};
    static const char *const others[] = {"vocab.txt",           "vocab.json", "spiece.model", "sentencepiece.bpe.model",
                                         "sentencepiece.model", "spm.model"};
    const char *found = find_file(directory, unread, sizeof unread / sizeof unread[0]);
    const char *other = find_file(directory, others, sizeof others / sizeof others[0]);
    if (own == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, directory,
                              "there is no tokenizer.json, and no other files are read for the tokenizer class %s",
                              token_class->name);
    } else if (found != NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, directory, "there is no tokenizer.json, and %s is not read",
                              found);
    } else {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, directory,
                              "there is no tokenizer.json, and no %s%s, which the tokenizer class %s is read from",
                              strcmp(own, "tokenizer.model") != 0 ? "tokenizer.model or " : "", own, token_class->name);
    }
    if (own != NULL && found == NULL && other != NULL) {
        graft_error_hint(error, "there is %s: name the class that reads it as tokenizer_class in tokenizer_config.json",
                         other);
    } else {
        graft_error_hint(error, "transformers writes a tokenizer.json: "
                                "AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)");
    }
    return GRAFT_ERROR_MODEL;
}

/* Finds the vocabulary's file. In every class tokenizer.model takes precedence. */
static int find_vocabulary(struct graft_token_conversion *conversion, const char *directory,
                           struct graft_error *error) {
    const struct graft_token_class *token_class = conversion->token_class;
    const char *own = graft_json_string(graft_json_get(token_class->entry, "file"), NULL);
    const char *name = exists(directory, "tokenizer.model") ? "tokenizer.model" : own;
    if (own == NULL || !exists(directory, name)) {
        return refuse(token_class, directory, own, error);
    }
    conversion->kind = graft_ends_with(name, ".model")  ? GRAFT_VOCABULARY_PIECES
                       : graft_ends_with(name, ".json") ? GRAFT_VOCABULARY_JSON
                                                        : GRAFT_VOCABULARY_LINES;
    conversion->path = graft_path_join(directory, name);
    return conversion->path != NULL ? GRAFT_OK : graft_fail_memory(error, directory);
}

static int read_text(const char *path, char **text, size_t *length, struct graft_error *error) {
    int status = graft_file_read(path, MAX_VOCABULARY_BYTES, GRAFT_ERROR_MODEL, text, length, error);
    size_t valid = status == GRAFT_OK ? graft_utf8_valid_prefix(*text, *length) : 0;
    return status == GRAFT_OK && valid < *length
               ? graft_error_set(error, GRAFT_ERROR_MODEL, path, "not UTF-8 at byte %zu", valid)
               : status;
}

static int set(struct graft_token_conversion *conversion, const char *name, graft_json *value_take,
               struct graft_error *error) {
    return graft_json_set_take(conversion->own, name, value_take) == 0 ? GRAFT_OK
                                                                       : graft_fail_memory(error, conversion->path);
}

static graft_json *text_value(struct graft_piece_text text) {
    return graft_json_new_string_n(text.text, text.length);
}

static int set_charsmap(struct graft_token_conversion *conversion, struct graft_error *error) {
    struct graft_text encoded = {0};
    graft_base64_encode(conversion->pieces.charsmap.text, conversion->pieces.charsmap.length, &encoded);
    int status = encoded.failed
                     ? graft_fail_memory(error, conversion->path)
                     : set(conversion, "charsmap", graft_json_new_string_n(encoded.bytes, encoded.length), error);
    graft_text_free(&encoded);
    return status;
}

/* Adds the settings of a SentencePiece model to the values for recipes. */
static int set_file_values(struct graft_token_conversion *conversion, struct graft_error *error) {
    const struct graft_sentencepiece *pieces = &conversion->pieces;
    int status = set(conversion, "unk_id", graft_json_new_int(pieces->unk_id), error);
    if (status == GRAFT_OK) {
        status = set(conversion, "is_unigram", graft_json_new_bool(pieces->model_type == GRAFT_SENTENCEPIECE_UNIGRAM),
                     error);
    }
    if (status == GRAFT_OK) {
        status = set(conversion, "byte_fallback", graft_json_new_bool(pieces->byte_fallback != 0), error);
    }
    if (status == GRAFT_OK) {
        status = set(conversion, "unk_piece", text_value(pieces->unk_piece), error);
    }
    if (status == GRAFT_OK && pieces->unk_id >= 0) {
        status = set(conversion, "unk_piece_named", text_value(pieces->unk_piece), error);
    }
    if (status == GRAFT_OK && pieces->bos_id >= 0) {
        status = set(conversion, "bos_piece", text_value(pieces->bos_piece), error);
    }
    if (status == GRAFT_OK && pieces->eos_id >= 0) {
        status = set(conversion, "eos_piece", text_value(pieces->eos_piece), error);
    }
    return status == GRAFT_OK && pieces->charsmap.length > 0 ? set_charsmap(conversion, error) : status;
}

static int read_merges(struct graft_token_conversion *conversion, const char *directory, struct graft_error *error) {
    conversion->merges_path = graft_path_join(directory, "merges.txt");
    if (conversion->merges_path == NULL) {
        return graft_fail_memory(error, directory);
    }
    return read_text(conversion->merges_path, &conversion->merges, &conversion->merges_length, error);
}

int graft_token_conversion_open(struct graft_token_conversion *conversion, const char *directory,
                                const struct graft_token_class *token_class, const graft_json *config,
                                struct graft_error *error) {
    conversion->token_class = token_class;
    conversion->own = graft_json_new_object();
    conversion->values = (struct graft_recipe_values){conversion->own, config};
    int status =
        conversion->own != NULL ? find_vocabulary(conversion, directory, error) : graft_fail_memory(error, directory);
    if (status != GRAFT_OK) {
        return status;
    }
    if (conversion->kind == GRAFT_VOCABULARY_PIECES) {
        status = graft_sentencepiece_read(&conversion->pieces, conversion->path, error);
        return status == GRAFT_OK ? set_file_values(conversion, error) : status;
    }
    status = read_text(conversion->path, &conversion->vocab, &conversion->vocab_length, error);
    return status == GRAFT_OK && conversion->kind == GRAFT_VOCABULARY_JSON ? read_merges(conversion, directory, error)
                                                                           : status;
}

/* Adds the named tokens to the values for recipes. */
static int set_names(struct graft_token_conversion *conversion, const struct graft_config_tokens *tokens,
                     struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < tokens->named.n; i++) {
        const struct graft_config_token *named = &tokens->named.items[i];
        status = set(conversion, named->name, graft_json_new_string_n(named->token.text, named->token.length), error);
    }
    return status;
}

/* Adds the unknown token's index among the pieces to the values for recipes; "zero" is a list in which its score is 0.
 */
static int set_places(struct graft_token_conversion *conversion, struct graft_error *error) {
    size_t length = 0;
    const char *unk = graft_json_string(graft_json_get(conversion->own, "unk_token"), &length);
    int status = GRAFT_OK, found = 0, found_zero = 0;
    for (size_t i = 0; unk != NULL && status == GRAFT_OK && i < conversion->n_arranged; i++) {
        const struct graft_scored_piece *piece = &conversion->arranged[i];
        int is_unk = piece->text.length == length && memcmp(piece->text.text, unk, length) == 0;
        if (is_unk && !found) {
            status = set(conversion, "unk_at", graft_json_new_int((int64_t)i), error);
            found = 1;
        }
        if (status == GRAFT_OK && is_unk && !found_zero && piece->score == 0.0) {
            status = set(conversion, "unk_at_zero", graft_json_new_int((int64_t)i), error);
            found_zero = 1;
        }
    }
    return status;
}

static int fill(struct graft_token_conversion *conversion, const graft_json *part, graft_json **filled,
                struct graft_error *error) {
    *filled = graft_recipe_fill(&conversion->values, part);
    return *filled != NULL ? GRAFT_OK : graft_fail_memory(error, conversion->path);
}

static int fill_member(struct graft_token_conversion *conversion, const char *name, struct graft_error *error) {
    graft_json *filled = NULL;
    int status = fill(conversion, graft_json_get(conversion->token_class->entry, name), &filled, error);
    return status == GRAFT_OK && graft_json_set_take(conversion->rest, name, filled) != 0
               ? graft_fail_memory(error, conversion->path)
               : status;
}

int graft_token_conversion_fill(struct graft_token_conversion *conversion, const struct graft_config_tokens *tokens,
                                struct graft_error *error) {
    static const char *const members[] = {"normalizer", "pre_tokenizer", "model", "decoder"};
    const graft_json *pieces = graft_json_get(conversion->token_class->entry, "pieces");
    conversion->rest = graft_json_new_object();
    int status =
        conversion->rest != NULL ? set_names(conversion, tokens, error) : graft_fail_memory(error, conversion->path);
    if (status == GRAFT_OK) {
        status = fill(conversion, graft_json_get(pieces, "head"), &conversion->head, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_tokens_list(&conversion->values, graft_json_get(pieces, "tail"), conversion->path,
                                          &conversion->tail, error);
    }
    if (status == GRAFT_OK && conversion->kind == GRAFT_VOCABULARY_PIECES) {
        status = graft_token_conversion_arrange(conversion, tokens, error);
    }
    if (status == GRAFT_OK) {
        status = set_places(conversion, error);
    }
    for (size_t i = 0; status == GRAFT_OK && i < sizeof members / sizeof members[0]; i++) {
        status = fill_member(conversion, members[i], error);
    }
    return status;
}

void graft_token_conversion_finish(struct graft_token_conversion *conversion) {
    graft_json_free(conversion->rest);
    graft_free(conversion->arranged);
    graft_json_free(conversion->head);
    graft_json_free(conversion->tail);
    graft_json_free(conversion->own);
    graft_free(conversion->merges);
    graft_free(conversion->merges_path);
    graft_free(conversion->vocab);
    graft_sentencepiece_finish(&conversion->pieces);
    graft_free(conversion->path);
    *conversion = (struct graft_token_conversion){0};
}
