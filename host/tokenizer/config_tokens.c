/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the tokens of tokenizer_config.json and its companions, in the order in which transformers adds them. */
#include "tokenizer/config_tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"

/* State while the lists are added. */
struct adding {
    const struct graft_config_tokens *tokens;
    struct graft_added *added;
    const struct graft_vocab *vocab;
    size_t moved;               /* how many tokens got another id than the one the file gives */
    struct graft_vocab strings; /* texts that were added without a rule; each is added once */
    struct graft_text *notes;
};

static int is_named(const struct graft_config_tokens *tokens, const char *text, size_t length) {
    for (size_t i = 0; i < tokens->named.n; i++) {
        const struct graft_added_token *named = &tokens->named.items[i].token;
        if (named->length == length && memcmp(named->text, text, length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The token's index among the added ones, or their number if it is not among them. */
static size_t place_of(const struct graft_added *added, const struct graft_token *token) {
    return token != NULL ? (size_t)(token - added->vocab.tokens) : added->vocab.count;
}

static int put(const struct adding *adding, const struct graft_config_token *item, int32_t *id,
               struct graft_error *error) {
    struct graft_added_token token = item->token;
    if (token.length == 0) {
        *id = (int32_t)item->id;
        return GRAFT_OK;
    }
    if (is_named(adding->tokens, token.text, token.length)) {
        token.rule.special = 1;
        token.rule.normalized = token.rule.normalized && token.has_normalized;
    }
    return graft_added_put(adding->added, adding->vocab, &token, item->file, id, error);
}

static void note_moved(struct adding *adding, const struct graft_config_token *item, int32_t id) {
    if (adding->moved++ == 0) {
        graft_text_printf(adding->notes, "%s: the token \"%s\" gets the id %d, not %lld", graft_path_name(item->file),
                          item->token.text, (int)id, (long long)item->id);
    }
}

/* Whether a token of added_tokens.json is overridden by one of tokenizer.json, which are the first `n_own` of the added
 * ones. */
static int gives_way(const struct adding *adding, const struct graft_config_token *item, size_t n_own) {
    const struct graft_vocab *own = &adding->added->vocab;
    const struct graft_token *same = graft_vocab_find(own, item->token.text, item->token.length);
    return !adding->tokens->has_decoder &&
           (place_of(adding->added, graft_vocab_find_id(own, (int32_t)item->id)) < n_own ||
            (place_of(adding->added, same) < n_own && same->id > item->id));
}

static int add_listed(struct adding *adding, struct graft_error *error) {
    const struct graft_config_token_list *listed = &adding->tokens->listed;
    size_t n_own = adding->added->vocab.count;
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < listed->n; i++) {
        const struct graft_config_token *item = &listed->items[i];
        int32_t id = -1;
        if (gives_way(adding, item, n_own)) {
            continue;
        }
        status = put(adding, item, &id, error);
        if (status == GRAFT_OK && id != item->id) {
            note_moved(adding, item, id);
        }
    }
    if (adding->moved > 1) {
        graft_text_printf(adding->notes, "; %zu more tokens get other ids, too", adding->moved - 1);
    }
    if (adding->moved > 0) {
        graft_text_add_string(adding->notes, " (as in transformers, new tokens are numbered without gaps)");
        graft_text_add(adding->notes, "", 1);
    }
    return status;
}

/* Whether a token without a rule appears for the first time; one with a rule always counts as new. */
static int is_new(struct adding *adding, const struct graft_config_token *item, int *new, struct graft_error *error) {
    const struct graft_added_token *token = &item->token;
    struct graft_vocab *strings = &adding->strings;
    *new = !item->is_text || graft_vocab_find(strings, token->text, token->length) == NULL;
    return item->is_text && *new &&graft_vocab_add(strings, token->text, token->length, (int32_t)strings->count) != 0
               ? graft_fail_memory(error, item->file)
               : GRAFT_OK;
}

/* Adds the list's tokens that have not been added yet. Of several rules for one text the last counts. */
static int add_others(struct adding *adding, const struct graft_config_token_list *list, size_t n_before,
                      struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < list->n; i++) {
        const struct graft_added_token *token = &list->items[i].token;
        const struct graft_token *known = graft_vocab_find(&adding->added->vocab, token->text, token->length);
        int32_t id;
        int new = 0;
        if (place_of(adding->added, known) >= n_before) {
            status = is_new(adding, &list->items[i], &new, error);
        }
        if (status == GRAFT_OK && new) {
            status = put(adding, &list->items[i], &id, error);
        }
    }
    return status;
}

/* Marks named tokens as special, whatever tokenizer.json says, if there is no added_tokens_decoder. */
static void mark_own(const struct adding *adding) {
    struct graft_added *added = adding->added;
    for (size_t i = 0; i < added->vocab.count && !adding->tokens->has_decoder; i++) {
        const struct graft_token *token = &added->vocab.tokens[i];
        added->rules[i].special |= is_named(adding->tokens, graft_vocab_text(&added->vocab, token), token->length);
    }
}

static int by_id(const void *a, const void *b) {
    const struct graft_config_token *first = a, *second = b;
    return first->id != second->id ? (first->id < second->id ? -1 : 1) : (first > second) - (first < second);
}

/* Adds special tokens a second time, as some classes do: those written as strings, or all of them, become special and
 * lose other rules. */
static int add_again(struct adding *adding, const struct graft_config_token_list *list, const char *which,
                     struct graft_error *error) {
    int all = strcmp(which, "all") == 0, status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < list->n; i++) {
        struct graft_config_token item = list->items[i];
        int32_t id;
        if (item.is_text || all) {
            item.token.rule = (struct graft_added_rule){0};
        }
        item.token.rule.special = 1;
        if (item.token.length > 0) {
            status = graft_added_put(adding->added, adding->vocab, &item.token, item.file, &id, error);
        }
    }
    return status;
}

int graft_config_tokens_add(struct graft_config_tokens *tokens, const graft_json *entry, struct graft_added *added,
                            const struct graft_vocab *vocab, struct graft_text *notes, struct graft_error *error) {
    struct adding adding = {.tokens = tokens, .added = added, .vocab = vocab, .notes = notes};
    if (tokens->listed.n > 1) {
        qsort(tokens->listed.items, tokens->listed.n, sizeof *tokens->listed.items, by_id);
    }
    mark_own(&adding);
    int status = add_listed(&adding, error);
    size_t n_before = added->vocab.count;
    if (status == GRAFT_OK) {
        status = add_others(&adding, &tokens->named, n_before, error);
    }
    if (status == GRAFT_OK) {
        status = add_others(&adding, &tokens->extra, n_before, error);
    }
    const char *again = graft_json_string(graft_json_get(entry, "again"), NULL);
    if (status == GRAFT_OK && again != NULL) {
        status = add_again(&adding, &tokens->named, again, error);
    }
    if (status == GRAFT_OK && again != NULL) {
        status = add_again(&adding, &tokens->extra, again, error);
    }
    graft_vocab_free(&adding.strings);
    added->ignores_special = tokens->split_special_tokens;
    return status;
}

void graft_config_tokens_finish(struct graft_config_tokens *tokens) {
    for (size_t i = 0; i < GRAFT_N_TOKEN_FILES; i++) {
        graft_json_free(tokens->documents[i]);
        graft_free(tokens->paths[i]);
    }
    graft_json_free(tokens->class_extra);
    graft_free(tokens->listed.items);
    graft_free(tokens->named.items);
    graft_free(tokens->extra.items);
    *tokens = (struct graft_config_tokens){0};
}
