/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The alphabet in which byte-level vocabularies write bytes: one printable character for each of the 256. Bytes that
 * print in Latin-1 are themselves, the others are U+0100 and up, in order: a space is "Ġ".
 */
#ifndef GRAFT_TOKENIZER_BYTE_ALPHABET_H
#define GRAFT_TOKENIZER_BYTE_ALPHABET_H

#include <stdint.h>

#include "base/text.h"

/* [any] The character that stands for a byte. */
static inline uint32_t graft_byte_to_character(unsigned char byte) {
    if (byte <= 0x20) {
        return 0x100u + byte;
    }
    if (byte >= 0x7F && byte <= 0xA0) {
        return 0x121u + (byte - 0x7Fu);
    }
    return byte == 0xAD ? 0x143u : byte;
}

/* [any] The byte that a character stands for, or -1. */
static inline int graft_byte_from_character(uint32_t code) {
    if (code >= 0x100 && code <= 0x120) {
        return (int)(code - 0x100);
    }
    if (code >= 0x121 && code <= 0x142) {
        return (int)(code - 0x121 + 0x7F);
    }
    if (code == 0x143) {
        return 0xAD;
    }
    return (code >= 0x21 && code <= 0x7E) || (code >= 0xA1 && code <= 0xFF && code != 0xAD) ? (int)code : -1;
}

/* [any] Adds the characters that stand for `n` bytes. */
static inline void graft_byte_alphabet_add(struct graft_text *out, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        graft_utf8_add(out, graft_byte_to_character((unsigned char)bytes[i]));
    }
}

#endif
