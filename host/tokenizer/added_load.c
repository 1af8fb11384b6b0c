/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting the added tokens. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/added.h"

/* Tokens are searched for at every position of a text; this limit bounds the cost. */
enum { MAX_TOKEN_BYTES = 1024 };

int graft_added_read(const struct graft_field *spec, const char *const *keys, int special,
                     struct graft_added_token *token, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"special", GRAFT_MEMBER_FLAG, .offset = offsetof(struct graft_added_rule, special), .is_optional = 1},
        {"single_word", GRAFT_MEMBER_FLAG, .offset = offsetof(struct graft_added_rule, single_word), .is_optional = 1},
        {"lstrip", GRAFT_MEMBER_FLAG, .offset = offsetof(struct graft_added_rule, lstrip), .is_optional = 1},
        {"rstrip", GRAFT_MEMBER_FLAG, .offset = offsetof(struct graft_added_rule, rstrip), .is_optional = 1},
        {"normalized", GRAFT_MEMBER_FLAG, .offset = offsetof(struct graft_added_rule, normalized), .is_optional = 1},
        {0},
    };
    struct graft_added_rule *rule = &token->rule;
    *token = (struct graft_added_token){.rule = {.special = special, .normalized = -1}};
    int status = graft_field_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_field_string(spec, "content", &token->text, &token->length, error);
    }
    if (status == GRAFT_OK && token->length > MAX_TOKEN_BYTES) {
        status = graft_field_error(spec, error, "the content has %zu bytes, at most %d are supported", token->length,
                                   MAX_TOKEN_BYTES);
    }
    if (status == GRAFT_OK) {
        status = graft_field_read_some(spec, members, rule, error);
    }
    token->has_normalized = rule->normalized >= 0;
    rule->normalized = token->has_normalized ? rule->normalized : !rule->special;
    return status;
}

/* Refuses a text with two ids, or an id with two texts: the result would depend on the order in which files are read.
 */
static int check_conflicts(const struct graft_added *added, const struct graft_field *spec,
                           const struct graft_vocab *vocab, const struct graft_added_token *token, int32_t id,
                           struct graft_error *error) {
    const struct graft_vocab *const both[] = {vocab, &added->vocab};
    if (graft_vocab_find(&added->vocab, token->text, token->length) != NULL) {
        return graft_field_error(spec, error, "\"%s\" appears twice", token->text);
    }
    for (size_t i = 0; i < 2; i++) {
        const struct graft_token *same_text = graft_vocab_find(both[i], token->text, token->length);
        const struct graft_token *same_id = graft_vocab_find_id(both[i], id);
        if (same_text != NULL && same_text->id != id) {
            return graft_field_error(spec, error, "\"%s\" has the id %d here and %d in model.vocab", token->text,
                                     (int)id, (int)same_text->id);
        }
        if (same_id != NULL && same_text == NULL) {
            return graft_field_error(spec, error, "\"%s\" and \"%s\" have the same id %d",
                                     graft_vocab_text(both[i], same_id), token->text, (int)id);
        }
    }
    return GRAFT_OK;
}

static int append(struct graft_added *added, const struct graft_added_token *token, int32_t id, const char *file,
                  struct graft_error *error) {
    if (graft_grow(&added->rules, &added->capacity, added->vocab.count, sizeof *added->rules) != 0 ||
        graft_vocab_add(&added->vocab, token->text, token->length, id) != 0) {
        return graft_fail_memory(error, file);
    }
    added->rules[added->vocab.count - 1] = token->rule;
    added->next_id = id >= added->next_id ? (int64_t)id + 1 : added->next_id;
    return GRAFT_OK;
}

static int load_token(struct graft_added *added, const struct graft_field *spec, const struct graft_vocab *vocab,
                      struct graft_error *error) {
    static const char *const keys[] = {"id",     "content",    "single_word", "lstrip",
                                       "rstrip", "normalized", "special",     NULL};
    struct graft_field id_field = graft_field_get(spec, "id");
    struct graft_added_token token;
    int32_t id = 0;
    int status = graft_added_read(spec, keys, 0, &token, error);
    if (status == GRAFT_OK) {
        status = graft_field_id(&id_field, &id, error);
    }
    if (status == GRAFT_OK) {
        status = check_conflicts(added, spec, vocab, &token, id, error);
    }
    return status == GRAFT_OK ? append(added, &token, id, spec->file, error) : status;
}

int graft_added_load(struct graft_added *added, const struct graft_field *spec, const struct graft_vocab *vocab,
                     struct graft_error *error) {
    int status = graft_field_is_none(spec) ? GRAFT_OK : graft_field_array(spec, error);
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(spec->value); i++) {
        struct graft_field token = graft_field_at(spec, i);
        status = load_token(added, &token, vocab, error);
    }
    return status;
}

