/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SentencePiece's precompiled normalization: a table of strings and what they become. Its form is that of
 * `precompiled_charsmap` in a sentencepiece model: the size of a double-array trie in bytes (u32, little endian), the
 * trie's units (u32 each), then the replacements, each with a NUL after it.
 */
#ifndef GRAFT_TOKENIZER_CHARSMAP_H
#define GRAFT_TOKENIZER_CHARSMAP_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/host/tokenizer.h"

/* Starts as {0}. */
struct graft_charsmap {
    uint32_t *units; /* [n] */
    size_t n;
    char *texts; /* [length] and a NUL */
    size_t length;
    unsigned char starts[256]; /* whether some string starts with this byte */
};

/* [load] Reads a map; `bytes` may be freed afterwards. A malformed map is GRAFT_ERROR_MODEL, and the message names the
 * field `what`. The caller finishes it, even on failure. */
int graft_charsmap_init(struct graft_charsmap *map, const char *bytes, size_t size, const char *file, const char *what,
                        struct graft_error *error);
void graft_charsmap_finish(struct graft_charsmap *map);

/* [any] The replacement of the shortest string of the map with which `text` begins; its text is NULL if there is none.
 * Longer matches are ignored, as in the reference. */
struct graft_text_view graft_charsmap_find(const struct graft_charsmap *map, const char *text, size_t length);

#endif
