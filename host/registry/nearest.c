/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/nearest.h"

#include <string.h>

#include "base/text.h"
#include "registry/snapshot.h"

enum { MAX_LENGTH = 128, MAX_NAMES = 3 };

struct candidates {
    const char *names[MAX_NAMES]; /* the nearest first */
    size_t distances[MAX_NAMES];
    size_t n;
};

static size_t smallest(size_t a, size_t b, size_t c) {
    size_t smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

/* Letters to insert, delete, change, or swap with their neighbour (the restricted Damerau-Levenshtein distance). Both
 * names are at most MAX_LENGTH long. */
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

/* Puts a name behind those that are as near. */
static void add(struct candidates *candidates, const char *name, size_t far) {
    size_t place = candidates->n;
    while (place > 0 && candidates->distances[place - 1] > far) {
        place--;
    }
    if (place == MAX_NAMES) {
        return;
    }
    candidates->n += candidates->n < MAX_NAMES;
    for (size_t i = candidates->n - 1; i > place; i--) {
        candidates->names[i] = candidates->names[i - 1];
        candidates->distances[i] = candidates->distances[i - 1];
    }
    candidates->names[place] = name;
    candidates->distances[place] = far;
}

void graft_snapshot_suggest(const struct graft_snapshot *snapshot, const char *name, struct graft_text *text) {
    struct candidates candidates = {.n = 0};
    size_t length = strlen(name);
    for (size_t i = 0; i < snapshot->n_classes && length <= MAX_LENGTH; i++) {
        const struct graft_known_class *known = &snapshot->classes[i];
        if (known->private_to_plugin || strlen(known->cls->name) > MAX_LENGTH) {
            continue;
        }
        size_t far = distance(name, known->cls->name);
        if (far <= 1 + length / 6) {
            add(&candidates, known->cls->name, far);
        }
    }
    for (size_t i = 0; i < candidates.n; i++) {
        const char *before = i == 0 ? "did you mean " : i + 1 < candidates.n ? ", " : " or ";
        graft_text_printf(text, "%s%s%s", before, candidates.names[i], i + 1 == candidates.n ? "?" : "");
    }
}

void graft_snapshot_hint_nearest(const struct graft_snapshot *snapshot, const char *name, struct graft_error *error) {
    struct graft_text text = {0};
    graft_snapshot_suggest(snapshot, name, &text);
    if (text.length > 0 && !text.failed) {
        graft_error_hint(error, "%s", text.bytes);
    }
    graft_text_free(&text);
}
