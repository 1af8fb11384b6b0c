/* SPDX-License-Identifier: Apache-2.0 */
#include "names/key_pattern.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

#define MARK "\\1" /* stands for the group's text */

int graft_key_failed(enum key_fault *fault, enum key_fault which, struct graft_error *error, int code,
                     const char *place, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (fault != NULL && *fault == KEY_FAULT_NONE) {
        *fault = which;
    }
    return graft_error_set(error, code, place, "%s", message);
}

/* Drops lookaheads and lookbehinds, which restrict renaming and match no text. As in the reference, one ends at the
 * first closing parenthesis, or at the second of two that follow each other. */
static void add_without_lookarounds(struct graft_text *text, const char *pattern) {
    while (*pattern != '\0') {
        const char *end = strncmp(pattern, "(?", 2) == 0 && pattern[2] != '\0' ? strchr(pattern + 3, ')') : NULL;
        if (end != NULL) {
            pattern = end + (end[1] == ')' ? 2 : 1);
        } else {
            graft_text_add(text, pattern++, 1);
        }
    }
}

/* The first non-empty group "(...)" of a pattern. */
static const char *find_group(const char *pattern, size_t *length) {
    const char *start = strchr(pattern, '(');
    const char *end = start != NULL && start[1] != '\0' ? strchr(start + 2, ')') : NULL;
    *length = end != NULL ? (size_t)(end - start) + 1 : 0;
    return end != NULL ? start : NULL;
}

/* Adds a pattern in which escaped dots become dots. */
static void add_unescaped(struct graft_text *text, const char *pattern, size_t length) {
    for (size_t i = 0; i < length; i++) {
        i += pattern[i] == '\\' && i + 1 < length && pattern[i + 1] == '.';
        graft_text_add(text, &pattern[i], 1);
    }
}

/* The text that a target inserts into a name. `*group` becomes the target's group, or NULL; the caller frees both. */
static char *ready_target(const char *given, char **group) {
    struct graft_text plain = {0}, text = {0};
    size_t length;
    *group = NULL;
    graft_text_add_string(&plain, "");
    add_without_lookarounds(&plain, given[0] == '^' ? given + 1 : given);
    graft_text_add_string(&text, "");
    if (!plain.failed) {
        const char *found = find_group(plain.bytes, &length);
        size_t before = found != NULL ? (size_t)(found - plain.bytes) : plain.length;
        add_unescaped(&text, plain.bytes, before);
        if (found != NULL) {
            *group = graft_strndup(found, length);
            text.failed |= *group == NULL;
            graft_text_add_string(&text, MARK);
            add_unescaped(&text, found + length, plain.length - before - length);
        }
    }
    if (plain.failed || text.failed) {
        graft_text_free(&text);
    }
    graft_text_free(&plain);
    return text.bytes;
}

/* Prepares all targets. Targets that have a group must have the same one. */
static int ready_targets(struct key_patterns *patterns, const char *const *targets, char **group, const char *place,
                         enum key_fault *fault, struct graft_error *error) {
    for (int32_t i = 0; i < patterns->n_targets; i++) {
        char *own = NULL;
        patterns->targets[i] = ready_target(targets[i], &own);
        int differ = own != NULL && *group != NULL && strcmp(own, *group) != 0;
        if (*group == NULL) {
            *group = own;
        } else {
            graft_free(own);
        }
        if (patterns->targets[i] == NULL) {
            return graft_fail_memory(error, place);
        }
        if (differ) {
            return graft_key_failed(fault, KEY_FAULT_MULTIPLE_GROUPS, error, GRAFT_ERROR_USAGE, place,
                                    "target_patterns: \"%.100s\" refers to another group than those before it; "
                                    "expected the same one in all",
                                    targets[i]);
        }
    }
    return GRAFT_OK;
}

/* Prepares a source: the targets' group replaces its first mark, and the source is anchored if its target is. */
static int ready_source(struct key_patterns *patterns, int32_t i, const char *given, const char *target,
                        const char *group, const char *place, enum key_fault *fault, struct graft_error *error) {
    const char *mark = strstr(given, MARK);
    if (mark != NULL && group == NULL) {
        return graft_key_failed(fault, KEY_FAULT_BACKREFERENCE_WITHOUT_GROUP, error, GRAFT_ERROR_USAGE, place,
                                "source_patterns: \"%.100s\" has a \\1, but no target pattern has a group", given);
    }
    int anchor = target != NULL && target[0] == '^' && given[0] != '^';
    patterns->sources[i] = mark != NULL ? graft_format("%s%.*s%s%s", anchor ? "^" : "", (int)(mark - given), given,
                                                       group, mark + strlen(MARK))
                                        : graft_format("%s%s", anchor ? "^" : "", given);
    return patterns->sources[i] != NULL ? GRAFT_OK : graft_fail_memory(error, place);
}

