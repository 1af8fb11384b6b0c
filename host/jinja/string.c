/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem, which takes linear time for any input */
/* String functions that methods and filters share. */
#include <string.h>

#include "base/utf8.h"
#include "jinja/run.h"
#include "jinja/unicode.h"

size_t graft_jinja_find_part(const struct graft_jinja_string *string, const struct graft_jinja_string *part,
                             size_t from) {
    const size_t none = string->length + 1;
    if (from > string->length || part->length > string->length - from) {
        return none;
    }
    if (part->length == 0) {
        return from;
    }
    const char *at = memmem(string->bytes + from, string->length - from, part->bytes, part->length);
    return at != NULL ? (size_t)(at - string->bytes) : none;
}

static int is_stripped(const char *character, size_t step, const struct graft_jinja_string *set) {
    if (set == NULL) {
        uint32_t code;
        (void)graft_utf8_read(character, &code);
        return graft_jinja_is_space(code);
    }
    const struct graft_jinja_string one = {character, NULL, step};
    return graft_jinja_find_part(set, &one, 0) <= set->length;
}

struct graft_jinja_string graft_jinja_strip(const struct graft_jinja_string *string,
                                            const struct graft_jinja_string *set, enum graft_jinja_side side) {
    size_t begin = 0, end = string->length;
    while ((side & GRAFT_JINJA_LEFT) != 0 && begin < end) {
        uint32_t code;
        size_t step = graft_utf8_read(string->bytes + begin, &code);
        if (!is_stripped(string->bytes + begin, step, set)) {
            break;
        }
        begin += step;
    }
    while ((side & GRAFT_JINJA_RIGHT) != 0 && end > begin) {
        size_t step = end - graft_utf8_previous(string->bytes, end);
        if (!is_stripped(string->bytes + end - step, step, set)) {
            break;
        }
        end -= step;
    }
    return graft_jinja_part(string, begin, end);
}

static uint32_t changed(uint32_t code, enum graft_jinja_case to, int begins_word, int is_first) {
    switch (to) {
    case GRAFT_JINJA_UPPER:
        return graft_jinja_to_upper(code);
    case GRAFT_JINJA_LOWER:
        return graft_jinja_to_lower(code);
    case GRAFT_JINJA_SWAP:
        return graft_jinja_is_upper(code) ? graft_jinja_to_lower(code) : graft_jinja_to_upper(code);
    default:
        return (to == GRAFT_JINJA_TITLE ? begins_word : is_first) ? graft_jinja_to_title(code)
                                                                  : graft_jinja_to_lower(code);
    }
}

int graft_jinja_change_case(struct graft_jinja_run *run, const struct graft_jinja_string *string,
                            enum graft_jinja_case to, struct graft_jinja_value *result) {
    struct graft_jinja_builder out = {0};
    struct graft_text one = {0};
    int begins_word = 1;
    int status = GRAFT_OK;
    for (size_t at = 0; at < string->length && status == GRAFT_OK;) {
        uint32_t code;
        size_t step = graft_utf8_read(string->bytes + at, &code);
        one.length = 0;
        /* sharp s: the only common letter whose upper case is two letters */
        if (code == 0xDF && to == GRAFT_JINJA_UPPER) {
            graft_text_add_string(&one, "SS");
        } else {
            graft_utf8_add(&one, changed(code, to, begins_word, at == 0));
        }
        begins_word = !graft_jinja_is_upper(code) && !graft_jinja_is_lower(code);
        status = one.failed ? graft_jinja_fail_memory(run)
                            : graft_jinja_add_bytes(run, &out, one.bytes, one.length,
                                                    string->marks != NULL && string->marks[at]);
        at += step;
    }
    graft_text_free(&one);
    if (status == GRAFT_OK) {
        status = graft_jinja_spend(run, string->length);
    }
    return graft_jinja_finish_text(run, &out, status, result);
}

/* `old` is empty: inserts the new text between any two characters and at both ends. */
static int replace_nothing(struct graft_jinja_run *run, const struct graft_jinja_string *string,
                           const struct graft_jinja_string *new, int64_t count, struct graft_jinja_builder *out) {
    int status = GRAFT_OK;
    for (size_t at = 0; at <= string->length && status == GRAFT_OK;) {
        uint32_t code;
        size_t step = at < string->length ? graft_utf8_read(string->bytes + at, &code) : 0;
        const struct graft_jinja_string one = graft_jinja_part(string, at, at + step);
        status = count-- != 0 ? graft_jinja_add(run, out, new) : GRAFT_OK;
        if (status == GRAFT_OK) {
            status = graft_jinja_add(run, out, &one);
        }
        at += step > 0 ? step : 1;
    }
    return status;
}

int graft_jinja_replace(struct graft_jinja_run *run, const struct graft_jinja_string *string,
                        const struct graft_jinja_string *old, const struct graft_jinja_string *new, int64_t count,
                        struct graft_jinja_value *result) {
    struct graft_jinja_builder out = {0};
    int status = graft_jinja_spend(run, string->length);
    if (old->length == 0 && status == GRAFT_OK) {
        status = replace_nothing(run, string, new, count, &out);
    }
    for (size_t at = 0; old->length > 0 && status == GRAFT_OK;) {
        size_t found = count-- != 0 ? graft_jinja_find_part(string, old, at) : string->length + 1;
        const struct graft_jinja_string kept =
            graft_jinja_part(string, at, found <= string->length ? found : string->length);
        status = graft_jinja_add(run, &out, &kept);
        if (found > string->length || status != GRAFT_OK) {
            break;
        }
        status = graft_jinja_add(run, &out, new);
        at = found + old->length;
    }
    return graft_jinja_finish_text(run, &out, status, result);
}

int graft_jinja_escape(struct graft_jinja_run *run, struct graft_jinja_value *value) {
    static const struct {
        char from;
        const char *to;
    } escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&#34;"}, {'\'', "&#39;"}};
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0] && status == GRAFT_OK && !value->safe; i++) {
        const struct graft_jinja_string from = {&escapes[i].from, NULL, 1};
        const struct graft_jinja_string to = graft_jinja_literal(escapes[i].to);
        const struct graft_jinja_string text = value->as.string;
        status = graft_jinja_replace(run, &text, &from, &to, -1, value);
    }
    value->safe = 1;
    return status;
}
