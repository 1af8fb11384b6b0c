/* SPDX-License-Identifier: Apache-2.0 */
#include "jinja/parser.h"

#include <string.h>

#include "base/alloc.h"
#include "jinja/run.h"

/* Limits on nested calls of the parser, bytes of source and bytes of nodes. Published templates reach 16 calls and
 * 20,000 bytes. */
enum { MAX_DEPTH = 150, MAX_SOURCE = 1 << 21, MAX_ARENA = 1 << 28 };

struct graft_jinja_node *graft_jinja_node_new(struct graft_jinja_parser *parser, enum graft_jinja_node_kind kind) {
    struct graft_jinja_node *node = graft_jinja_arena_take(parser->arena, 1, sizeof *node);
    if (node == NULL) {
        (void)graft_fail_memory(parser->error, parser->source->name);
        return NULL;
    }
    node->kind = kind;
    node->at = parser->token->at;
    return node;
}

int graft_jinja_unexpected(struct graft_jinja_parser *parser, const char *expected) {
    const struct graft_jinja_token *token = parser->token;
    const char *found = token->kind == GRAFT_JINJA_TOKEN_BLOCK_END    ? "%}"
                        : token->kind == GRAFT_JINJA_TOKEN_OUTPUT_END ? "}}"
                        : token->kind == GRAFT_JINJA_TOKEN_END        ? "the end of the template"
                                                                      : NULL;
    const int length = token->text.length < 60 ? (int)token->text.length : 60;
    return graft_jinja_fault(parser->error, GRAFT_ERROR_MODEL, parser->source, token->at, "expected %s, found \"%.*s\"",
                             expected, found != NULL ? (int)strlen(found) : length,
                             found != NULL ? found : token->text.bytes);
}

static int sees(const struct graft_jinja_parser *parser, enum graft_jinja_token_kind kind, const char *text) {
    return parser->token->kind == kind && graft_jinja_string_is(&parser->token->text, text);
}

int graft_jinja_sees(const struct graft_jinja_parser *parser, const char *operator_text) {
    return sees(parser, GRAFT_JINJA_TOKEN_OPERATOR, operator_text);
}

int graft_jinja_sees_name(const struct graft_jinja_parser *parser, const char *name) {
    return sees(parser, GRAFT_JINJA_TOKEN_NAME, name);
}

int graft_jinja_take(struct graft_jinja_parser *parser, const char *operator_text) {
    int seen = graft_jinja_sees(parser, operator_text);
    parser->token += seen;
    return seen;
}

int graft_jinja_take_name(struct graft_jinja_parser *parser, const char *name) {
    int seen = graft_jinja_sees_name(parser, name);
    parser->token += seen;
    return seen;
}

int graft_jinja_expect(struct graft_jinja_parser *parser, const char *operator_text) {
    char quoted[8];
    (void)snprintf(quoted, sizeof quoted, "\"%s\"", operator_text);
    return graft_jinja_take(parser, operator_text) ? GRAFT_OK : graft_jinja_unexpected(parser, quoted);
}

int graft_jinja_expect_name(struct graft_jinja_parser *parser, struct graft_jinja_string *name) {
    if (parser->token->kind != GRAFT_JINJA_TOKEN_NAME) {
        return graft_jinja_unexpected(parser, "a name");
    }
    *name = parser->token->text;
    name->bytes = graft_jinja_arena_copy(parser->arena, name->bytes, name->length);
    parser->token++;
    return name->bytes != NULL ? GRAFT_OK : graft_fail_memory(parser->error, parser->source->name);
}

int graft_jinja_enter(struct graft_jinja_parser *parser) {
    if (++parser->depth > MAX_DEPTH) {
        return graft_jinja_fault(parser->error, GRAFT_ERROR_MODEL, parser->source, parser->token->at,
                                 "nested deeper than %d levels", MAX_DEPTH);
    }
    return GRAFT_OK;
}

void graft_jinja_leave(struct graft_jinja_parser *parser) {
    parser->depth--;
}

