/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a template into texts and tags, and removes white space as trim_blocks and lstrip_blocks ask: a line break
 * right after a block or comment, and spaces before one that begins its line. "-" removes all white space on its side
 * of a tag, "+" keeps it. */
#include "jinja/lexer.h"

#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "jinja/unicode.h"

int graft_jinja_fault(struct graft_error *error, int code, const struct graft_jinja_source *source, uint32_t at,
                      const char *format, ...) {
    size_t line = 1, begin = 0;
    for (size_t i = 0; i < at && i < source->length; i++) {
        if (source->text[i] == '\n') {
            line++;
            begin = i + 1;
        }
    }
    char what[900];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return graft_error_set(error, code, source->name, "line %zu column %zu: %s", line,
                           graft_utf8_count(source->text + begin, at - begin) + 1, what);
}

int graft_jinja_lexer_add(struct graft_jinja_lexer *lexer, enum graft_jinja_token_kind kind, size_t at,
                          const char *bytes, size_t length) {
    struct graft_jinja_tokens *tokens = lexer->tokens;
    if (graft_grow(&tokens->items, &tokens->capacity, tokens->n, sizeof *tokens->items) != 0) {
        return graft_fail_memory(lexer->error, lexer->source->name);
    }
    tokens->items[tokens->n++] = (struct graft_jinja_token){kind, (uint32_t)at, {bytes, NULL, length}};
    return GRAFT_OK;
}

static char mark_at(const struct graft_jinja_source *source, size_t at) {
    return at < source->length && (source->text[at] == '-' || source->text[at] == '+') ? source->text[at] : (char)0;
}

static size_t skip_space(const struct graft_jinja_source *source, size_t at) {
    for (uint32_t code; at < source->length;) {
        size_t step = graft_utf8_read(source->text + at, &code);
        if (!graft_jinja_is_space(code)) {
            break;
        }
        at += step;
    }
    return at;
}

/* Returns where [begin, end) ends without trailing white space. */
static size_t without_space(const char *text, size_t begin, size_t end) {
    while (end > begin) {
        uint32_t code;
        size_t step = end - begin - graft_utf8_previous(text + begin, end - begin);
        (void)graft_utf8_read(text + end - step, &code);
        if (!graft_jinja_is_space(code)) {
            break;
        }
        end -= step;
    }
    return end;
}

/* Returns where the text [begin, end) ends once white space is removed before a tag with this mark. */
static size_t text_end(const struct graft_jinja_source *source, size_t begin, size_t end, char mark, int is_output,
                       int at_line_start) {
    if (mark == '-') {
        return without_space(source->text, begin, end);
    }
    if (mark == '+' || is_output) {
        return end;
    }
    size_t line = end;
    while (line > begin && source->text[line - 1] != '\n') {
        line--;
    }
    int starts_line = line > begin || at_line_start;
    return starts_line && skip_space(source, line) >= end ? line : end;
}

/* Returns the offset after a tag that closed with `mark`, and sets whether a line begins there. */
static size_t after_tag(const struct graft_jinja_source *source, size_t at, char mark, int is_output,
                        int *at_line_start) {
    size_t after = at;
    if (mark == '-') {
        after = skip_space(source, at);
    } else if (mark != '+' && !is_output && at < source->length && source->text[at] == '\n') {
        after = at + 1;
    }
    *at_line_start = after > at && source->text[after - 1] == '\n';
    return after;
}

/* Returns the offset of the next tag, or the source's length. */
static size_t find_tag(const struct graft_jinja_source *source, size_t at) {
    for (; at + 1 < source->length; at++) {
        if (source->text[at] == '{' && strchr("{%#", source->text[at + 1]) != NULL && source->text[at + 1] != '\0') {
            return at;
        }
    }
    return source->length;
}

/* Skips the rest of a comment that was opened at `opening`, and sets `mark` to the mark at its end, or 0. */
static int skip_comment(struct graft_jinja_lexer *lexer, size_t opening, char *mark) {
    const struct graft_jinja_source *source = lexer->source;
    for (size_t at = lexer->at; at + 1 < source->length; at++) {
        if (source->text[at] == '#' && source->text[at + 1] == '}') {
            *mark = at > lexer->at && strchr("+-", source->text[at - 1]) != NULL ? source->text[at - 1] : 0;
            lexer->at = at + 2;
            return GRAFT_OK;
        }
    }
    return graft_jinja_fault(lexer->error, GRAFT_ERROR_MODEL, source, (uint32_t)opening,
                             "the comment has no end, expected \"#}\"");
}

