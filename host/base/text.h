/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte string, and checks on untrusted text. All functions are [any]. */
#ifndef GRAFT_BASE_TEXT_H
#define GRAFT_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "graft/host/tokenizer.h"

void graft_text_add(struct graft_text *text, const char *bytes, size_t length);
void graft_text_add_string(struct graft_text *text, const char *string);
void graft_text_printf(struct graft_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The length of the well-formed UTF-8 sequence at the start, in bytes; 0 if there is none. */
size_t graft_utf8_sequence(const char *bytes, size_t length);

/* Adds one character, which must be a Unicode scalar value. */
void graft_utf8_add(struct graft_text *text, uint32_t code);

/* [any] Continues the 64-bit FNV-1a hash `hash` with a text and its terminator; the hash of the first text starts from
 * 0. */
uint64_t graft_text_hash(uint64_t hash, const char *text);

/* Whether a text is longer than `ending` and ends with it. */
int graft_ends_with(const char *text, const char *ending);

/* The length of the longest valid UTF-8 prefix. */
size_t graft_utf8_valid_prefix(const char *bytes, size_t length);

#endif
