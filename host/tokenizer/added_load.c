/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the added tokens. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/added.h"

/* Tokens are sought at every place of a text; this bounds what that can cost. */
enum { MAX_TOKEN_BYTES = 1024 };

static int read_rule(const struct graft_spec *spec, struct graft_added_rule *rule, struct graft_error *error) {
    int status = graft_spec_bool(spec, "special", 0, &rule->special, error);
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "single_word", 0, &rule->single_word, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "lstrip", 0, &rule->lstrip, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "rstrip", 0, &rule->rstrip, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "normalized", !rule->special, &rule->normalized, error);
    }
    return status;
}

/* One text with two ids, or one id with two texts, would make ids depend on the order in which things are read. */
static int check_conflicts(const struct graft_added *added, const struct graft_spec *spec,
                           const struct graft_vocab *vocab, const char *text, size_t length, int32_t id,
                           struct graft_error *error) {
    const struct graft_vocab *const both[] = {vocab, &added->vocab};
    if (graft_vocab_find(&added->vocab, text, length) != NULL) {
        return graft_spec_error(spec, error, "\"%s\" appears twice", text);
    }
    for (size_t i = 0; i < 2; i++) {
        const struct graft_token *same_text = graft_vocab_find(both[i], text, length);
        const struct graft_token *same_id = graft_vocab_find_id(both[i], id);
        if (same_text != NULL && same_text->id != id) {
            return graft_spec_error(spec, error, "\"%s\" has the id %d here and %d in model.vocab", text, (int)id,
                                    (int)same_text->id);
        }
        if (same_id != NULL && same_text == NULL) {
            return graft_spec_error(spec, error, "\"%s\" and \"%s\" have the same id %d",
                                    graft_vocab_text(both[i], same_id), text, (int)id);
        }
    }
    return GRAFT_OK;
}

/* Puts the token where the text will be searched for it. */
static int add_to_trie(struct graft_added *added, const struct graft_spec *spec, const char *text, size_t length,
                       const struct graft_normalizer *normalizer, struct graft_error *error) {
    int32_t index = (int32_t)added->vocab.count - 1;
    struct graft_text form = {0};
    int status = GRAFT_OK;
    if (!added->rules[index].normalized) {
        status =
            graft_trie_add(&added->raw, text, length, index) != 0 ? graft_fail_memory(error, spec->file) : GRAFT_OK;
        return status;
    }
    graft_text_add(&form, text, length);
    status = form.failed ? graft_fail_memory(error, spec->file) : graft_normalizer_run(normalizer, &form, error);
    if (status == GRAFT_OK && form.length > 0) {
        added->rules[index].form_start = added->forms.length;
        added->rules[index].form_length = form.length;
        graft_text_add(&added->forms, form.bytes, form.length);
        if (added->forms.failed || graft_trie_add(&added->normalized, form.bytes, form.length, index) != 0) {
            status = graft_fail_memory(error, spec->file);
        }
    }
    graft_text_free(&form);
    return status;
}

static int add_token(struct graft_added *added, const struct graft_spec *spec, const struct graft_vocab *vocab,
                     const struct graft_normalizer *normalizer, struct graft_error *error) {
    static const char *const keys[] = {"id",     "content",    "single_word", "lstrip",
                                       "rstrip", "normalized", "special",     NULL};
    struct graft_spec id_field = graft_spec_get(spec, "id");
    struct graft_added_rule rule = {0};
    const char *text;
    size_t length = 0;
    int32_t id;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_id(&id_field, &id, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_string(spec, "content", &text, &length, error);
    }
    if (status == GRAFT_OK && length > MAX_TOKEN_BYTES) {
        status = graft_spec_error(spec, error, "the content has %zu bytes, at most %d are supported", length,
                                  MAX_TOKEN_BYTES);
    }
    if (status == GRAFT_OK) {
        status = read_rule(spec, &rule, error);
    }
    if (status == GRAFT_OK) {
        status = check_conflicts(added, spec, vocab, text, length, id, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (graft_grow(&added->rules, &added->capacity, added->vocab.count, sizeof *added->rules) != 0 ||
        graft_vocab_add(&added->vocab, text, length, id) != 0) {
        return graft_fail_memory(error, spec->file);
    }
    added->rules[added->vocab.count - 1] = rule;
    return length > 0 ? add_to_trie(added, spec, text, length, normalizer, error) : GRAFT_OK;
}

int graft_added_load(struct graft_added *added, const struct graft_spec *spec, const struct graft_vocab *vocab,
                     const struct graft_normalizer *normalizer, struct graft_error *error) {
    int status = graft_spec_is_none(spec) ? GRAFT_OK : graft_spec_expect_array(spec, error);
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(spec->value); i++) {
        struct graft_spec token = graft_spec_at(spec, i);
        status = add_token(added, &token, vocab, normalizer, error);
    }
    return status;
}
