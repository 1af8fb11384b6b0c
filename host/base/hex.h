/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_BASE_HEX_H
#define GRAFT_BASE_HEX_H

/* [any] The value of a hexadecimal digit of either case; -1 for another character. */
static inline int graft_hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif
