/* SPDX-License-Identifier: Apache-2.0 */
#include "base/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { MAX_GROUPS = 8, MAX_DIGITS = 9 };

/* The number at a path's component; -1 if the component is not a number. */
static long number_at(const char *part) {
    size_t length = strcspn(part, ".");
    return length > 0 && length <= MAX_DIGITS && strspn(part, "0123456789") == length ? strtol(part, NULL, 10) : -1;
}

static const char *next_part(const char *part) {
    part += strcspn(part, ".");
    return *part == '.' ? part + 1 : NULL;
}

/* Whether two paths differ only in numbers. */
static int are_alike(const char *a, const char *b) {
    while (a != NULL && b != NULL) {
        size_t length = strcspn(a, ".");
        int both = number_at(a) >= 0 && number_at(b) >= 0;
        if (!both && (strcspn(b, ".") != length || memcmp(a, b, length) != 0)) {
            return 0;
        }
        a = next_part(a);
        b = next_part(b);
    }
    return a == NULL && b == NULL;
}

static int compare_numbers(const void *left, const void *right) {
    const long *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Collects the distinct numbers at component `place` of paths that are alike, sorted. Returns how many there are. */
static size_t collect(const char *const *alike, size_t n, size_t place, long *numbers) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const char *part = alike[i];
        for (size_t k = 0; k < place; k++) {
            part = next_part(part);
        }
        numbers[i] = number_at(part);
    }
    qsort(numbers, n, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || numbers[kept - 1] != numbers[i]) {
            numbers[kept++] = numbers[i];
        }
    }
    return kept;
}

/* "{0-3,7}" */
static void add_numbers(struct graft_text *text, const long *numbers, size_t n) {
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        while (end < n && numbers[end] == numbers[end - 1] + 1) {
            end++;
        }
        graft_text_printf(text, "%s%ld", i == 0 ? "{" : ",", numbers[i]);
        if (end - i > 1) {
            graft_text_printf(text, "-%ld", numbers[end - 1]);
        }
        i = end;
    }
    graft_text_add_string(text, "}");
}

/* Whether every number at one place occurs together with every number at the other places. */
static int are_free(const char *const *alike, size_t n, long *numbers) {
    size_t product = 1, place = 0;
    for (const char *part = alike[0]; part != NULL && product <= n; part = next_part(part), place++) {
        product *= number_at(part) >= 0 ? collect(alike, n, place, numbers) : 1;
    }
    return product == n;
}

static void add_alike(struct graft_text *text, const char *const *alike, size_t n, long *numbers) {
    const int free_numbers = are_free(alike, n, numbers);
    size_t place = 0;
    for (const char *part = alike[0]; part != NULL; part = next_part(part), place++) {
        size_t found = number_at(part) >= 0 ? collect(alike, n, place, numbers) : 0;
        graft_text_add_string(text, place > 0 ? "." : "");
        if (found > 1 && free_numbers) {
            add_numbers(text, numbers, found);
        } else if (found > 1) {
            graft_text_add_string(text, "*");
        } else {
            graft_text_add(text, part, strcspn(part, "."));
        }
    }
}

void graft_text_add_paths(struct graft_text *text, const char *const *paths, size_t n) {
    const char **left = graft_alloc(n + 1, sizeof *left), **alike = graft_alloc(n + 1, sizeof *alike);
    long *numbers = graft_alloc(n + 1, sizeof *numbers);
    size_t n_left = n;
    text->failed |= left == NULL || alike == NULL || numbers == NULL;
    for (size_t i = 0; i < n && !text->failed; i++) {
        left[i] = paths[i];
    }
    for (int group = 0; group < MAX_GROUPS && n_left > 0 && !text->failed; group++) {
        size_t n_alike = 0, kept = 0;
        const char *first = left[0];
        for (size_t i = 0; i < n_left; i++) {
            if (are_alike(first, left[i])) {
                alike[n_alike++] = left[i];
            } else {
                left[kept++] = left[i];
            }
        }
        n_left = kept;
        graft_text_add_string(text, group > 0 ? ", " : "");
        add_alike(text, alike, n_alike, numbers);
    }
    if (n_left > 0 && !text->failed) {
        graft_text_printf(text, " and %zu more", n_left);
    }
    graft_free(left);
    graft_free(alike);
    graft_free(numbers);
}
