/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"

/* Model files nest about five levels deep. Jansson recurses, as does the code that walks documents. */
enum { MAX_DEPTH = 128 };

/* Whether an allocation failed on this thread since parsing began, which jansson reports as various errors. */
static _Thread_local int ran_out;

/* Jansson's lexer continues after it failed to enlarge a buffer. A string then lacks its closing quote, and jansson
 * searches past the buffer's end for it. So each block has room past its end, filled with quotes. */
enum { PADDING = 16 };

static void *allocate(size_t bytes) {
    char *block = bytes <= SIZE_MAX - PADDING ? graft_realloc(NULL, bytes + PADDING, 1) : NULL;
    if (block == NULL) {
        ran_out = 1;
        return NULL;
    }
    memset(block + bytes, '"', PADDING);
    return block;
}

static void set_up(void) {
    json_set_alloc_funcs(allocate, graft_free);
    json_object_seed(0);
}

/* Configures jansson on the first call; every function that makes a value calls this first. */
static void set_up_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, set_up);
}

static json_t *load(const char *text, size_t length, size_t flags, json_error_t *failure) {
    return json_loadb(text, length, flags | JSON_ALLOW_NUL | JSON_DECODE_ANY, failure);
}

/* Like load, for texts that Python accepts as JSON: "no limit" is 10^30 in tokenizer_config.json, and Infinity in
 * config.json. */
static json_t *load_wide(const char *text, size_t length, size_t flags, json_error_t *failure) {
    size_t new_length;
    char *wide = graft_json_scan_widen(text, length, (flags & JSON_REJECT_DUPLICATES) == 0, &new_length);
    json_t *document = wide != NULL ? load(wide, new_length, flags, failure) : NULL;
    ran_out |= wide == NULL;
    graft_free(wide);
    return document;
}

static int parse(const char *text, size_t length, size_t flags, const char *source, graft_json **document,
                 struct graft_error *error) {
    set_up_once();
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, source,
                               "starts with a byte order mark, expected JSON without one");
    }
    if (graft_json_scan_deeper(text, length, MAX_DEPTH)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, source, "the JSON is nested deeper than %d levels", MAX_DEPTH);
    }
    json_error_t failure = {0};
    ran_out = 0;
    *document = load(text, length, flags, &failure);
    if (*document == NULL && (json_error_code(&failure) == json_error_numeric_overflow ||
                              json_error_code(&failure) == json_error_invalid_syntax)) {
        *document = load_wide(text, length, flags, &failure);
    }
    if (ran_out) {
        /* jansson's lexer drops characters for which it found no memory, and continues */
        json_decref(*document);
        *document = NULL;
        return graft_fail_memory(error, source);
    }
    if (*document != NULL) {
        return GRAFT_OK;
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, source, "not valid JSON, line %d column %d: %s", failure.line,
                           failure.column, failure.text);
}

int graft_json_parse(const char *text, size_t length, const char *source, graft_json **document,
                     struct graft_error *error) {
    return parse(text, length, 0, source, document, error);
}

int graft_json_parse_strict(const char *text, size_t length, const char *source, graft_json **document,
                            struct graft_error *error) {
    return parse(text, length, JSON_REJECT_DUPLICATES, source, document, error);
}

static int read_file(const char *path, size_t max_bytes, size_t flags, graft_json **document,
                     struct graft_error *error) {
    char *text = NULL;
    size_t length = 0;
    int status = graft_file_read(path, max_bytes, GRAFT_ERROR_MODEL, &text, &length, error);
    if (status == GRAFT_OK) {
        status = parse(text, length, flags, path, document, error);
    }
    graft_free(text);
    return status;
}

int graft_json_read(const char *path, size_t max_bytes, graft_json **document, struct graft_error *error) {
    return read_file(path, max_bytes, 0, document, error);
}

int graft_json_read_strict(const char *path, size_t max_bytes, graft_json **document, struct graft_error *error) {
    return read_file(path, max_bytes, JSON_REJECT_DUPLICATES, document, error);
}

/* Counts events that invalidate the iteration of graft_json_member: documents freed, and objects changed. */
static atomic_uint changes;

void graft_json_free(graft_json *document) {
    atomic_fetch_add(&changes, 1);
    json_decref(document);
}

enum graft_json_type graft_json_type(const graft_json *value) {
    if (value == NULL) {
        return GRAFT_JSON_ABSENT;
    }
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return GRAFT_JSON_OBJECT;
    case JSON_ARRAY:
        return GRAFT_JSON_ARRAY;
    case JSON_STRING:
        return GRAFT_JSON_STRING;
    case JSON_INTEGER:
        return GRAFT_JSON_INT;
    case JSON_REAL:
        return GRAFT_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return GRAFT_JSON_BOOL;
    case JSON_NULL:
        break;
    }
    return GRAFT_JSON_NULL;
}

const char *graft_json_type_name(const graft_json *value) {
    static const char *const names[] = {"nothing",       "null",     "true or false", "an integer",
                                        "a real number", "a string", "an array",      "an object"};
    return names[graft_json_type(value)];
}

const graft_json *graft_json_get(const graft_json *object, const char *key) {
    return json_object_get(object, key);
}

const graft_json *graft_json_at(const graft_json *array, size_t index) {
    return json_array_get(array, index);
}

size_t graft_json_size(const graft_json *value) {
    return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}

const char *graft_json_string(const graft_json *value, size_t *length) {
    if (length != NULL) {
        *length = json_string_length(value);
    }
    return json_string_value(value);
}

int64_t graft_json_int(const graft_json *value) {
    return json_integer_value(value);
}

double graft_json_real(const graft_json *value) {
    return json_number_value(value);
}

