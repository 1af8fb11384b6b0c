/* SPDX-License-Identifier: Apache-2.0 */
/* Character properties as Python's str has them. The only file of this folder that calls utf8proc. Functions are [any];
 * texts are valid UTF-8. */
#ifndef GRAFT_JINJA_UNICODE_H
#define GRAFT_JINJA_UNICODE_H

#include <stddef.h>
#include <stdint.h>

/* Returns the byte offset of character number `n`, or the length if there are fewer. */
size_t graft_jinja_offset_of(const char *bytes, size_t length, size_t n);

/* Python's str.isspace, isalpha, isdigit, isnumeric, isupper, islower and isprintable for one character. */
int graft_jinja_is_space(uint32_t code);
int graft_jinja_is_alpha(uint32_t code);
int graft_jinja_is_digit(uint32_t code);
int graft_jinja_is_numeric(uint32_t code);
int graft_jinja_is_upper(uint32_t code);
int graft_jinja_is_lower(uint32_t code);
int graft_jinja_is_printable(uint32_t code);

uint32_t graft_jinja_to_upper(uint32_t code);
uint32_t graft_jinja_to_lower(uint32_t code);
uint32_t graft_jinja_to_title(uint32_t code);

#endif