int graft_added_put(struct graft_added *added, const struct graft_vocab *vocab, const struct graft_added_token *token,
                    const char *file, int32_t *id, struct graft_error *error) {
    const struct graft_token *known = graft_vocab_find(&added->vocab, token->text, token->length);
    if (token->length > MAX_TOKEN_BYTES) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file, "a token has %zu bytes, at most %d are supported",
                               token->length, MAX_TOKEN_BYTES);
    }
    if (known != NULL) {
        struct graft_added_rule *rule = &added->rules[known - added->vocab.tokens];
        const struct graft_added_rule before = *rule;
        *rule = token->rule;
        rule->special |= before.special;
        rule->decoded_normalized |= before.normalized | before.decoded_normalized;
        *id = known->id;
        return GRAFT_OK;
    }
    known = graft_vocab_find(vocab, token->text, token->length);
    int64_t next = added->next_id > (int64_t)vocab->count ? added->next_id : (int64_t)vocab->count;
    next = known != NULL ? known->id : next;
    const struct graft_token *other = known == NULL ? graft_vocab_find_id(vocab, (int32_t)next) : NULL;
    if (next > INT32_MAX || other != NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                               "the token \"%s\" would get the id %lld, the number of tokens, which is that of \"%s\": "
                               "model.vocab of tokenizer.json leaves out ids",
                               token->text, (long long)next, other != NULL ? graft_vocab_text(vocab, other) : "");
    }
    *id = (int32_t)next;
    return append(added, token, *id, file, error);
}

/* Computes the normalized form of a token that is marked as normalized. */
static int normalize_token(struct graft_added *added, size_t i, const struct graft_normalizer *normalizer,
                           const char *file, struct graft_error *error) {
    const struct graft_token *token = &added->vocab.tokens[i];
    struct graft_added_rule *rule = &added->rules[i];
    struct graft_text form = {0};
    if (token->length == 0 || (!rule->normalized && !rule->decoded_normalized)) {
        return GRAFT_OK;
    }
    graft_text_add(&form, graft_vocab_text(&added->vocab, token), token->length);
    int status = form.failed ? graft_fail_memory(error, file) : graft_normalizer_run(normalizer, &form, error);
    if (status == GRAFT_OK && form.length > 0) {
        rule->form_start = added->forms.length;
        rule->form_length = form.length;
        graft_text_add(&added->forms, form.bytes, form.length);
        status = added->forms.failed ? graft_fail_memory(error, file) : GRAFT_OK;
    }
    graft_text_free(&form);
    return status;
}

/* Builds the tries that texts are searched with, once all tokens are known. */
static int build_lexicons(struct graft_added *added, const char *file, struct graft_error *error) {
    struct graft_lexicon_entry *entries = graft_alloc(added->vocab.count, sizeof *entries);
    struct graft_lexicon *const lexicons[] = {&added->raw, &added->normalized, &added->plain};
    int failed = entries == NULL;
    for (int k = 0; !failed && k < 3; k++) {
        const int normalized = k == 1;
        size_t n = 0;
        for (size_t i = 0; i < added->vocab.count; i++) {
            const struct graft_token *token = &added->vocab.tokens[i];
            const struct graft_added_rule *rule = &added->rules[i];
            if (!normalized && rule->normalized == (k == 2)) {
                entries[n++] =
                    (struct graft_lexicon_entry){graft_vocab_text(&added->vocab, token), token->length, (int32_t)i};
            } else if (normalized && rule->normalized && rule->form_length > 0) {
                entries[n++] = (struct graft_lexicon_entry){added->forms.bytes + rule->form_start,
                                                            (uint32_t)rule->form_length, (int32_t)i};
            }
        }
        failed = graft_lexicon_build(lexicons[k], entries, n) != 0;
    }
    graft_free(entries);
    return failed ? graft_fail_memory(error, file) : GRAFT_OK;
}

int graft_added_index(struct graft_added *added, const struct graft_normalizer *normalizer, const char *file,
                      struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < added->vocab.count; i++) {
        status = normalize_token(added, i, normalizer, file, error);
    }
    if (status == GRAFT_OK) {
        status = build_lexicons(added, file, error);
    }
    for (size_t i = 0; status == GRAFT_OK && i < added->vocab.count; i++) {
        size_t length = 0;
        const char *text = graft_added_decoded(added, added->vocab.tokens[i].id, &length);
        const struct graft_token *same = graft_vocab_find(&added->vocab, text, length);
        added->rules[i].skipped = same != NULL && added->rules[same - added->vocab.tokens].special;
    }
    return status;
}
