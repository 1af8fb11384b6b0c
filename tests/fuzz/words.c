/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 400 };

#define WORD(text) \
    { sizeof(text) - 1, text }

static struct fuzz_word words[MAX_WORDS] = {
    WORD("-1"), WORD("0"),        WORD("1e999"),   WORD("18446744073709551615"),
    WORD("{}"), WORD("[]"),       WORD("\"\""),    WORD("9223372036854775807"),
    WORD(".."), WORD("[[[[[[[["), WORD("\\u0000"), WORD("null"),
    WORD("/"),  WORD("*"),        WORD("\xff"),    WORD("\xed\xa0\x80"),
};
static size_t n_words = 16;

/* What an escape stands for, or -1; `*at` is moved after it. */
static int unescape(const char **at) {
    char digits[3] = {0}, *end = NULL;
    if (**at == '\\' || **at == '"') {
        return (unsigned char)*(*at)++;
    }
    if (**at != 'x' || (*at)[1] == '\0') {
        return -1;
    }
    memcpy(digits, *at + 1, 2);
    *at += 3;
    int byte = (int)strtol(digits, &end, 16);
    return end == digits + 2 ? byte : -1;
}

/* The word in quotes at `at`, up to the end of the line. */
static int read_word(const char *at, struct fuzz_word *word) {
    word->size = 0;
    for (at++; *at != '"' && *at != '\0'; word->size++) {
        int is_escape = *at == '\\';
        at += is_escape;
        int byte = is_escape ? unescape(&at) : (unsigned char)*at++;
        if (byte < 0 || word->size == sizeof word->bytes) {
            return -1;
        }
        word->bytes[word->size] = (uint8_t)byte;
    }
    return strcmp(at, "\"\n") == 0 && word->size > 0 ? 0 : -1;
}

int fuzz_words_read(const char *path) {
    char line[1024];
    FILE *file = fopen(path, "r");
    int number = 0, wrong = file == NULL ? -1 : 0;
    while (wrong == 0 && fgets(line, sizeof line, file) != NULL) {
        number++;
        if (line[0] != '#' && line[0] != '\n') {
            wrong = line[0] == '"' && n_words < MAX_WORDS && read_word(line, &words[n_words]) == 0 ? 0 : number;
            n_words += wrong == 0;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return wrong;
}

const struct fuzz_word *fuzz_word_at(uint64_t i) {
    return &words[i % n_words];
}
