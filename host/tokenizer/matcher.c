/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/matcher.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "tokenizer/dialect.h"

/* Strings are compared at every position of a text; this limit bounds the cost. */
enum { MAX_STRING_BYTES = 1024 };

static int remember_place(struct graft_matcher *matcher, const struct graft_field *spec, struct graft_error *error) {
    char field[256];
    graft_field_path(spec, field, sizeof field);
    matcher->file = graft_strdup(spec->file);
    matcher->field = graft_strdup(field);
    return matcher->file == NULL || matcher->field == NULL ? graft_fail_memory(error, spec->file) : GRAFT_OK;
}

static int compile(struct graft_matcher *matcher, const char *expression, size_t length, const struct graft_field *spec,
                   struct graft_error *error) {
    struct graft_text rewritten = {0};
    struct graft_error cause = graft_error_none();
    int status = graft_dialect_rewrite(expression, length, &rewritten, spec, error);
    if (status == GRAFT_OK) {
        status = graft_regex_compile(rewritten.bytes != NULL ? rewritten.bytes : "", rewritten.length, spec->file,
                                     GRAFT_ERROR_MODEL, &matcher->regex, &cause);
    }
    if (cause.code == GRAFT_ERROR_MODEL) {
        (void)graft_field_error(spec, error, "%s", cause.message);
    } else if (cause.code != GRAFT_OK) {
        (void)graft_error_set(error, cause.code, cause.source, "%s", cause.message);
    }
    graft_text_free(&rewritten);
    return status;
}

int graft_matcher_init_regex(struct graft_matcher *matcher, const char *expression, const struct graft_field *spec,
                             struct graft_error *error) {
    int status = remember_place(matcher, spec, error);
    if (status == GRAFT_OK) {
        status = compile(matcher, expression, strlen(expression), spec, error);
    }
    if (status != GRAFT_OK) {
        graft_matcher_finish(matcher);
    }
    return status;
}

static int copy_string(struct graft_matcher *matcher, const char *string, size_t length, const struct graft_field *spec,
                       struct graft_error *error) {
    if (length > MAX_STRING_BYTES) {
        return graft_field_error(spec, error, "the string has %zu bytes, at most %d are supported", length,
                                 MAX_STRING_BYTES);
    }
    matcher->length = length;
    matcher->string = graft_strndup(string, length);
    return matcher->string == NULL ? graft_fail_memory(error, spec->file) : GRAFT_OK;
}

int graft_matcher_init_string(struct graft_matcher *matcher, const char *string, size_t length,
                              const struct graft_field *spec, struct graft_error *error) {
    int status = remember_place(matcher, spec, error);
    if (status == GRAFT_OK) {
        status = copy_string(matcher, string, length, spec, error);
    }
    if (status != GRAFT_OK) {
        graft_matcher_finish(matcher);
    }
    return status;
}

int graft_matcher_init(struct graft_matcher *matcher, const struct graft_field *spec, struct graft_error *error) {
    struct fields {
        struct graft_text_view string, expression;
    } fields = {0};
    static const struct graft_member members[] = {
        {"String", GRAFT_MEMBER_VIEW, .offset = offsetof(struct fields, string), .is_optional = 1},
        {"Regex", GRAFT_MEMBER_VIEW, .offset = offsetof(struct fields, expression), .is_optional = 1},
        {0},
    };
    int status = graft_field_read(spec, members, &fields, error);
    if (status == GRAFT_OK && (fields.string.text == NULL) == (fields.expression.text == NULL)) {
        status = graft_field_error(spec, error, "expected either \"String\" or \"Regex\"");
    }
    if (status == GRAFT_OK) {
        status = remember_place(matcher, spec, error);
    }
    if (status == GRAFT_OK) {
        status = fields.string.text != NULL
                     ? copy_string(matcher, fields.string.text, fields.string.length, spec, error)
                     : compile(matcher, fields.expression.text, fields.expression.length, spec, error);
    }
    if (status != GRAFT_OK) {
        graft_matcher_finish(matcher);
    }
    return status;
}

static int find_string(const struct graft_matcher *matcher, const char *text, size_t length, size_t from,
                       struct graft_regex_match *match) {
    if (matcher->length == 0) { /* is everywhere */
        *match = (struct graft_regex_match){from, from};
        return GRAFT_REGEX_MATCH;
    }
    while (length - from >= matcher->length) {
        const char *at = memchr(text + from, matcher->string[0], length - from - matcher->length + 1);
        if (at == NULL) {
            break;
        }
        from = (size_t)(at - text);
        if (memcmp(at, matcher->string, matcher->length) == 0) {
            *match = (struct graft_regex_match){from, from + matcher->length};
            return GRAFT_REGEX_MATCH;
        }
        from++;
    }
    return GRAFT_REGEX_NO_MATCH;
}

static int find_from(const struct graft_matcher *matcher, const char *text, size_t length, size_t from,
                     struct graft_regex_match *match) {
    return matcher->regex != NULL ? graft_regex_search(matcher->regex, text, length, from, match)
                                  : find_string(matcher, text, length, from, match);
}

int graft_matcher_find(const struct graft_matcher *matcher, const char *text, size_t length,
                       struct graft_segments *segments, struct graft_error *error) {
    size_t open = 0, from = 0, last_end = SIZE_MAX;
    int found = GRAFT_REGEX_NO_MATCH;
    segments->n = 0;
    while (length > 0 && from <= length) { /* in an empty text nothing is found, as in the reference */
        struct graft_regex_match match;
        found = find_from(matcher, text, length, from, &match);
        if (found != GRAFT_REGEX_MATCH) {
            break;
        }
        if (match.start == match.end && match.end == last_end) {
            /* An empty match right after another does not count; the search goes on one character later. */
            uint32_t code;
            from = match.end < length ? match.end + graft_utf8_read(text + match.end, &code) : length + 1;
            continue;
        }
        if (open < match.start) {
            graft_segments_add(segments, open, match.start, 0);
        }
        graft_segments_add(segments, match.start, match.end, 1);
        open = from = last_end = match.end;
    }
    if (open < length) {
        graft_segments_add(segments, open, length, 0);
    }
    if (found < 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, matcher->file,
                               "%s: the expression takes too many steps on this text", matcher->field);
    }
    return segments->failed ? graft_fail_memory(error, matcher->file) : GRAFT_OK;
}

void graft_matcher_finish(struct graft_matcher *matcher) {
    graft_regex_free(matcher->regex);
    graft_free(matcher->string);
    graft_free(matcher->file);
    graft_free(matcher->field);
    *matcher = (struct graft_matcher){0};
}
