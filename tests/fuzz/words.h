/* SPDX-License-Identifier: Apache-2.0 */
/* Words that formats treat specially: some for all targets, and those of a dictionary. */
#ifndef GRAFT_TESTS_FUZZ_WORDS_H
#define GRAFT_TESTS_FUZZ_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_word {
    size_t size;
    uint8_t bytes[120];
};

/* Reads a dictionary in the format of libFuzzer and AFL: one word per line, in quotes, with \\, \" and \xHH as escapes;
 * empty lines and lines that begin with # are skipped. Returns 0, or the number of the first line of another form; -1
 * if there is no file. */
int fuzz_words_read(const char *path);

/* Word number `i % n`, where n is the number of words. */
const struct fuzz_word *fuzz_word_at(uint64_t i);

#endif
