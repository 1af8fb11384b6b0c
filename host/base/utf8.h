/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8, character by character: of tokenizers, where everything behind the first step of an encode is valid UTF-8 as
 * text from outside goes through graft_utf8_lossy, and of templates. All functions are [any].
 */
#ifndef GRAFT_BASE_UTF8_H
#define GRAFT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Reads the character that starts at `bytes`, which must be valid UTF-8 of at least one byte. Returns its length. */
size_t graft_utf8_read(const char *bytes, uint32_t *code);

/* Start of the character that ends before byte `end` (greater than 0) of valid UTF-8. */
size_t graft_utf8_previous(const char *bytes, size_t end);

/* Number of characters of valid UTF-8. */
size_t graft_utf8_count(const char *bytes, size_t length);

/* Adds `bytes` to `out`, each maximal part of a malformed sequence replaced by one U+FFFD. Unless this is the `end` of
 * the text, a sequence that later bytes could complete is left alone. Returns the number of bytes that were dealt with.
 */
size_t graft_utf8_lossy(const char *bytes, size_t length, int end, struct graft_text *out);

#endif
