/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the post-processor, which puts special tokens around texts, from the class's recipe. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/token_conversion.h"

struct posting {
    const struct graft_token_conversion *conversion;
    const struct graft_config_tokens *tokens;
    const struct graft_added *added;
    const struct graft_vocab *vocab;
    graft_json *special; /* `special_tokens` */
    struct graft_error *error;
};

static const struct graft_added_token *find_named(const struct graft_config_tokens *tokens, const char *name,
                                                  size_t length) {
    for (size_t i = 0; i < tokens->named.n; i++) {
        const char *other = tokens->named.items[i].name;
        if (strlen(other) == length && memcmp(other, name, length) == 0) {
            return &tokens->named.items[i].token;
        }
    }
    return NULL;
}

static int fail_memory(const struct posting *posting) {
    return graft_fail_memory(posting->error, posting->conversion->path);
}

/* Appends {KEY: {"id": ..., "type_id": ...}}. */
static int append_part(const struct posting *posting, graft_json *parts, const char *key, const char *id, size_t length,
                       int type) {
    graft_json *outer = graft_json_new_object(), *inner = graft_json_new_object();
    int failed = graft_json_set_take(inner, "id", graft_json_new_string_n(id, length)) != 0 ||
                 graft_json_set_take(inner, "type_id", graft_json_new_int(type)) != 0;
    failed |= graft_json_set_take(outer, key, inner) != 0;
    failed |= graft_json_append_take(parts, outer) != 0;
    return failed ? fail_memory(posting) : GRAFT_OK;
}

static graft_json *array_of_one(graft_json *element_take) {
    graft_json *array = graft_json_new_array();
    if (graft_json_append_take(array, element_take) != 0) {
        graft_json_free(array);
        return NULL;
    }
    return array;
}

/* Adds the token to the template's `special_tokens`. */
static int declare(const struct posting *posting, const struct graft_added_token *token) {
    const struct graft_token *found = graft_vocab_find(&posting->added->vocab, token->text, token->length);
    if (found == NULL) {
        found = graft_vocab_find(posting->vocab, token->text, token->length);
    }
    char *text = graft_strndup(token->text, token->length);
    graft_json *entry = graft_json_new_object();
    int failed =
        text == NULL || graft_json_set_take(entry, "id", graft_json_new_string_n(token->text, token->length)) != 0 ||
        graft_json_set_take(entry, "ids", array_of_one(graft_json_new_int(found != NULL ? found->id : 0))) != 0 ||
        graft_json_set_take(entry, "tokens", array_of_one(graft_json_new_string_n(token->text, token->length))) != 0;
    failed |= graft_json_set_take(posting->special, text != NULL ? text : "", entry) != 0;
    graft_free(text);
    return failed ? fail_memory(posting) : GRAFT_OK;
}

static int add_token(const struct posting *posting, graft_json *parts, const char *name, size_t length, int type) {
    const struct graft_added_token *token = find_named(posting->tokens, name, length);
    if (token == NULL) {
        return graft_error_set(posting->error, GRAFT_ERROR_MODEL, posting->tokens->paths[GRAFT_TOKENIZER_CONFIG],
                               "%.*s: expected a token: the tokenizer class %s puts it around texts", (int)length, name,
                               posting->conversion->token_class->name);
    }
    int status = declare(posting, token);
    return status == GRAFT_OK ? append_part(posting, parts, "SpecialToken", token->text, token->length, type) : status;
}

/* Reads "cls_token:0 A:0 sep_token:0". */
static int read_parts(const struct posting *posting, const char *text, graft_json *parts) {
    int status = GRAFT_OK;
    while (status == GRAFT_OK && *text != '\0') {
        const char *colon = strchr(text, ':');
        size_t length = (size_t)(colon - text);
        char *end = NULL;
        int type = (int)strtol(colon + 1, &end, 10);
        status = length == 1 ? append_part(posting, parts, "Sequence", text, 1, type)
                             : add_token(posting, parts, text, length, type);
        text = end + strspn(end, " ");
    }
    return status;
}

/* The parts of a class without "post": as add_bos_token and add_eos_token say. */
static int default_parts(const struct posting *posting, struct graft_text *single, struct graft_text *pair) {
    const struct graft_recipe_values *values = &posting->conversion->values;
    int adds_by_itself = graft_json_bool(graft_json_get(posting->conversion->token_class->entry, "add_bos_token"));
    int bos = graft_recipe_is_true(values, adds_by_itself ? "add_bos_token=true" : "add_bos_token=false");
    int eos = graft_recipe_is_true(values, "add_eos_token=false");
    if (bos < 0 || eos < 0) {
        return fail_memory(posting);
    }
    bos = bos && find_named(posting->tokens, "bos_token", 9) != NULL;
    eos = eos && find_named(posting->tokens, "eos_token", 9) != NULL;
    graft_text_printf(single, "%sA:0%s", bos ? "bos_token:0 " : "", eos ? " eos_token:0" : "");
    graft_text_printf(pair, "%s%s B:1%s", single->failed ? "" : single->bytes, bos ? " bos_token:1" : "",
                      eos ? " eos_token:1" : "");
    return single->failed || pair->failed ? fail_memory(posting) : GRAFT_OK;
}

static int make(const struct posting *posting, const char *single, const char *pair, graft_json *template) {
    graft_json *first = graft_json_new_array(), *both = graft_json_new_array();
    int failed = graft_json_set_take(template, "type", graft_json_new_string("TemplateProcessing")) != 0;
    failed |= graft_json_set_take(template, "single", first) != 0;
    failed |= graft_json_set_take(template, "pair", both) != 0;
    if (failed) {
        return fail_memory(posting);
    }
    int status = read_parts(posting, single, first);
    return status == GRAFT_OK ? read_parts(posting, pair, both) : status;
}

int graft_token_conversion_post(struct graft_token_conversion *conversion, const graft_json *post,
                                const struct graft_config_tokens *tokens, const struct graft_added *added,
                                const struct graft_vocab *vocab, struct graft_error *error) {
    struct posting posting = {conversion, tokens, added, vocab, graft_json_new_object(), error};
    struct graft_text single = {0}, pair = {0};
    graft_json *template = graft_json_new_object();
    int status = GRAFT_OK;
    if (post == NULL) {
        status = default_parts(&posting, &single, &pair);
    }
    if (status == GRAFT_OK) {
        status = make(&posting, post != NULL ? graft_json_string(graft_json_get(post, "single"), NULL) : single.bytes,
                      post != NULL ? graft_json_string(graft_json_get(post, "pair"), NULL) : pair.bytes, template);
    }
    int failed = graft_json_set_take(template, "special_tokens", posting.special) != 0;
    failed |= graft_json_set_take(conversion->rest, "post_processor", template) != 0;
    graft_text_free(&single);
    graft_text_free(&pair);
    return status == GRAFT_OK && failed ? fail_memory(&posting) : status;
}
