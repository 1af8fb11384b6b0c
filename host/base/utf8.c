/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#define REPLACEMENT "\xEF\xBF\xBD"

size_t graft_utf8_read(const char *bytes, uint32_t *code) {
    const unsigned char *b = (const unsigned char *)bytes;
    if (b[0] < 0x80) {
        *code = b[0];
        return 1;
    }
    if (b[0] < 0xE0) {
        *code = (uint32_t)(b[0] & 0x1F) << 6 | (b[1] & 0x3F);
        return 2;
    }
    if (b[0] < 0xF0) {
        *code = (uint32_t)(b[0] & 0x0F) << 12 | (uint32_t)(b[1] & 0x3F) << 6 | (b[2] & 0x3F);
        return 3;
    }
    *code =
        (uint32_t)(b[0] & 0x07) << 18 | (uint32_t)(b[1] & 0x3F) << 12 | (uint32_t)(b[2] & 0x3F) << 6 | (b[3] & 0x3F);
    return 4;
}

size_t graft_utf8_previous(const char *bytes, size_t end) {
    do {
        end--;
    } while (end > 0 && ((unsigned char)bytes[end] & 0xC0) == 0x80);
    return end;
}

size_t graft_utf8_count(const char *bytes, size_t length) {
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        n += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    }
    return n;
}

/* The length of a sequence with this first byte, and the range of its second byte; 0 for a byte that starts no
 * sequence. */
static size_t sequence_form(unsigned char lead, unsigned char *low, unsigned char *high) {
    *low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    *high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xC2 || lead > 0xF4) {
        return 0;
    }
    return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

enum sequence { WELL_FORMED, MALFORMED, CUT_SHORT };

/* Classifies the sequence at `b`. `*used` becomes its length, or the length of its well-formed beginning. */
static enum sequence scan_sequence(const unsigned char *b, size_t length, size_t *used) {
    unsigned char low, high;
    size_t whole = sequence_form(b[0], &low, &high);
    *used = 1;
    if (whole == 0) {
        return MALFORMED;
    }
    while (*used < whole) {
        if (*used == length) {
            return CUT_SHORT;
        }
        if (b[*used] < low || b[*used] > high) {
            return MALFORMED;
        }
        low = 0x80;
        high = 0xBF;
        (*used)++;
    }
    return WELL_FORMED;
}

size_t graft_utf8_lossy(const char *bytes, size_t length, int end, struct graft_text *out) {
    size_t done = 0;
    while (done < length) {
        size_t used;
        size_t valid = graft_utf8_valid_prefix(bytes + done, length - done);
        graft_text_add(out, bytes + done, valid);
        done += valid;
        if (done == length) {
            break;
        }
        if (scan_sequence((const unsigned char *)bytes + done, length - done, &used) == CUT_SHORT && !end) {
            break;
        }
        graft_text_add(out, REPLACEMENT, 3);
        done += used;
    }
    return done;
}
