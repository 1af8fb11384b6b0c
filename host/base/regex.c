/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex.h"

#include <pthread.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"

enum {
    MAX_PATTERN_BYTES = 65536,
    /* The maximum number of steps of one search, about a second. A run of white space in a prompt takes several steps
       per character. */
    MATCH_LIMIT = 10000000,
    DEPTH_LIMIT = 200000,
    HEAP_LIMIT_KIB = 65536,
};

struct graft_regex {
    pcre2_code *code;
};

/* Scratch memory of a thread for searching with any regex. */
struct searcher {
    pcre2_match_context *limits;
    pcre2_match_data *data;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t searcher_key;
static int have_searcher_key;

static void *allocate(size_t bytes, void *data) {
    (void)data;
    return graft_realloc(NULL, bytes, 1);
}

static void release(void *block, void *data) {
    (void)data;
    graft_free(block);
}

static int compile_failed(const char *pattern, size_t length, const char *source, int code, int number, size_t offset,
                          struct graft_error *error) {
    PCRE2_UCHAR words[160];
    if (number == PCRE2_ERROR_HEAP_FAILED) {
        return graft_fail_memory(error, source);
    }
    (void)pcre2_get_error_message(number, words, sizeof words);
    return graft_error_set(error, code, source, "invalid regular expression, at byte %zu: %s: \"%.*s\"", offset,
                           (const char *)words, (int)(length < 200 ? length : 200), pattern);
}

int graft_regex_compile(const char *pattern, size_t length, const char *source, int code, struct graft_regex **regex,
                        struct graft_error *error) {
    /* \C could end a match inside of a character */
    const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;
    if (length > MAX_PATTERN_BYTES) {
        return graft_error_set(error, code, source, "regular expression of %zu bytes, expected at most %d", length,
                               MAX_PATTERN_BYTES);
    }
    struct graft_regex *made = graft_alloc(1, sizeof *made);
    pcre2_general_context *memory = pcre2_general_context_create(allocate, release, NULL);
    pcre2_compile_context *context = memory != NULL ? pcre2_compile_context_create(memory) : NULL;
    int status = GRAFT_OK;
    if (made == NULL || context == NULL) {
        status = graft_fail_memory(error, source);
        goto done;
    }
    int number;
    size_t offset;
    made->code = pcre2_compile((PCRE2_SPTR)pattern, length, options, &number, &offset, context);
    if (made->code == NULL) {
        status = compile_failed(pattern, length, source, code, number, offset, error);
        goto done;
    }
    /* without a JIT, or where the system forbids it, the interpreter finds the same matches more slowly */
    (void)pcre2_jit_compile(made->code, PCRE2_JIT_COMPLETE);
    *regex = made;
    made = NULL;

done:
    pcre2_compile_context_free(context);
    pcre2_general_context_free(memory);
    graft_regex_free(made);
    return status;
}

void graft_regex_free(struct graft_regex *regex) {
    if (regex != NULL) {
        pcre2_code_free(regex->code);
        graft_free(regex);
    }
}

static void searcher_destroy(void *data) {
    struct searcher *searcher = data;
    if (searcher != NULL) {
        pcre2_match_data_free(searcher->data);
        pcre2_match_context_free(searcher->limits);
        graft_free(searcher);
    }
}

static void make_searcher_key(void) {
    have_searcher_key = pthread_key_create(&searcher_key, searcher_destroy) == 0;
}

static struct searcher *searcher_create(void) {
    struct searcher *searcher = graft_alloc(1, sizeof *searcher);
    pcre2_general_context *memory = pcre2_general_context_create(allocate, release, NULL);
    if (searcher == NULL || memory == NULL) {
        goto fail;
    }
    searcher->limits = pcre2_match_context_create(memory);
    searcher->data = pcre2_match_data_create(1, memory);
    if (searcher->limits == NULL || searcher->data == NULL) {
        goto fail;
    }
    (void)pcre2_set_match_limit(searcher->limits, MATCH_LIMIT);
    (void)pcre2_set_depth_limit(searcher->limits, DEPTH_LIMIT);
    (void)pcre2_set_heap_limit(searcher->limits, HEAP_LIMIT_KIB);
    pcre2_general_context_free(memory);
    return searcher;

fail:
    pcre2_general_context_free(memory);
    searcher_destroy(searcher);
    return NULL;
}

/* This thread's searcher, freed when the thread ends; NULL if memory ran out. */
static struct searcher *own_searcher(void) {
    (void)pthread_once(&once, make_searcher_key);
    if (!have_searcher_key) {
        return NULL;
    }
    struct searcher *searcher = pthread_getspecific(searcher_key);
    if (searcher == NULL) {
        searcher = searcher_create();
        if (searcher != NULL && pthread_setspecific(searcher_key, searcher) != 0) {
            searcher_destroy(searcher);
            searcher = NULL;
        }
    }
    return searcher;
}

static int match_within(const struct graft_regex *regex, const char *text, size_t length, size_t from,
                        pcre2_match_data *data, pcre2_match_context *limits) {
    PCRE2_SPTR subject = (PCRE2_SPTR)text;
    int found = pcre2_match(regex->code, subject, length, from, PCRE2_NO_UTF_CHECK, data, limits);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
        /* JIT code has a small stack of fixed size; the interpreter uses the heap within its limit */
        found = pcre2_match(regex->code, subject, length, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, limits);
    }
    if (found < 0) {
        return found == PCRE2_ERROR_NOMATCH    ? GRAFT_REGEX_NO_MATCH
               : found == PCRE2_ERROR_NOMEMORY ? GRAFT_REGEX_NO_MEMORY
                                               : GRAFT_REGEX_TOO_COSTLY;
    }
    return GRAFT_REGEX_MATCH;
}

