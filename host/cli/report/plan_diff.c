/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of lists are matched by name, not by position, so that an inserted module does not make all later ones
 * differ. */
#include "cli/report/plan_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json_field.h"
#include "base/text.h"
#include "cli/output.h"

enum { MAX_FILE_BYTES = 256 << 20 };

struct diff {
    FILE *out;
    size_t added, removed, changed;
    int failed; /* memory ran out */
};

/* An element of a list. */
struct item {
    char *name; /* name by which it is matched */
    const graft_json *value;
    size_t place; /* position in its list; elements of the same name are matched in order */
};

struct items {
    struct item *items;
    size_t n;
};

/* A value on one line; the caller frees it. */
static char *text_of(struct diff *diff, const graft_json *value) {
    char *text = graft_json_dump(value, 0);
    diff->failed |= text == NULL;
    return text;
}

/* The name by which an object of a list is matched: for a module its path and, if it is wrapped by another one at the
 * same path, its class; for a chain its modules. */
static char *name_of(struct diff *diff, const graft_json *value) {
    static const char *const keys[] = {"path", "name", "id", "family", "modules"};
    const graft_json *name = NULL;
    if (graft_json_type(value) == GRAFT_JSON_STRING) {
        name = value;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && name == NULL; i++) {
        name = graft_json_get(value, keys[i]);
    }
    const char *string = graft_json_string(name, NULL);
    const char *super = graft_json_bool(graft_json_get(value, "is_super"))
                            ? graft_json_string(graft_json_get(value, "class"), NULL)
                            : NULL;
    char *text = super != NULL && string != NULL ? graft_format("%s (%s)", string, super)
                 : string != NULL                ? graft_strdup(string[0] != '\0' ? string : "the model")
                                                 : graft_json_dump(name != NULL ? name : value, 0);
    diff->failed |= text == NULL;
    return text;
}

static int compare_items(const void *a, const void *b) {
    const struct item *first = a, *second = b;
    int order = strcmp(first->name, second->name);
    return order != 0 ? order : (first->place > second->place) - (first->place < second->place);
}

static void items_finish(struct items *items) {
    for (size_t i = 0; i < items->n; i++) {
        graft_free(items->items[i].name);
    }
    graft_free(items->items);
}

static void items_sort(struct diff *diff, const graft_json *array, struct items *items) {
    size_t n = graft_json_size(array);
    *items = (struct items){.items = graft_alloc(n, sizeof *items->items)};
    diff->failed |= items->items == NULL;
    for (; items->n < n && !diff->failed; items->n++) {
        const graft_json *value = graft_json_at(array, items->n);
        items->items[items->n] = (struct item){name_of(diff, value), value, items->n};
    }
    if (!diff->failed) {
        qsort(items->items, items->n, sizeof *items->items, compare_items);
    }
}

static void print_change(struct diff *diff, const char *what, const char *name, const char *field,
                         const graft_json *older, const graft_json *newer) {
    char *texts[] = {older != NULL ? text_of(diff, older) : NULL, newer != NULL ? text_of(diff, newer) : NULL};
    int same = texts[0] != NULL && texts[1] != NULL && strcmp(texts[0], texts[1]) == 0;
    if (!same && !diff->failed) {
        graft_output_line(diff->out, "changed %s%s%s%s%s: %s -> %s", what, name != NULL ? " " : "",
                          name != NULL ? name : "", field != NULL ? " " : "", field != NULL ? field : "",
                          texts[0] != NULL ? texts[0] : "absent", texts[1] != NULL ? texts[1] : "absent");
        diff->changed++;
    }
    graft_free(texts[0]);
    graft_free(texts[1]);
}

