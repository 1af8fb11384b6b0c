/* SPDX-License-Identifier: Apache-2.0 */
/* Prints documents (graft_json_dump) in the layout of Python's json module, with the shortest form of reals. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "graft/error.h"

static void add_value(struct graft_text *out, const graft_json *value, int indent, int depth);

static void add_line_break(struct graft_text *out, int indent, int depth) {
    if (indent > 0) {
        graft_text_printf(out, "\n%*s", indent * depth, "");
    }
}

/* Adds a string. Control characters are escaped, including those above 0x7E, which JSON allows but terminals obey. */
static void add_string(struct graft_text *out, const char *bytes, size_t length) {
    static const char short_escapes[] = "\"\\\b\f\n\r\t";
    static const char short_letters[] = "\"\\bfnrt";
    graft_text_add(out, "\"", 1);
    for (size_t at = 0; at < length;) {
        size_t step = graft_utf8_sequence(bytes + at, length - at);
        unsigned char first = (unsigned char)bytes[at];
        const char *found = first != '\0' ? strchr(short_escapes, first) : NULL;
        if (found != NULL) {
            graft_text_printf(out, "\\%c", short_letters[found - short_escapes]);
        } else if (step > 0 && graft_error_is_control(bytes + at)) {
            uint32_t code; /* a character of three bytes at most */
            (void)graft_utf8_read(bytes + at, &code);
            graft_text_printf(out, "\\u%04x", (unsigned)code);
        } else {
            graft_text_add(out, bytes + at, step);
        }
        at += step > 0 ? step : 1;
    }
    graft_text_add(out, "\"", 1);
}

/* Adds a real with the fewest digits that read back as the same number, and with a point or an exponent so that it
 * stays a real. */
static void add_real(struct graft_text *out, double number) {
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number) {
            break;
        }
    }
    if (strpbrk(digits, ".,e") == NULL) {
        strcat(digits, ".0");
    }
    for (char *c = digits; *c != '\0'; c++) {
        /* an embedding program may have set a locale with another decimal point */
        *c = strchr("0123456789+-e.", *c) != NULL ? *c : '.';
    }
    graft_text_add_string(out, digits);
}

static void add_array(struct graft_text *out, const graft_json *array, int indent, int depth) {
    size_t size = graft_json_size(array);
    graft_text_add(out, "[", 1);
    for (size_t i = 0; i < size; i++) {
        add_line_break(out, indent, depth + 1);
        add_value(out, graft_json_at(array, i), indent, depth + 1);
        graft_text_add_string(out, i + 1 == size ? "" : indent > 0 ? "," : ", ");
    }
    if (size > 0) {
        add_line_break(out, indent, depth);
    }
    graft_text_add(out, "]", 1);
}

static void add_object(struct graft_text *out, const graft_json *object, int indent, int depth) {
    void *iterator = NULL;
    const char *key;
    const graft_json *value;
    size_t left = graft_json_size(object);
    graft_text_add(out, "{", 1);
    while (graft_json_next(object, &iterator, &key, &value)) {
        add_line_break(out, indent, depth + 1);
        add_string(out, key, strlen(key));
        graft_text_add(out, ": ", 2);
        add_value(out, value, indent, depth + 1);
        graft_text_add_string(out, --left == 0 ? "" : indent > 0 ? "," : ", ");
    }
    if (graft_json_size(object) > 0) {
        add_line_break(out, indent, depth);
    }
    graft_text_add(out, "}", 1);
}

static void add_value(struct graft_text *out, const graft_json *value, int indent, int depth) {
    size_t length;
    const char *string;
    switch (graft_json_type(value)) {
    case GRAFT_JSON_ABSENT:
    case GRAFT_JSON_NULL:
        graft_text_add_string(out, "null");
        return;
    case GRAFT_JSON_BOOL:
        graft_text_add_string(out, graft_json_bool(value) ? "true" : "false");
        return;
    case GRAFT_JSON_INT:
        graft_text_printf(out, "%" PRId64, graft_json_int(value));
        return;
    case GRAFT_JSON_REAL:
        add_real(out, graft_json_real(value));
        return;
    case GRAFT_JSON_STRING:
        string = graft_json_string(value, &length);
        add_string(out, string, length);
        return;
    case GRAFT_JSON_ARRAY:
        add_array(out, value, indent, depth);
        return;
    case GRAFT_JSON_OBJECT:
        add_object(out, value, indent, depth);
        return;
    }
}

char *graft_json_dump(const graft_json *document, int indent) {
    struct graft_text out = {0};
    add_value(&out, document, indent, 0);
    if (out.failed) {
        graft_text_free(&out);
    }
    return out.bytes;
}