/* Copies the source with LF for each line break, and without one at the end. */
static int take_source(struct graft_jinja_template *parsed, const char *text, size_t length, const char *name,
                       struct graft_error *error) {
    struct graft_jinja_source *source = &parsed->source;
    source->name = graft_jinja_arena_copy(&parsed->arena, name, strlen(name));
    char *own = graft_jinja_arena_copy(&parsed->arena, text, length);
    if (source->name == NULL || own == NULL) {
        return graft_fail_memory(error, name);
    }
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        int is_pair = text[i] == '\r' && i + 1 < length && text[i + 1] == '\n';
        own[n++] = (char)(text[i] == '\r' ? '\n' : text[i]);
        i += (size_t)is_pair;
    }
    source->text = own;
    source->length = n > 0 && own[n - 1] == '\n' ? n - 1 : n;
    return GRAFT_OK;
}

/* Collects the texts and string literals that the template can write. */
static int keep_literals(struct graft_jinja_template *parsed, const struct graft_jinja_tokens *tokens,
                         struct graft_error *error) {
    parsed->literals = graft_jinja_arena_take(&parsed->arena, tokens->n, sizeof *parsed->literals);
    if (parsed->literals == NULL) {
        return graft_fail_memory(error, parsed->source.name);
    }
    for (size_t i = 0; i < tokens->n; i++) {
        const struct graft_jinja_token *token = &tokens->items[i];
        if (token->kind == GRAFT_JINJA_TOKEN_DATA || token->kind == GRAFT_JINJA_TOKEN_STRING) {
            parsed->literals[parsed->n_literals++] = token->text;
        }
    }
    return GRAFT_OK;
}

static int parse(struct graft_jinja_template *parsed, struct graft_error *error) {
    struct graft_jinja_tokens tokens = {0};
    int status = graft_jinja_lex(&parsed->source, &parsed->arena, &tokens, error);
    if (status == GRAFT_OK) {
        struct graft_jinja_parser parser = {&parsed->source, &parsed->arena, tokens.items, 0, 0, error};
        int end = 0;
        status = graft_jinja_parse_body(&parser, NULL, &end, &parsed->body);
    }
    if (status == GRAFT_OK) {
        status = keep_literals(parsed, &tokens, error);
    }
    graft_free(tokens.items);
    return status;
}

int graft_jinja_parse(const char *text, size_t length, const char *source, struct graft_jinja_template **parsed,
                      struct graft_error *error) {
    *parsed = NULL;
    size_t valid = graft_utf8_valid_prefix(text, length);
    if (valid != length) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, source, "not UTF-8 at byte %zu", valid);
    }
    if (length > MAX_SOURCE) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, source, "the template has %zu bytes, at most %d are read",
                               length, MAX_SOURCE);
    }
    struct graft_jinja_template *made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, source);
    }
    made->arena.limit = MAX_ARENA;
    int status = take_source(made, text, length, source, error);
    if (status == GRAFT_OK) {
        status = parse(made, error);
    }
    if (status != GRAFT_OK) {
        graft_jinja_free(made);
        return status;
    }
    *parsed = made;
    return GRAFT_OK;
}

int graft_jinja_mentions(const struct graft_jinja_template *parsed, const char *word, size_t length) {
    const struct graft_jinja_string searched = {word, NULL, length};
    for (size_t i = 0; i < parsed->n_literals; i++) {
        if (graft_jinja_find_part(&parsed->literals[i], &searched, 0) <= parsed->literals[i].length) {
            return 1;
        }
    }
    return 0;
}

int graft_jinja_reads(const struct graft_jinja_template *parsed, const char *word) {
    const struct graft_jinja_string text = {parsed->source.text, NULL, parsed->source.length};
    const struct graft_jinja_string searched = graft_jinja_literal(word);
    return graft_jinja_find_part(&text, &searched, 0) <= text.length;
}

void graft_jinja_free(struct graft_jinja_template *parsed) {
    if (parsed != NULL) {
        graft_jinja_arena_finish(&parsed->arena);
        graft_free(parsed);
    }
}