/* Returns the offset after a tag that only contains `word`, such as "{%- endraw -%}", and sets `mark` to the mark at
 * its end; 0 if the tag at `at` is another one. */
static size_t after_word(const struct graft_jinja_source *source, size_t at, const char *word, char *mark) {
    size_t n = strlen(word);
    at = skip_space(source, at + 2 + (mark_at(source, at + 2) != 0));
    if (n > source->length - at || memcmp(source->text + at, word, n) != 0) {
        return 0;
    }
    at = skip_space(source, at + n);
    *mark = mark_at(source, at);
    at += *mark != 0;
    return source->length - at >= 2 && memcmp(source->text + at, "%}", 2) == 0 ? at + 2 : 0;
}

/* Reads a raw block from its tag at `tag` to the end of "endraw"; everything in between is text. */
static int lex_raw(struct graft_jinja_lexer *lexer, size_t tag, size_t begin, char begin_mark, int *at_line_start) {
    const struct graft_jinja_source *source = lexer->source;
    begin = begin_mark == '-' ? skip_space(source, begin) : begin;
    for (size_t at = find_tag(source, begin); at < source->length; at = find_tag(source, at + 2)) {
        char mark = 0;
        size_t after = source->text[at + 1] == '%' ? after_word(source, at, "endraw", &mark) : 0;
        if (after > 0) {
            size_t end = text_end(source, begin, at, mark_at(source, at + 2), 0, 0);
            lexer->at = after_tag(source, after, mark, 0, at_line_start);
            return graft_jinja_lexer_add(lexer, GRAFT_JINJA_TOKEN_DATA, begin, source->text + begin, end - begin);
        }
    }
    return graft_jinja_fault(lexer->error, GRAFT_ERROR_MODEL, source, (uint32_t)tag,
                             "the raw block has no end, expected \"endraw\"");
}

/* Reads a text and the tag after it. */
static int lex_piece(struct graft_jinja_lexer *lexer, int *at_line_start) {
    const struct graft_jinja_source *source = lexer->source;
    size_t begin = lexer->at;
    size_t tag = find_tag(source, begin);
    if (tag == source->length) {
        lexer->at = tag;
        return tag > begin
                   ? graft_jinja_lexer_add(lexer, GRAFT_JINJA_TOKEN_DATA, begin, source->text + begin, tag - begin)
                   : GRAFT_OK;
    }
    char kind = source->text[tag + 1];
    char mark = mark_at(source, tag + 2);
    size_t end = text_end(source, begin, tag, mark, kind == '{', *at_line_start);
    int status = GRAFT_OK;
    if (end > begin) {
        status = graft_jinja_lexer_add(lexer, GRAFT_JINJA_TOKEN_DATA, begin, source->text + begin, end - begin);
    }
    char raw_mark = 0;
    size_t raw = kind == '%' ? after_word(source, tag, "raw", &raw_mark) : 0;
    if (status == GRAFT_OK && raw > 0) {
        return lex_raw(lexer, tag, raw, raw_mark, at_line_start);
    }
    lexer->at = tag + 2 + (mark != 0);
    if (status == GRAFT_OK && kind == '#') {
        status = skip_comment(lexer, tag, &mark);
    } else if (status == GRAFT_OK) {
        const int is_output = kind == '{';
        status = graft_jinja_lexer_add(
            lexer, is_output ? GRAFT_JINJA_TOKEN_OUTPUT_BEGIN : GRAFT_JINJA_TOKEN_BLOCK_BEGIN, tag, "", 0);
        if (status == GRAFT_OK) {
            status = graft_jinja_lex_inside(lexer, is_output ? "}}" : "%}", &mark);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_lexer_add(
                lexer, is_output ? GRAFT_JINJA_TOKEN_OUTPUT_END : GRAFT_JINJA_TOKEN_BLOCK_END, lexer->at - 2, "", 0);
        }
    }
    lexer->at = after_tag(source, lexer->at, mark, kind == '{', at_line_start);
    return status;
}

int graft_jinja_lex(const struct graft_jinja_source *source, struct graft_jinja_arena *arena,
                    struct graft_jinja_tokens *tokens, struct graft_error *error) {
    struct graft_jinja_lexer lexer = {source, arena, tokens, error, 0};
    int status = GRAFT_OK;
    int at_line_start = 1;
    while (status == GRAFT_OK && lexer.at < source->length) {
        status = lex_piece(&lexer, &at_line_start);
    }
    return status == GRAFT_OK ? graft_jinja_lexer_add(&lexer, GRAFT_JINJA_TOKEN_END, source->length, "", 0) : status;
}
