/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

enum { FIRST_CAPACITY = 64 };

/* Makes room for `more` bytes and a NUL. Returns 0 if memory ran out. */
static int reserve(struct graft_text *text, size_t more) {
    if (text->failed) {
        return 0;
    }
    size_t wanted = more < SIZE_MAX - text->length ? text->length + more + 1 : 0;
    if (wanted > 0 && wanted <= text->capacity) {
        return 1;
    }
    size_t capacity = text->capacity > 0 ? text->capacity : FIRST_CAPACITY;
    while (capacity < wanted) {
        capacity = capacity > SIZE_MAX / 2 ? wanted : 2 * capacity;
    }
    char *bytes = wanted > 0 ? graft_realloc(text->bytes, capacity, 1) : NULL;
    if (bytes == NULL) {
        text->failed = 1;
        return 0;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return 1;
}

void graft_text_add(struct graft_text *text, const char *bytes, size_t length) {
    if (!reserve(text, length)) {
        return;
    }
    if (length > 0) {
        memcpy(text->bytes + text->length, bytes, length);
    }
    text->length += length;
    text->bytes[text->length] = '\0';
}

void graft_text_add_string(struct graft_text *text, const char *string) {
    graft_text_add(text, string, strlen(string));
}

void graft_text_printf(struct graft_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text->failed = 1;
    } else if (reserve(text, (size_t)length)) {
        va_start(arguments, format);
        (void)vsnprintf(text->bytes + text->length, (size_t)length + 1, format, arguments);
        va_end(arguments);
        text->length += (size_t)length;
    }
}

void graft_text_free(struct graft_text *text) {
    graft_free(text->bytes);
    *text = (struct graft_text){0};
}

/* Whether bytes [1, n) are continuation bytes. */
static int continues(const unsigned char *bytes, size_t length, size_t n) {
    if (length < n) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return 1;
}

/* The Unicode standard, table 3-7: the range of the second byte excludes overlong forms, surrogates, and code points
 * above U+10FFFF. */
size_t graft_utf8_sequence(const char *bytes, size_t length) {
    const unsigned char *at = (const unsigned char *)bytes;
    if (length == 0) {
        return 0;
    }
    if (at[0] < 0x80) {
        return 1;
    }
    if (at[0] >= 0xC2 && at[0] <= 0xDF) {
        return continues(at, length, 2) ? 2 : 0;
    }
    if ((at[0] & 0xF0) == 0xE0) {
        int in_range = continues(at, length, 3) && (at[0] != 0xE0 || at[1] >= 0xA0) && (at[0] != 0xED || at[1] <= 0x9F);
        return in_range ? 3 : 0;
    }
    if (at[0] >= 0xF0 && at[0] <= 0xF4) {
        int in_range = continues(at, length, 4) && (at[0] != 0xF0 || at[1] >= 0x90) && (at[0] != 0xF4 || at[1] <= 0x8F);
        return in_range ? 4 : 0;
    }
    return 0;
}

void graft_utf8_add(struct graft_text *text, uint32_t code) {
    char bytes[4];
    graft_text_add(text, bytes, graft_utf8_write(code, bytes));
}

size_t graft_utf8_valid_prefix(const char *bytes, size_t length) {
    size_t at = 0;
    while (at < length) {
        uint64_t eight;
        if (length - at >= sizeof eight) {
            memcpy(&eight, bytes + at, sizeof eight);
            if ((eight & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        size_t step = graft_utf8_sequence(bytes + at, length - at);
        if (step == 0) {
            break;
        }
        at += step;
    }
    return at;
}

uint64_t graft_text_hash(uint64_t hash, const char *text) {
    for (;; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
        if (*text == '\0') {
            return hash;
        }
    }
}

int graft_ends_with(const char *text, const char *ending) {
    const size_t length = strlen(text), n = strlen(ending);
    return length > n && strcmp(text + length - n, ending) == 0;
}