int graft_key_patterns_init(struct key_patterns *patterns, const char *const *sources, int32_t n_sources,
                            const char *const *targets, int32_t n_targets, const char *place, enum key_fault *fault,
                            struct graft_error *error) {
    char *group = NULL;
    *patterns = (struct key_patterns){
        .sources = graft_alloc((size_t)n_sources, sizeof(char *)),
        .targets = graft_alloc((size_t)n_targets, sizeof(char *)),
        .n_sources = n_sources,
        .n_targets = n_targets,
    };
    if (patterns->sources == NULL || patterns->targets == NULL) {
        return graft_fail_memory(error, place);
    }
    int status = ready_targets(patterns, targets, &group, place, fault, error);
    for (int32_t i = 0; i < n_sources && status == GRAFT_OK; i++) {
        status = ready_source(patterns, i, sources[i], n_sources == n_targets ? targets[i] : NULL, group, place, fault,
                              error);
    }
    graft_free(group);
    return status;
}

void graft_key_patterns_finish(struct key_patterns *patterns) {
    for (int32_t i = 0; patterns->sources != NULL && i < patterns->n_sources; i++) {
        graft_free(patterns->sources[i]);
    }
    for (int32_t i = 0; patterns->targets != NULL && i < patterns->n_targets; i++) {
        graft_free(patterns->targets[i]);
    }
    graft_free(patterns->sources);
    graft_free(patterns->targets);
    *patterns = (struct key_patterns){0};
}

/* `*` before a dot is any text, the first of them in `star`; a pattern that ends within a word ends where the word
 * does. */
static void add_regex(struct graft_text *text, const char *pattern, const char *star) {
    size_t length = strlen(pattern);
    for (size_t i = 0; i < length; i++) {
        if (strncmp(pattern + i, "*.", 2) == 0) {
            graft_text_printf(text, "%s\\.", star);
            star = ".*";
            i++;
        } else {
            graft_text_add(text, &pattern[i], 1);
        }
    }
    if (length > 0 && (unsigned char)pattern[length - 1] < 0x80 && isalnum((unsigned char)pattern[length - 1])) {
        graft_text_add_string(text, "(?!\\w)");
    }
}

static void add_branch(struct graft_text *joined, const char *pattern, int32_t number) {
    graft_text_printf(joined, "%s(?P<g%d>", joined->length > 0 ? "|" : "", (int)number);
    add_regex(joined, pattern, ".*");
    graft_text_add_string(joined, ")");
}

static int is_word(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_';
}

const char *graft_key_pattern_literal(const char *source, size_t *length) {
    const char *longest = NULL;
    *length = 0;
    for (size_t i = 0, n; source[i] != '\0'; i += n) {
        for (n = 0; is_word(source[i + n]);) {
            n++;
        }
        if (n > *length) {
            longest = source + i;
            *length = n;
        } else if (n == 0) {
            const int is_star = strncmp(source + i, "*.", 2) == 0, is_dot = strncmp(source + i, "\\.", 2) == 0;
            n = is_star || is_dot ? 2 : (source[i] == '.' || source[i] == '-' || (source[i] == '^' && i == 0)) ? 1 : 0;
            if (n == 0) {
                return NULL; /* the literal may be optional, repeated, or one alternative of several */
            }
        }
    }
    return longest;
}

void graft_key_pattern_star(const char *source, struct graft_text *text) {
    add_regex(text, source, "(?P<star>.*)");
}

/* The length in characters, not bytes. */
static size_t length_of(const char *text) {
    size_t length = 0;
    for (; *text != '\0'; text++) {
        length += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return length;
}

int graft_key_patterns_join(const struct key_patterns *patterns, struct graft_text *joined, struct graft_error *error) {
    int32_t n = patterns->n_sources;
    int64_t *lengths = graft_alloc((size_t)n, sizeof *lengths); /* -1: the source is in `joined` already */
    if (lengths == NULL) {
        return graft_fail_memory(error, "source_patterns");
    }
    for (int32_t i = 0; i < n; i++) {
        lengths[i] = (int64_t)length_of(patterns->sources[i]);
    }
    for (int32_t done = 0; done < n; done++) {
        int32_t longest = 0;
        for (int32_t i = 1; i < n; i++) {
            longest = lengths[i] > lengths[longest] ? i : longest;
        }
        add_branch(joined, patterns->sources[longest], longest);
        lengths[longest] = -1;
    }
    graft_free(lengths);
    return joined->failed ? graft_fail_memory(error, "source_patterns") : GRAFT_OK;
}
