/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <string.h>

#include "base/text.h"

enum { MAX_LENGTH = 128 };

static size_t smallest(size_t a, size_t b, size_t c) {
    size_t smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

/* The restricted Damerau-Levenshtein distance: how many letters to insert, delete, change, or swap with their
 * neighbour. Both names have at most MAX_LENGTH bytes. */
static size_t distance(const char *a, const char *b) {
    size_t rows[3][MAX_LENGTH + 1];
    size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++) {
        rows[0][j] = j;
    }
    size_t i = 0;
    for (; a[i] != '\0'; i++) {
        const size_t *above = rows[i % 3], *before = rows[(i + 2) % 3];
        size_t *row = rows[(i + 1) % 3];
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            row[j + 1] = smallest(above[j + 1] + 1, row[j] + 1, above[j] + (a[i] != b[j]));
            if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] && before[j - 1] + 1 < row[j + 1]) {
                row[j + 1] = before[j - 1] + 1;
            }
        }
    }
    return rows[i % 3][length];
}

static int has(const struct graft_nearest *nearest, const char *name) {
    int found = 0;
    for (size_t i = 0; i < nearest->n; i++) {
        found |= strcmp(nearest->names[i], name) == 0;
    }
    return found;
}

/* Inserts a name after those that are as near, unless it is there. */
static void add(struct graft_nearest *nearest, const char *name, size_t far) {
    size_t place = nearest->n;
    if (has(nearest, name)) {
        return;
    }
    while (place > 0 && nearest->distances[place - 1] > far) {
        place--;
    }
    if (place == GRAFT_NEAREST_NAMES) {
        return;
    }
    nearest->n += nearest->n < GRAFT_NEAREST_NAMES;
    for (size_t i = nearest->n - 1; i > place; i--) {
        nearest->names[i] = nearest->names[i - 1];
        nearest->distances[i] = nearest->distances[i - 1];
    }
    nearest->names[place] = name;
    nearest->distances[place] = far;
}

void graft_nearest_add(struct graft_nearest *nearest, const char *name) {
    size_t length = strlen(nearest->wanted);
    if (length <= MAX_LENGTH && strlen(name) <= MAX_LENGTH) {
        size_t far = distance(nearest->wanted, name);
        if (far <= 1 + length / 6) {
            add(nearest, name, far);
        }
    }
}

void graft_nearest_add_same(struct graft_nearest *nearest, const char *name) {
    add(nearest, name, 0);
}

void graft_nearest_print(const struct graft_nearest *nearest, struct graft_text *text) {
    for (size_t i = 0; i < nearest->n; i++) {
        const char *before = i == 0 ? "did you mean " : i + 1 < nearest->n ? ", " : " or ";
        graft_text_printf(text, "%s%s%s%s", before, nearest->prefix != NULL ? nearest->prefix : "", nearest->names[i],
                          i + 1 == nearest->n ? "?" : "");
    }
}

void graft_nearest_hint(const struct graft_nearest *nearest, struct graft_error *error) {
    struct graft_text text = {0};
    graft_nearest_print(nearest, &text);
    if (text.length > 0 && !text.failed) {
        graft_error_hint(error, "%s", text.bytes);
    }
    graft_text_free(&text);
}
