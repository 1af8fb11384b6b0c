/* SPDX-License-Identifier: Apache-2.0 */
#include "dialect.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/regex.h"

#define NOTHING_FOLLOWS "(?![\\s\\S])"

struct reader {
    const char *at;
    const char *start;
    struct graft_text *plain;
    enum reading reading;
    size_t open; /* groups to close at the end */
};

static void write(struct reader *reader, const char *text, size_t skip) {
    graft_text_add_string(reader->plain, text);
    reader->at += skip;
    reader->reading = READ_OTHERWISE;
}

/* \Q...\E: copied literally. */
static void read_quoted(struct reader *reader) {
    write(reader, "", 2);
    while (*reader->at != '\0' && strncmp(reader->at, "\\E", 2) != 0) {
        graft_text_printf(reader->plain, isalnum((unsigned char)*reader->at) ? "%c" : "\\%c", *reader->at);
        reader->at++;
    }
    reader->at += *reader->at != '\0' ? 2 : 0;
}

static void read_escape(struct reader *reader) {
    switch (reader->at[1]) {
    case 'Q':
        read_quoted(reader);
        break;
    case 'Z':
        write(reader, "(?=\\n?" NOTHING_FOLLOWS ")", 2);
        break;
    case 'z':
        write(reader, NOTHING_FOLLOWS, 2);
        break;
    case 'u':
        reader->reading = READ_AS_INVALID;
        break;
    default:
        graft_text_add(reader->plain, reader->at, 2);
        reader->at += 2;
    }
}

/* (?<=A|B): one lookbehind for each alternative. */
static void read_lookbehind(struct reader *reader, const char *bar, const char *end) {
    write(reader, "(?:(?<=", 0);
    graft_text_add(reader->plain, reader->at + 4, (size_t)(bar - reader->at - 4));
    graft_text_add_string(reader->plain, ")|(?<=");
    graft_text_add(reader->plain, bar + 1, (size_t)(end - bar - 1));
    graft_text_add_string(reader->plain, "))");
    reader->at = end + 1;
}

static void read_group(struct reader *reader) {
    const char *at = reader->at;
    size_t flags = strspn(at + 2, "imsx");
    const char *bar = strchr(at, '|'), *end = strchr(at, ')');
    if (strncmp(at, "(?<=", 4) == 0 && bar != NULL && end != NULL && bar < end) {
        read_lookbehind(reader, bar, end);
    } else if (strncmp(at, "(?<", 3) == 0 && at[3] != '=' && at[3] != '!') {
        write(reader, "(?P<", 3);
    } else if (at > reader->start && at[1] == '?' && flags > 0 && at[2 + flags] == ')') {
        write(reader, "", 0);
        graft_text_add(reader->plain, at, 2 + flags);
        graft_text_add_string(reader->plain, ":");
        reader->at += 3 + flags;
        reader->open++;
    } else {
        graft_text_add(reader->plain, at, 1);
        reader->at++;
    }
}

/* [:upper:] inside a set. */
static int read_posix_class(struct reader *reader) {
    static const char *const classes[][2] = {{"[:upper:]", "\\p{Lu}"}, {"[:lower:]", "\\p{Ll}"},
                                             {"[:alpha:]", "\\p{L}"},  {"[:digit:]", "\\p{Nd}"},
                                             {"[:space:]", "\\s"},     {"[:word:]", "\\w"}};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strncmp(reader->at, classes[i][0], strlen(classes[i][0])) == 0) {
            write(reader, classes[i][1], strlen(classes[i][0]));
            return 1;
        }
    }
    return 0;
}

/* PCRE2 reads {,n} as a repetition from version 10.43 on, and as literal text before. */
static int open_bound_repeats(void) {
    struct graft_regex *regex = NULL;
    struct graft_regex_match match;
    int repeats = graft_regex_compile("^a{,2}$", 7, "", GRAFT_ERROR_INTERNAL, &regex, NULL) == GRAFT_OK &&
                  graft_regex_search(regex, "aa", 2, 0, &match) == GRAFT_REGEX_MATCH;
    graft_regex_free(regex);
    return repeats;
}

static int read_open_bound(struct reader *reader) {
    int length = 0;
    unsigned most;
    if (sscanf(reader->at, "{,%u}%n", &most, &length) != 1 || length == 0) {
        return 0;
    }
    if (open_bound_repeats()) {
        graft_text_printf(reader->plain, "{0,%u}", most);
    } else {
        graft_text_printf(reader->plain, "\\{,%u\\}", most);
    }
    write(reader, "", (size_t)length);
    return 1;
}

enum reading dialect_reading(const char *pattern, struct graft_text *plain) {
    struct reader reader = {pattern, pattern, plain, READ_ALIKE, 0};
    graft_text_add_string(plain, "");
    while (*reader.at != '\0' && reader.reading != READ_AS_INVALID) {
        if (*reader.at == '\\' && reader.at[1] != '\0') {
            read_escape(&reader);
        } else if (*reader.at == '(') {
            read_group(&reader);
        } else if (!(*reader.at == '[' && read_posix_class(&reader)) &&
                   !(*reader.at == '{' && read_open_bound(&reader))) {
            graft_text_add(plain, reader.at, 1);
            reader.at++;
        }
    }
    for (size_t i = 0; i < reader.open; i++) {
        graft_text_add_string(plain, ")");
    }
    return reader.reading;
}