int graft_regex_search(const struct graft_regex *regex, const char *text, size_t length, size_t from,
                       struct graft_regex_match *match) {
    if (from > length) {
        return GRAFT_REGEX_NO_MATCH;
    }
    int inside = from < length && ((unsigned char)text[from] & 0xC0) == 0x80;
    if (inside || (from == 0 && graft_utf8_valid_prefix(text, length) < length)) {
        return GRAFT_REGEX_BAD_TEXT;
    }
    struct searcher *searcher = own_searcher();
    if (searcher == NULL) {
        return GRAFT_REGEX_NO_MEMORY;
    }
    int found = match_within(regex, text, length, from, searcher->data, searcher->limits);
    if (found == GRAFT_REGEX_MATCH) {
        const size_t *range = pcre2_get_ovector_pointer(searcher->data);
        match->start = range[0];
        match->end = range[1];
    }
    return found;
}

size_t graft_regex_group(const struct graft_regex *regex, const char *name) {
    int number = pcre2_substring_number_from_name(regex->code, (PCRE2_SPTR)name);
    return number > 0 ? (size_t)number : 0;
}

size_t graft_regex_groups(const struct graft_regex *regex) {
    uint32_t count = 0;
    (void)pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &count);
    return count;
}

int graft_regex_search_groups(const struct graft_regex *regex, const char *text, size_t length,
                              struct graft_regex_match *groups) {
    struct searcher *searcher = own_searcher();
    if (graft_utf8_valid_prefix(text, length) < length) {
        return GRAFT_REGEX_BAD_TEXT;
    }
    /* not kept per thread, as these searches are rare, unlike a tokenizer's */
    pcre2_general_context *memory = pcre2_general_context_create(allocate, release, NULL);
    pcre2_match_data *data =
        searcher != NULL && memory != NULL ? pcre2_match_data_create_from_pattern(regex->code, memory) : NULL;
    int found = data != NULL ? match_within(regex, text, length, 0, data, searcher->limits) : GRAFT_REGEX_NO_MEMORY;
    for (size_t i = 0; found == GRAFT_REGEX_MATCH && i <= graft_regex_groups(regex); i++) {
        const size_t *range = pcre2_get_ovector_pointer(data) + 2 * i;
        groups[i] = range[0] == PCRE2_UNSET ? (struct graft_regex_match){GRAFT_REGEX_NOWHERE, GRAFT_REGEX_NOWHERE}
                                            : (struct graft_regex_match){range[0], range[1]};
    }
    pcre2_match_data_free(data);
    pcre2_general_context_free(memory);
    return found;
}
