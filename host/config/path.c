/* SPDX-License-Identifier: Apache-2.0 */
#include "config/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { MAX_KEY = 128 };

const char *graft_path_float(const graft_json *value) {
    static const char *const numbers[] = {"Infinity", "-Infinity", "NaN"};
    const char *text = graft_json_string(graft_json_get(value, "__float__"), NULL);
    for (size_t i = 0; text != NULL && i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(text, numbers[i]) == 0) {
            return numbers[i];
        }
    }
    return NULL;
}

static int is_container(const graft_json *value) {
    return graft_json_type(value) == GRAFT_JSON_ARRAY ||
           (graft_json_type(value) == GRAFT_JSON_OBJECT && graft_path_float(value) == NULL);
}

/* Whether an array has a plain element, which is a part of the array's field. */
static int has_plain(const graft_json *array) {
    for (size_t i = 0; i < graft_json_size(array); i++) {
        if (!is_container(graft_json_at(array, i))) {
            return 1;
        }
    }
    return graft_json_size(array) == 0;
}

int graft_path_is_field(const graft_json *value) {
    switch (graft_json_type(value)) {
    case GRAFT_JSON_ABSENT:
        return 0;
    case GRAFT_JSON_ARRAY:
        return has_plain(value);
    case GRAFT_JSON_OBJECT:
        return graft_json_size(value) == 0 || graft_path_float(value) != NULL;
    default:
        return 1;
    }
}

/* --- Finding --- */

/* The path of a field, built component by component. */
struct spelling {
    char *text; /* NULL: the path is not wanted */
    size_t length;
};

static void add_part(struct spelling *spelling, const char *part) {
    size_t length = strlen(part);
    if (spelling->text == NULL || spelling->length >= GRAFT_MAX_FIELD) {
        return;
    }
    if (spelling->length + length + 2 > GRAFT_MAX_FIELD) {
        spelling->length = GRAFT_MAX_FIELD;
        spelling->text[0] = '\0';
        return;
    }
    if (spelling->length > 0) {
        spelling->text[spelling->length++] = '.';
    }
    memcpy(spelling->text + spelling->length, part, length + 1);
    spelling->length += length;
}

/* Follows one component of a path. Plain elements of an array belong to the array's field. */
static const graft_json *step(const graft_json *value, const char *part, struct spelling *spelling) {
    const char *key = part;
    const graft_json *next;
    if (graft_json_type(value) == GRAFT_JSON_ARRAY) {
        next = graft_json_at(value, strtoul(part, NULL, 10));
        if (is_container(next)) {
            add_part(spelling, part);
        }
        return next;
    }
    next = part[0] == '#' ? graft_json_member(value, strtoul(part + 1, NULL, 10), &key) : graft_json_get(value, part);
    add_part(spelling, key);
    return next;
}

const graft_json *graft_path_find(const graft_json *document, const char *path, char field[GRAFT_MAX_FIELD]) {
    const graft_json *value = document;
    struct spelling spelling = {field, 0};
    if (field != NULL) {
        field[0] = '\0';
    }
    for (;;) {
        char key[MAX_KEY];
        size_t length = strcspn(path, ".");
        if (length >= sizeof key) {
            return NULL;
        }
        memcpy(key, path, length);
        key[length] = '\0';
        value = step(value, key, &spelling);
        if (path[length] == '\0') {
            return value;
        }
        path += length + 1;
        if (value == NULL) { /* nothing is there, so the field is the path that was asked for */
            add_part(&spelling, path);
            return NULL;
        }
    }
}

/* --- Walking --- */

struct walk {
    struct graft_text path;
    graft_field_function function;
    void *data;
};

static int walk_value(struct walk *walk, const graft_json *value);

static int walk_below(struct walk *walk, const char *part, const graft_json *value) {
    size_t length = walk->path.length;
    graft_text_printf(&walk->path, "%s%s", length > 0 ? "." : "", part);
    int status = walk->path.failed ? -1 : walk_value(walk, value);
    if (walk->path.bytes != NULL) {
        walk->path.length = length;
        walk->path.bytes[length] = '\0';
    }
    return status;
}

static int walk_elements(struct walk *walk, const graft_json *array) {
    int status = 0;
    for (size_t i = 0; i < graft_json_size(array) && status == 0; i++) {
        char part[24];
        (void)snprintf(part, sizeof part, "%zu", i);
        status = is_container(graft_json_at(array, i)) ? walk_below(walk, part, graft_json_at(array, i)) : 0;
    }
    return status;
}

/* Recurses no deeper than the parser allows. */
static int walk_value(struct walk *walk, const graft_json *value) {
    const char *key;
    const graft_json *member;
    void *iterator = NULL;
    const char *path = walk->path.bytes != NULL ? walk->path.bytes : "";
    int status = graft_path_is_field(value) ? walk->function(walk->data, path, value) : 0;
    if (status != 0 || graft_path_float(value) != NULL) {
        return status;
    }
    if (graft_json_type(value) == GRAFT_JSON_ARRAY) {
        return walk_elements(walk, value);
    }
    while (status == 0 && graft_json_type(value) == GRAFT_JSON_OBJECT &&
           graft_json_next(value, &iterator, &key, &member)) {
        status = walk_below(walk, key, member);
    }
    return status;
}

int graft_path_walk(const graft_json *document, graft_field_function function, void *data) {
    struct walk walk = {.function = function, .data = data};
    const char *key;
    const graft_json *member;
    void *iterator = NULL;
    int status = 0;
    while (status == 0 && graft_json_next(document, &iterator, &key, &member)) {
        status = walk_below(&walk, key, member);
    }
    graft_text_free(&walk.path);
    return status;
}

/* --- Showing --- */

static void add_dumped(const graft_json *value, struct graft_text *text) {
    char *dumped = graft_json_dump(value, 0);
    text->failed |= dumped == NULL;
    graft_text_add_string(text, dumped != NULL ? dumped : "");
    graft_free(dumped);
}

static void add_key(const char *key, struct graft_text *text) {
    graft_json *name = graft_json_new_string(key);
    text->failed |= name == NULL;
    add_dumped(name, text);
    graft_text_add_string(text, ": ");
    graft_json_free(name);
}

/* Adds a value as text, and stops once the text is longer than `most`. */
static void add_value(const graft_json *value, size_t most, struct graft_text *text) {
    const char *number = graft_path_float(value), *key = NULL;
    const int is_array = graft_json_type(value) == GRAFT_JSON_ARRAY;
    if (number != NULL) {
        graft_text_add_string(text, number);
        return;
    }
    if (!is_array && graft_json_type(value) != GRAFT_JSON_OBJECT) {
        add_dumped(value, text);
        return;
    }
    graft_text_add_string(text, is_array ? "[" : "{");
    for (size_t i = 0; i < graft_json_size(value) && text->length <= most && !text->failed; i++) {
        const graft_json *part = is_array ? graft_json_at(value, i) : graft_json_member(value, i, &key);
        graft_text_add_string(text, i > 0 ? ", " : "");
        if (!is_array) {
            add_key(key, text);
        }
        add_value(part, most, text);
    }
    graft_text_add_string(text, is_array ? "]" : "}");
}

void graft_path_show(const graft_json *value, size_t most, struct graft_text *text) {
    struct graft_text whole = {0};
    add_value(value, most, &whole);
    text->failed |= whole.failed;
    if (whole.length <= most) {
        graft_text_add(text, whole.bytes, whole.length);
    } else {
        graft_text_add(text, whole.bytes, graft_utf8_valid_prefix(whole.bytes, most));
        graft_text_add_string(text, "...");
    }
    graft_text_free(&whole);
}
