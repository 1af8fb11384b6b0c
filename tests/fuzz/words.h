/* SPDX-License-Identifier: Apache-2.0 */
/* Words that a format treats in a way of its own: some that hold for all, and those of a dictionary. */
#ifndef GRAFT_TESTS_FUZZ_WORDS_H
#define GRAFT_TESTS_FUZZ_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_word {
    size_t size;
    uint8_t bytes[120];
};

/* Reads a dictionary as libFuzzer and AFL do: a word a line, in quotes, with \\, \" and \xHH in it; lines that are
 * empty or begin with # say nothing. Returns 0, or the number of the first line that is none of these; -1 without a
 * file. */
int fuzz_words_read(const char *path);

/* Word number `i % n` of the n there are. */
const struct fuzz_word *fuzz_word_at(uint64_t i);

#endif