/* Compares two elements of the same name, field by field. */
static void compare_values(struct diff *diff, const char *list, const char *name, const graft_json *older,
                           const graft_json *newer) {
    void *iterator = NULL;
    const char *key = NULL;
    const graft_json *value = NULL;
    if (graft_json_type(older) != GRAFT_JSON_OBJECT || graft_json_type(newer) != GRAFT_JSON_OBJECT) {
        print_change(diff, list, name, NULL, older, newer);
        return;
    }
    while (graft_json_next(older, &iterator, &key, &value)) {
        print_change(diff, list, name, key, value, graft_json_get(newer, key));
    }
    iterator = NULL;
    while (graft_json_next(newer, &iterator, &key, &value)) {
        if (graft_json_get(older, key) == NULL) {
            print_change(diff, list, name, key, NULL, value);
        }
    }
}

static void compare_lists(struct diff *diff, const char *list, const graft_json *older, const graft_json *newer) {
    struct items before, after;
    size_t i = 0, k = 0;
    items_sort(diff, older, &before);
    items_sort(diff, newer, &after);
    while (!diff->failed && (i < before.n || k < after.n)) {
        const struct item *a = &before.items[i], *b = &after.items[k];
        int order = i == before.n ? 1 : k == after.n ? -1 : strcmp(a->name, b->name);
        if (order == 0) {
            compare_values(diff, list, a->name, a->value, b->value);
        } else {
            graft_output_line(diff->out, "%s %s %s", order < 0 ? "removed" : "added", list,
                              order < 0 ? a->name : b->name);
            diff->removed += order < 0;
            diff->added += order > 0;
        }
        i += order <= 0;
        k += order >= 0;
    }
    items_finish(&before);
    items_finish(&after);
}

static void compare_key(struct diff *diff, const char *key, const graft_json *older, const graft_json *newer) {
    if (graft_json_type(older) == GRAFT_JSON_ARRAY && graft_json_type(newer) == GRAFT_JSON_ARRAY) {
        compare_lists(diff, key, older, newer);
    } else if (graft_json_type(older) == GRAFT_JSON_OBJECT && graft_json_type(newer) == GRAFT_JSON_OBJECT) {
        compare_values(diff, key, NULL, older, newer);
    } else {
        print_change(diff, key, NULL, NULL, older, newer);
    }
}

static void compare(struct diff *diff, const graft_json *older, const graft_json *newer) {
    void *iterator = NULL;
    const char *key = NULL;
    const graft_json *value = NULL;
    while (graft_json_next(older, &iterator, &key, &value)) {
        compare_key(diff, key, value, graft_json_get(newer, key));
    }
    iterator = NULL;
    while (graft_json_next(newer, &iterator, &key, &value)) {
        if (graft_json_get(older, key) == NULL) {
            compare_key(diff, key, NULL, value);
        }
    }
}

/* Checks that a document has the members that every plan has. */
static int check(const char *file, const graft_json *document, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"modules", .kind = GRAFT_MEMBER_ARRAY},
        {"parameters", .kind = GRAFT_MEMBER_ARRAY},
        {"plugins", .kind = GRAFT_MEMBER_ARRAY},
        {0},
    };
    const struct graft_field root = graft_field_root(document, file);
    const graft_json *list;
    int status = graft_field_read_some(&root, members, &list, error);
    if (status != GRAFT_OK) {
        graft_error_hint(error, "is this what plan --json wrote?");
    }
    return status;
}

int graft_plan_diff(const graft_json *document, const char *file, FILE *out, struct graft_error *error) {
    graft_json *older = NULL;
    struct diff diff = {.out = out};
    int status = graft_json_read_strict(file, MAX_FILE_BYTES, &older, error);
    if (status == GRAFT_OK) {
        status = check(file, older, error);
    }
    if (status == GRAFT_OK) {
        compare(&diff, older, document);
    }
    graft_json_free(older);
    if (diff.failed) {
        return graft_fail_memory(error, file);
    }
    if (status == GRAFT_OK && diff.added + diff.removed + diff.changed > 0) {
        status =
            graft_error_set(error, GRAFT_ERROR_VERIFY, file, "the plan differs: %zu added, %zu removed, %zu changed",
                            diff.added, diff.removed, diff.changed);
    }
    return status;
}
