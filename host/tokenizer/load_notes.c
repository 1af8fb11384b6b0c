/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/load_notes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/token_class_compare.h"
#include "tokenizer/token_conversion.h"

static int is_same(const struct graft_ids *a, const struct graft_ids *b) {
    return a->n == b->n && (a->n == 0 || memcmp(a->ids, b->ids, a->n * sizeof *a->ids) == 0);
}

/* Whether two post-processors put the same tokens around a pair of texts, one token in each place. */
static int is_same_pair(const struct graft_postprocessor *a, const struct graft_postprocessor *b, int paired) {
    int32_t first_id = INT32_MAX - 1, second_id = INT32_MAX;
    const struct graft_ids first = {&first_id, 1, 1, 0}, second = {&second_id, 1, 1, 0};
    const struct graft_postprocessor *const both[] = {a, b};
    struct graft_ids ids[2] = {{0}, {0}}, types[2] = {{0}, {0}};
    int status = GRAFT_OK;
    for (size_t i = 0; i < 2 && status == GRAFT_OK; i++) {
        status = graft_postprocessor_run(both[i], &first, paired ? &second : NULL, 1, "", &ids[i], &types[i], NULL);
    }
    int same = status == GRAFT_OK && is_same(&ids[0], &ids[1]) && is_same(&types[0], &types[1]);
    for (size_t i = 0; i < 2; i++) {
        graft_ids_free(&ids[i]);
        graft_ids_free(&types[i]);
    }
    return same;
}

/* Whether the class puts the same tokens around texts as the file does. */
static int has_same_surroundings(const struct graft_tokenizer *tokenizer, const struct graft_token_class *token_class,
                                 const graft_json *post, const struct graft_config_tokens *tokens) {
    struct graft_token_conversion conversion = {
        .token_class = token_class, .path = graft_strdup(tokenizer->path), .rest = graft_json_new_object()};
    struct graft_postprocessor *by_class = NULL;
    int same =
        conversion.path != NULL && conversion.rest != NULL &&
        graft_token_conversion_post(&conversion, post, tokens, &tokenizer->added, &tokenizer->vocab, NULL) == GRAFT_OK;
    struct graft_field spec = graft_field_root(graft_json_get(conversion.rest, "post_processor"), tokenizer->path);
    same = same && graft_postprocessor_load(&spec, &by_class, NULL) == GRAFT_OK;
    for (int paired = 0; same && paired < 2; paired++) {
        same = is_same_pair(by_class, tokenizer->postprocessor, paired);
    }
    graft_postprocessor_destroy(by_class);
    graft_token_conversion_finish(&conversion);
    return same;
}

static int add_texts(struct graft_vocab *texts, const struct graft_config_token_list *list) {
    int failed = 0;
    for (size_t i = 0; !failed && i < list->n; i++) {
        const struct graft_added_token *token = &list->items[i].token;
        failed = graft_vocab_add(texts, token->text, token->length, (int32_t)texts->count) != 0;
    }
    return failed ? -1 : 0;
}

/* Whether the files next to tokenizer.json name all its added tokens: a class that takes only the vocabulary forgets
 * the others once there is an added_tokens_decoder. -1: out of memory. */
static int names_all(const struct graft_config_tokens *tokens, const graft_json *added) {
    struct graft_vocab texts = {0};
    int all = add_texts(&texts, &tokens->listed) == 0 && add_texts(&texts, &tokens->named) == 0 &&
                      add_texts(&texts, &tokens->extra) == 0
                  ? 1
                  : -1;
    for (size_t i = 0; all > 0 && tokens->has_decoder && i < graft_json_size(added); i++) {
        size_t length = 0;
        const char *text = graft_json_string(graft_json_get(graft_json_at(added, i), "content"), &length);
        all = graft_vocab_find(&texts, text, length) != NULL;
    }
    graft_vocab_free(&texts);
    return all;
}

int graft_load_note_class(struct graft_tokenizer *tokenizer, const struct graft_token_class *token_class,
                          const struct graft_config_tokens *tokens, const struct graft_document *document,
                          struct graft_error *error) {
    const graft_json *beside = graft_json_get(token_class->entry, "post_beside_file");
    const graft_json *post = beside != NULL ? beside : graft_json_get(token_class->entry, "post");
    struct graft_text parts = {0};
    int failed = graft_token_class_compare(token_class, tokens->documents[GRAFT_TOKENIZER_CONFIG], document, &parts);
    if (!failed && post != NULL && !has_same_surroundings(tokenizer, token_class, post, tokens)) {
        graft_text_printf(&parts, "%spost_processor", parts.length > 0 ? ", " : "");
    }
    if (!failed && token_class->entry != NULL && !graft_token_class_is_plain(token_class)) {
        int all = names_all(tokens, graft_json_get(document->rest, "added_tokens"));
        failed = all < 0;
        graft_text_add_string(&parts, all != 0 ? "" : parts.length > 0 ? ", added_tokens" : "added_tokens");
    }
    if (!failed && parts.length > 0) {
        graft_text_printf(
            &tokenizer->notes,
            "tokenizer.json: %s: as the file says, not as %s has it in transformers, which takes only the "
            "vocabulary of the file",
            parts.bytes, token_class->name);
        graft_text_add(&tokenizer->notes, "", 1);
    } else if (!failed && graft_token_class_is_other(token_class)) {
        graft_text_printf(&tokenizer->notes,
                          "tokenizer.json is read as it is: what %s of transformers does otherwise is not known",
                          token_class->name);
        graft_text_add(&tokenizer->notes, "", 1);
    }
    failed = failed || parts.failed || tokenizer->notes.failed;
    graft_text_free(&parts);
    return failed ? graft_fail_memory(error, tokenizer->path) : GRAFT_OK;
}
