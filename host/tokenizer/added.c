/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/added.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/unicode.h"

static int touches_word_before(const char *text, size_t at) {
    uint32_t code;
    if (at == 0) {
        return 0;
    }
    (void)graft_utf8_read(text + graft_utf8_previous(text, at), &code);
    return graft_unicode_is_word(code);
}

static int touches_word_after(const char *text, size_t length, size_t at) {
    uint32_t code;
    if (at == length) {
        return 0;
    }
    (void)graft_utf8_read(text + at, &code);
    return graft_unicode_is_word(code);
}

/* Start of the white space that ends at `at`, not before `bound`. */
static size_t skip_space_back(const char *text, size_t at, size_t bound) {
    if (at < bound) {
        return bound;
    }
    while (at > bound) {
        uint32_t code;
        size_t previous = graft_utf8_previous(text, at);
        (void)graft_utf8_read(text + previous, &code);
        if (!graft_unicode_is_space(code)) {
            break;
        }
        at = previous;
    }
    return at;
}

static size_t skip_space(const char *text, size_t length, size_t at) {
    while (at < length) {
        uint32_t code;
        size_t n = graft_utf8_read(text + at, &code);
        if (!graft_unicode_is_space(code)) {
            break;
        }
        at += n;
    }
    return at;
}

static int is_control(const struct graft_added *added, const struct graft_added_marks *marks, int32_t index) {
    size_t i = 0;
    while (i < marks->n && marks->controls[i] != added->vocab.tokens[index].id) {
        i++;
    }
    return added->rules[index].special || i < marks->n;
}

/* Length of the longest added token that begins at `at` and whose rule allows it there; 0: there is none. */
static size_t find_token(const struct graft_added *added, enum graft_added_stage stage,
                         const struct graft_added_marks *marks, const char *text, size_t length, size_t at,
                         int32_t *index) {
    const struct graft_lexicon *lexicon = stage == GRAFT_ADDED_RAW ? &added->raw : &added->normalized;
    size_t n = graft_lexicon_longest(lexicon, 0, text + at, length - at, index);
    if (marks == NULL) {
        return n;
    }
    if (stage == GRAFT_ADDED_NORMALIZED) {
        return n > 0 && is_control(added, marks, *index) ? 0 : n;
    }
    int32_t plain = 0;
    size_t longer = added->plain.n > 0 ? graft_lexicon_longest(&added->plain, 0, text + at, length - at, &plain) : 0;
    if (longer > n && is_control(added, marks, plain)) {
        n = longer;
        *index = plain;
    }
    if (n > 0 && is_control(added, marks, *index) && memchr(marks->marks + at, 1, n) != NULL) {
        return 0;
    }
    return n;
}

void graft_added_split(const struct graft_added *added, enum graft_added_stage stage,
                       const struct graft_added_marks *marks, const char *text, size_t length, int first,
                       struct graft_pieces *out) {
    size_t open = 0; /* start of the text that is in no token so far */
    for (size_t at = 0; at < length;) {
        int32_t index = 0;
        size_t n = find_token(added, stage, marks, text, length, at, &index);
        if (n == 0) {
            at++;
            continue;
        }
        const struct graft_added_rule *rule = &added->rules[index];
        size_t start = at, end = at + n;
        at = end;
        if (rule->single_word && (touches_word_before(text, start) || touches_word_after(text, length, end))) {
            continue;
        }
        if (rule->special && added->ignores_special) {
            continue;
        }
        if (rule->lstrip) {
            start = skip_space_back(text, start, open);
        }
        if (rule->rstrip) {
            end = skip_space(text, length, end);
        }
        /* Nothing is left of this token if the one before took all its characters as white space. */
        if (open < start) {
            graft_pieces_add(out, text + open, start - open, first && open == 0);
        }
        if (start < end) {
            graft_pieces_add_token(out, added->vocab.tokens[index].id);
            open = end;
        }
    }
    if (open < length) {
        graft_pieces_add(out, text + open, length - open, first && open == 0);
    }
}

const char *graft_added_decoded(const struct graft_added *added, int32_t id, size_t *length) {
    const struct graft_token *token = graft_vocab_find_id(&added->vocab, id);
    if (token == NULL) {
        return NULL;
    }
    const struct graft_added_rule *rule = &added->rules[token - added->vocab.tokens];
    if (rule->form_length > 0) {
        *length = rule->form_length;
        return added->forms.bytes + rule->form_start;
    }
    *length = token->length;
    return graft_vocab_text(&added->vocab, token);
}

static const struct graft_added_rule *find_rule(const struct graft_added *added, int32_t id) {
    const struct graft_token *token = graft_vocab_find_id(&added->vocab, id);
    return token != NULL ? &added->rules[token - added->vocab.tokens] : NULL;
}

int graft_added_is_special(const struct graft_added *added, int32_t id) {
    const struct graft_added_rule *rule = find_rule(added, id);
    return rule != NULL && rule->special;
}

int graft_added_is_skipped(const struct graft_added *added, int32_t id) {
    const struct graft_added_rule *rule = find_rule(added, id);
    return rule != NULL && rule->skipped;
}

void graft_added_finish(struct graft_added *added) {
    graft_vocab_free(&added->vocab);
    graft_free(added->rules);
    graft_text_free(&added->forms);
    graft_lexicon_free(&added->raw);
    graft_lexicon_free(&added->normalized);
    graft_lexicon_free(&added->plain);
    *added = (struct graft_added){0};
}