int graft_json_bool(const graft_json *value) {
    return json_is_true(value);
}

int graft_json_equal(const graft_json *a, const graft_json *b) {
    return json_equal(a, b);
}

int graft_json_next(const graft_json *object, void **iterator, const char **key, const graft_json **value) {
    json_t *walked = (json_t *)object; /* jansson's iterators can also change values, which is not done here */
    *iterator = *iterator == NULL ? json_object_iter(walked) : json_object_iter_next(walked, *iterator);
    if (*iterator == NULL) {
        return 0;
    }
    *key = json_object_iter_key(*iterator);
    *value = json_object_iter_value(*iterator);
    return 1;
}

/* The member that this thread was given last. Continuing there saves walking to each member from the first one. */
static _Thread_local struct {
    json_t *object;
    void *iterator;
    size_t i;
    unsigned changes; /* `changes` when the walk began */
} last;

const graft_json *graft_json_member(const graft_json *object, size_t i, const char **key) {
    json_t *walked = (json_t *)object;
    const unsigned now = atomic_load(&changes);
    if (last.object != walked || last.changes != now || last.iterator == NULL || last.i > i) {
        last.object = walked;
        last.iterator = json_object_iter(walked);
        last.i = 0;
        last.changes = now;
    }
    for (; last.iterator != NULL && last.i < i; last.i++) {
        last.iterator = json_object_iter_next(walked, last.iterator);
    }
    if (last.iterator == NULL) {
        return NULL;
    }
    *key = json_object_iter_key(last.iterator);
    return json_object_iter_value(last.iterator);
}

const char *graft_json_other_key(const graft_json *object, const char *const *keys) {
    void *iterator = NULL;
    const char *key = NULL;
    const graft_json *value = NULL;
    while (graft_json_next(object, &iterator, &key, &value)) {
        size_t i = 0;
        while (keys[i] != NULL && strcmp(keys[i], key) != 0) {
            i++;
        }
        if (keys[i] == NULL) {
            return key;
        }
    }
    return NULL;
}

int graft_json_append_share(graft_json *array, const graft_json *value) {
    return json_array_append(array, (json_t *)value);
}

/* Not by json_deep_copy, which leaves out what memory ran out for. */
graft_json *graft_json_copy(const graft_json *value) {
    graft_json *copy = NULL;
    char *text = graft_json_dump(value, 0);
    if (text != NULL) {
        (void)graft_json_parse(text, strlen(text), "copy", &copy, NULL);
    }
    graft_free(text);
    return copy;
}

graft_json *graft_json_new_object(void) {
    set_up_once();
    return json_object();
}

graft_json *graft_json_new_array(void) {
    set_up_once();
    return json_array();
}

/* Copies text, replacing each byte that is not UTF-8 by U+FFFD. */
static void add_repaired(struct graft_text *out, const char *text, size_t length) {
    for (size_t at = 0; at < length;) {
        size_t valid = graft_utf8_valid_prefix(text + at, length - at);
        graft_text_add(out, text + at, valid);
        at += valid;
        if (at < length) {
            graft_text_add_string(out, "\xEF\xBF\xBD");
            at++;
        }
    }
}

graft_json *graft_json_new_string_n(const char *text, size_t length) {
    set_up_once();
    if (graft_utf8_valid_prefix(text, length) == length) {
        return json_stringn_nocheck(text, length);
    }
    struct graft_text repaired = {0};
    add_repaired(&repaired, text, length);
    graft_json *value = repaired.failed ? NULL : json_stringn_nocheck(repaired.bytes, repaired.length);
    graft_text_free(&repaired);
    return value;
}

graft_json *graft_json_new_string(const char *text) {
    return text != NULL ? graft_json_new_string_n(text, strlen(text)) : json_null();
}

graft_json *graft_json_new_int(int64_t number) {
    set_up_once();
    return json_integer(number);
}

graft_json *graft_json_new_real(double number) {
    set_up_once();
    return isfinite(number) ? json_real(number) : json_null();
}

graft_json *graft_json_new_bool(int truth) {
    return json_boolean(truth);
}

int graft_json_set_take(graft_json *object, const char *key, graft_json *value_take) {
    size_t length = strlen(key);
    atomic_fetch_add(&changes, 1);
    if (graft_utf8_valid_prefix(key, length) == length) {
        return json_object_set_new_nocheck(object, key, value_take);
    }
    struct graft_text repaired = {0};
    add_repaired(&repaired, key, length);
    int result = -1;
    if (repaired.failed) {
        json_decref(value_take);
    } else {
        result = json_object_set_new_nocheck(object, repaired.bytes, value_take);
    }
    graft_text_free(&repaired);
    return result;
}

int graft_json_append_take(graft_json *array, graft_json *value_take) {
    return json_array_append_new(array, value_take);
}

graft_json *graft_json_detach(graft_json *object, const char *key) {
    json_t *value = json_incref(json_object_get(object, key));
    atomic_fetch_add(&changes, 1);
    if (value != NULL) {
        (void)json_object_del(object, key);
    }
    return value;
}

graft_json *graft_json_detach_path(graft_json *document, const char *path) {
    enum { MAX_KEY = 1024 };
    const char *dot;
    while ((dot = strchr(path, '.')) != NULL && dot - path < MAX_KEY) {
        char key[MAX_KEY];
        memcpy(key, path, (size_t)(dot - path));
        key[dot - path] = '\0';
        document =
            json_is_array(document) ? json_array_get(document, strtoul(key, NULL, 10)) : json_object_get(document, key);
        path = dot + 1;
    }
    return graft_json_detach(document, path);
}
