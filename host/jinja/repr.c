/* SPDX-License-Identifier: Apache-2.0 */
/* Converts values to text as Python does: str() for what is written, repr() inside lists and dicts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "jinja/run.h"
#include "jinja/unicode.h"

/* Finds digits and exponent of the shortest decimal that reads back as the same number. */
static int shortest(double number, char digits[24], int *exponent) {
    char text[48];
    for (int precision = 0; precision < 17; precision++) {
        (void)snprintf(text, sizeof text, "%.*e", precision, number);
        if (strtod(text, NULL) == number) {
            break;
        }
    }
    int n = 0;
    char *at = text;
    for (; *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9') {
            digits[n++] = *at;
        }
    }
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    *exponent = atoi(at + 1);
    return n;
}

/* Follows repr: a decimal point if there are few digits, else an exponent. */
void graft_jinja_spell_float(double number, char out[40]) {
    char digits[24];
    int exponent = 0;
    if (!isfinite(number)) {
        strcpy(out, isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
        return;
    }
    int n = shortest(fabs(number), digits, &exponent);
    char *at = out;
    if (signbit(number)) {
        *at++ = '-';
    }
    if (exponent < -4 || exponent >= 16) {
        *at++ = digits[0];
        if (n > 1) {
            *at++ = '.';
            memcpy(at, digits + 1, (size_t)n - 1);
            at += n - 1;
        }
        (void)snprintf(at, 16, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    int point = exponent + 1; /* digits before the point */
    if (point <= 0) {
        *at++ = '0';
        *at++ = '.';
        for (int i = point; i < 0; i++) {
            *at++ = '0';
        }
    }
    for (int i = 0; i < n || i < point; i++) {
        if (point > 0 && i == point) {
            *at++ = '.';
        }
        *at++ = i < n ? digits[i] : '0';
    }
    strcpy(at, point >= n ? ".0" : "");
}

static int add_escaped(struct graft_jinja_run *run, struct graft_jinja_builder *builder, uint32_t code, int marked) {
    char text[12];
    const char *letter = code == '\n' ? "\\n" : code == '\r' ? "\\r" : code == '\t' ? "\\t" : NULL;
    (void)snprintf(text, sizeof text, code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
    letter = letter != NULL ? letter : text;
    return graft_jinja_add_bytes(run, builder, letter, strlen(letter), marked);
}

static int add_quoted(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                      const struct graft_jinja_string *string) {
    const int has_single = string->length > 0 && memchr(string->bytes, '\'', string->length) != NULL;
    const int has_double = string->length > 0 && memchr(string->bytes, '"', string->length) != NULL;
    const char quote[2] = {has_single && !has_double ? '"' : '\'', '\0'};
    int status = graft_jinja_add_literal(run, builder, quote);
    for (size_t at = 0; at < string->length && status == GRAFT_OK;) {
        uint32_t code;
        size_t step = graft_utf8_read(string->bytes + at, &code);
        const int marked = string->marks != NULL && string->marks[at];
        const struct graft_jinja_string character = graft_jinja_part(string, at, at + step);
        if (code == '\\' || code == (unsigned char)quote[0]) {
            status = graft_jinja_add_bytes(run, builder, "\\", 1, marked);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_is_printable(code) ? graft_jinja_add(run, builder, &character)
                                                    : add_escaped(run, builder, code, marked);
        }
        at += step;
    }
    return status == GRAFT_OK ? graft_jinja_add_literal(run, builder, quote) : status;
}

static int add_list(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                    const struct graft_jinja_list *list) {
    char frame[64];
    if (list->form == GRAFT_JINJA_RANGE) {
        const int64_t first = list->n > 0 ? list->items[0].as.integer : 0;
        const int64_t step = list->n > 1 ? list->items[1].as.integer - first : 1;
        const int64_t end = list->n > 0 ? list->items[list->n - 1].as.integer + step : 0;
        (void)snprintf(frame, sizeof frame,
                       step == 1 ? "range(%" PRId64 ", %" PRId64 ")" : "range(%" PRId64 ", %" PRId64 ", %" PRId64 ")",
                       first, end, step);
        return graft_jinja_add_literal(run, builder, frame);
    }
    if (list->form == GRAFT_JINJA_GENERATOR) {
        return graft_jinja_fail(run, "a %s is written out, expected a value: Python would print its address",
                                list->type_name);
    }
    if (list->form == GRAFT_JINJA_VIEW) {
        (void)snprintf(frame, sizeof frame, "%s([", list->type_name);
    }
    int status = graft_jinja_add_literal(run, builder,
                                         list->form == GRAFT_JINJA_VIEW    ? frame
                                         : list->form == GRAFT_JINJA_TUPLE ? "("
                                                                           : "[");
    for (size_t i = 0; i < list->n && status == GRAFT_OK; i++) {
        status = graft_jinja_add_literal(run, builder, i > 0 ? ", " : "");
        if (status == GRAFT_OK) {
            status = graft_jinja_add_repr(run, builder, &list->items[i]);
        }
    }
    const char *close = list->form == GRAFT_JINJA_VIEW    ? "])"
                        : list->form == GRAFT_JINJA_PLAIN ? "]"
                        : list->n == 1                    ? ",)"
                                                          : ")";
    return status == GRAFT_OK ? graft_jinja_add_literal(run, builder, close) : status;
}

static int add_dict(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                    const struct graft_jinja_dict *dict) {
    int status = graft_jinja_add_literal(run, builder, "{");
    for (size_t i = 0; i < dict->n && status == GRAFT_OK; i++) {
        status = graft_jinja_add_literal(run, builder, i > 0 ? ", " : "");
        if (status == GRAFT_OK) {
            status = graft_jinja_add_repr(run, builder, &dict->entries[i].key);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_add_literal(run, builder, ": ");
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_add_repr(run, builder, &dict->entries[i].value);
        }
    }
    return status == GRAFT_OK ? graft_jinja_add_literal(run, builder, "}") : status;
}

static int add_number(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                      const struct graft_jinja_value *value) {
    char text[40];
    if (value->kind == GRAFT_JINJA_FLOAT) {
        graft_jinja_spell_float(value->as.real, text);
    } else if (value->kind == GRAFT_JINJA_INT) {
        (void)snprintf(text, sizeof text, "%" PRId64, value->as.integer);
    } else {
        strcpy(text, value->as.truth ? "True" : "False");
    }
    return graft_jinja_add_literal(run, builder, text);
}

int graft_jinja_add_repr(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                         const struct graft_jinja_value *value) {
    int status = graft_jinja_descend(run);
    if (status == GRAFT_OK) {
        status = value->kind == GRAFT_JINJA_STRING      ? add_quoted(run, builder, &value->as.string)
                 : value->kind == GRAFT_JINJA_UNDEFINED ? graft_jinja_add_literal(run, builder, "Undefined")
                                                        : graft_jinja_add_text(run, builder, value);
    }
    run->depth--;
    return status;
}

int graft_jinja_add_text(struct graft_jinja_run *run, struct graft_jinja_builder *builder,
                         const struct graft_jinja_value *value) {
    switch (value->kind) {
    case GRAFT_JINJA_UNDEFINED:
        return GRAFT_OK;
    case GRAFT_JINJA_NONE:
        return graft_jinja_add_literal(run, builder, "None");
    case GRAFT_JINJA_BOOL:
    case GRAFT_JINJA_INT:
    case GRAFT_JINJA_FLOAT:
        return add_number(run, builder, value);
    case GRAFT_JINJA_STRING:
        return graft_jinja_add(run, builder, &value->as.string);
    case GRAFT_JINJA_LIST:
        return add_list(run, builder, value->as.list);
    case GRAFT_JINJA_DICT:
        return add_dict(run, builder, value->as.dict);
    default:
        return graft_jinja_fail(run, "a %s is written out, expected a value: Python would print its address",
                                graft_jinja_type_name(value));
    }
}

int graft_jinja_to_text(struct graft_jinja_run *run, const struct graft_jinja_value *value,
                        struct graft_jinja_value *result) {
    struct graft_jinja_builder text = {0};
    if (value->kind == GRAFT_JINJA_STRING) {
        *result = *value;
        return GRAFT_OK;
    }
    int status = graft_jinja_add_text(run, &text, value);
    return graft_jinja_finish_text(run, &text, status, result);
}
