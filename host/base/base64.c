/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <stdint.h>

/* The value (0 to 63) of a base64 digit; -1 for any other character. */
static int digit_of(char c) {
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int graft_base64_decode(const char *text, size_t length, struct graft_text *out) {
    size_t padding = 0;
    if (length % 4 != 0) {
        return -1;
    }
    while (padding < 2 && padding < length && text[length - 1 - padding] == '=') {
        padding++;
    }
    for (size_t at = 0; at < length; at += 4) {
        size_t digits = at + 4 == length ? 4 - padding : 4;
        uint32_t bits = 0;
        for (size_t i = 0; i < 4; i++) {
            int digit = i < digits ? digit_of(text[at + i]) : 0;
            if (digit < 0) {
                return -1;
            }
            bits = bits << 6 | (uint32_t)digit;
        }
        if ((bits & ((1u << (8 * (4 - digits))) - 1)) != 0) {
            return -1; /* bits are left over after the last byte */
        }
        const char bytes[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
        graft_text_add(out, bytes, digits - 1);
    }
    return 0;
}

void graft_base64_encode(const char *bytes, size_t length, struct graft_text *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < length; at += 3) {
        uint32_t bits = 0;
        char text[4];
        for (size_t i = 0; i < 3; i++) {
            bits = bits << 8 | (at + i < length ? (unsigned char)bytes[at + i] : 0U);
        }
        for (size_t i = 0; i < 4; i++) {
            text[i] = at + i <= length ? digits[bits >> (18 - 6 * i) & 63] : '=';
        }
        graft_text_add(out, text, 4);
    }
}
