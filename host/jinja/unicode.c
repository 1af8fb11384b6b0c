/* SPDX-License-Identifier: Apache-2.0 */
#include "jinja/unicode.h"

#include <utf8proc.h>

#include "base/utf8.h"

size_t graft_jinja_offset_of(const char *bytes, size_t length, size_t n) {
    size_t at = 0;
    for (uint32_t code; n > 0 && at < length; n--) {
        at += graft_utf8_read(bytes + at, &code);
    }
    return at;
}

static utf8proc_category_t category(uint32_t code) {
    return utf8proc_category((utf8proc_int32_t)code);
}

/* Includes the information separators U+001C to U+001F, which are white space in Python but not in Unicode. */
int graft_jinja_is_space(uint32_t code) {
    if (code < 0x80) {
        return code == ' ' || (code >= '\t' && code <= '\r') || (code >= 0x1C && code <= 0x1F);
    }
    utf8proc_category_t found = category(code);
    return code == 0x85 || found == UTF8PROC_CATEGORY_ZS || found == UTF8PROC_CATEGORY_ZL ||
           found == UTF8PROC_CATEGORY_ZP;
}

int graft_jinja_is_alpha(uint32_t code) {
    utf8proc_category_t found = category(code);
    return found >= UTF8PROC_CATEGORY_LU && found <= UTF8PROC_CATEGORY_LO;
}

int graft_jinja_is_digit(uint32_t code) {
    return category(code) == UTF8PROC_CATEGORY_ND;
}

int graft_jinja_is_numeric(uint32_t code) {
    utf8proc_category_t found = category(code);
    return found == UTF8PROC_CATEGORY_ND || found == UTF8PROC_CATEGORY_NL || found == UTF8PROC_CATEGORY_NO;
}

int graft_jinja_is_upper(uint32_t code) {
    return category(code) == UTF8PROC_CATEGORY_LU;
}

int graft_jinja_is_lower(uint32_t code) {
    return category(code) == UTF8PROC_CATEGORY_LL;
}

int graft_jinja_is_printable(uint32_t code) {
    if (code < 0x80) {
        return code >= ' ' && code < 0x7F;
    }
    utf8proc_category_t found = category(code);
    return found != UTF8PROC_CATEGORY_CN && (found < UTF8PROC_CATEGORY_ZS || found > UTF8PROC_CATEGORY_CO);
}

uint32_t graft_jinja_to_upper(uint32_t code) {
    return (uint32_t)utf8proc_toupper((utf8proc_int32_t)code);
}

uint32_t graft_jinja_to_lower(uint32_t code) {
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)code);
}

uint32_t graft_jinja_to_title(uint32_t code) {
    return (uint32_t)utf8proc_totitle((utf8proc_int32_t)code);
}
