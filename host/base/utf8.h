/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes UTF-8 character by character, for tokenizers and templates. Text that is not trusted to be valid
 * goes through graft_utf8_lossy first. All functions are [any].
 */
#ifndef GRAFT_BASE_UTF8_H
#define GRAFT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Reads the character that starts at `bytes`, which must be valid UTF-8 of at least one byte. Returns its length. */
size_t graft_utf8_read(const char *bytes, uint32_t *code);

/* Writes a character, which must be a Unicode scalar value. Returns its length. */
static inline size_t graft_utf8_write(uint32_t code, char bytes[4]) {
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        bytes[0] = (char)(0xC0 | code >> 6);
        bytes[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        bytes[0] = (char)(0xE0 | code >> 12);
        bytes[1] = (char)(0x80 | (code >> 6 & 0x3F));
        bytes[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    bytes[0] = (char)(0xF0 | code >> 18);
    bytes[1] = (char)(0x80 | (code >> 12 & 0x3F));
    bytes[2] = (char)(0x80 | (code >> 6 & 0x3F));
    bytes[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* The start of the character that ends before byte `end` (greater than 0) of valid UTF-8. */
size_t graft_utf8_previous(const char *bytes, size_t end);

/* The number of characters of valid UTF-8. */
size_t graft_utf8_count(const char *bytes, size_t length);

/* Adds `bytes` to `out`, with each maximal part of a malformed sequence replaced by one U+FFFD. Unless `end` says that
 * the text ends here, an incomplete sequence that later bytes could complete is left for the next call. Returns the
 * number of bytes consumed. */
size_t graft_utf8_lossy(const char *bytes, size_t length, int end, struct graft_text *out);

#endif
