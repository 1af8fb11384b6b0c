/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/outline.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

enum { INDENT = 2 };

static int is_container(const graft_json *value) {
    return graft_json_type(value) == GRAFT_JSON_OBJECT || graft_json_type(value) == GRAFT_JSON_ARRAY;
}

static int is_empty(const graft_json *value) {
    return graft_json_type(value) == GRAFT_JSON_NULL || (is_container(value) && graft_json_size(value) == 0);
}

/* Whether a value is an array without objects and arrays. */
static int is_flat(const graft_json *value) {
    for (size_t i = 0; i < graft_json_size(value); i++) {
        if (is_container(graft_json_at(value, i))) {
            return 0;
        }
    }
    return graft_json_type(value) == GRAFT_JSON_ARRAY;
}

static void add_plain(struct graft_text *text, const graft_json *value) {
    char *dumped = graft_json_type(value) == GRAFT_JSON_STRING ? graft_strdup(graft_json_string(value, NULL))
                                                               : graft_json_dump(value, 0);
    if (dumped == NULL) {
        text->failed = 1;
        return;
    }
    graft_error_clean(dumped);
    graft_text_add_string(text, dumped);
    graft_free(dumped);
}

static void add_flat(struct graft_text *text, const graft_json *array) {
    for (size_t i = 0; i < graft_json_size(array); i++) {
        graft_text_add_string(text, i > 0 ? ", " : "");
        add_plain(text, graft_json_at(array, i));
    }
}

static void add_object(struct graft_text *text, const graft_json *object, int depth, int is_element);

/* Adds a value after "key:": on the same line if it is plain, else below. */
static void add_value(struct graft_text *text, const graft_json *value, int depth) {
    if (is_flat(value)) {
        graft_text_add_string(text, " ");
        add_flat(text, value);
        graft_text_add_string(text, "\n");
    } else if (graft_json_type(value) == GRAFT_JSON_ARRAY) {
        graft_text_add_string(text, "\n");
        for (size_t i = 0; i < graft_json_size(value); i++) {
            add_object(text, graft_json_at(value, i), depth + 1, 1);
        }
    } else if (graft_json_type(value) == GRAFT_JSON_OBJECT) {
        graft_text_add_string(text, "\n");
        add_object(text, value, depth + 1, 0);
    } else {
        graft_text_add_string(text, " ");
        add_plain(text, value);
        graft_text_add_string(text, "\n");
    }
}

/* Adds an object. Arrays that are not flat have objects as elements. */
static void add_object(struct graft_text *text, const graft_json *object, int depth, int is_element) {
    void *iterator = NULL;
    const char *key = NULL;
    const graft_json *value = NULL;
    int first = is_element;
    while (graft_json_next(object, &iterator, &key, &value)) {
        if (!is_empty(value)) {
            graft_text_printf(text, "%*s%s%s:", INDENT * depth, "", first ? "- " : is_element ? "  " : "", key);
            add_value(text, value, is_element ? depth + 1 : depth);
            first = 0;
        }
    }
}

int graft_outline_print(const graft_json *document, FILE *out, struct graft_error *error) {
    struct graft_text text = {0};
    add_object(&text, document, 0, 0);
    int failed = text.failed;
    if (!failed && text.length > 0) {
        (void)fwrite(text.bytes, 1, text.length, out);
    }
    graft_text_free(&text);
    return failed ? graft_fail_memory(error, "output") : GRAFT_OK;
}
