/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON documents. Values are borrowed from their document and live as long as it does; all functions are [any] on a
 * document that no thread changes. Getters accept NULL as "absent", so that a chain of look-ups needs one check at the
 * end.
 *
 * Parsing accepts what Python's json accepts, since Python writes most of the files: the last of several members of the
 * same name counts, an integer outside of int64 becomes a real, and NaN, Infinity and -Infinity become {"__float__":
 * "NaN"} and so on, as transformers writes them. Half a surrogate pair, which UTF-8 cannot encode, becomes U+FFFD.
 * Otherwise parsing is strict: valid UTF-8, bounded depth, nothing after the document. Files that people write for this
 * program are read by the functions whose names end in _strict, for which duplicate members and half surrogate pairs
 * are errors.
 */
#ifndef GRAFT_BASE_JSON_H
#define GRAFT_BASE_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

struct json_t;
typedef struct json_t graft_json;

enum graft_json_type {
    GRAFT_JSON_ABSENT, /* there is no such value */
    GRAFT_JSON_NULL,
    GRAFT_JSON_BOOL,
    GRAFT_JSON_INT,
    GRAFT_JSON_REAL,
    GRAFT_JSON_STRING,
    GRAFT_JSON_ARRAY,
    GRAFT_JSON_OBJECT,
};

/* Parses `length` bytes; the document may be any value. `source` names the text in errors (GRAFT_ERROR_MODEL). The
 * caller frees `*document` with graft_json_free; it is NULL on failure. */
int graft_json_parse(const char *text, size_t length, const char *source, graft_json **document,
                     struct graft_error *error);
int graft_json_parse_strict(const char *text, size_t length, const char *source, graft_json **document,
                            struct graft_error *error);

/* Reads and parses a regular file of at most `max_bytes`. Missing, unreadable, special and larger files are errors. */
int graft_json_read(const char *path, size_t max_bytes, graft_json **document, struct graft_error *error);
int graft_json_read_strict(const char *path, size_t max_bytes, graft_json **document, struct graft_error *error);

void graft_json_free(graft_json *document);

enum graft_json_type graft_json_type(const graft_json *value);
/* The type of a value for messages: "an integer", "a string", ... */
const char *graft_json_type_name(const graft_json *value);

/* A member of an object, or an element of an array; NULL if it is absent or the value has another type. */
const graft_json *graft_json_get(const graft_json *object, const char *key);
const graft_json *graft_json_at(const graft_json *array, size_t index);

/* The number of elements of an array or members of an object; 0 for other types. */
size_t graft_json_size(const graft_json *value);

/* The bytes of a string, which may contain NUL, and their number; NULL for another type. `length` may be NULL. */
const char *graft_json_string(const graft_json *value, size_t *length);
int64_t graft_json_int(const graft_json *value); /* 0 for another type */
double graft_json_real(const graft_json *value); /* also for integers; 0 for another type */
int graft_json_bool(const graft_json *value);    /* 0 for another type */

/* Whether two values are equal. The order of members does not matter. */
int graft_json_equal(const graft_json *a, const graft_json *b);

/* The first member of an object that is not in `keys` (NULL-terminated); NULL if there is none, or the value is not an
 * object. */
const char *graft_json_other_key(const graft_json *object, const char *const *keys);

/* Iterates over members in the order of the file: `iterator` starts as NULL. Returns 0 at the end. */
int graft_json_next(const graft_json *object, void **iterator, const char **key, const graft_json **value);

/* Member number `i` of an object, in the order of the file; NULL after the last. Asking for one after another costs no
 * more than graft_json_next. */
const graft_json *graft_json_member(const graft_json *object, size_t i, const char **key);

/* Building documents to print. A function with `_take` passes ownership of the value to the container, even on failure.
 * A value or container may be NULL because an earlier allocation failed; then the call fails as well. Objects keep the
 * order of insertion. Bytes of strings and keys that are not UTF-8 become U+FFFD. */
graft_json *graft_json_new_object(void);
graft_json *graft_json_new_array(void);
graft_json *graft_json_new_string(const char *text); /* NULL makes null */
graft_json *graft_json_new_string_n(const char *text, size_t length);
graft_json *graft_json_new_int(int64_t number);
graft_json *graft_json_new_real(double number); /* makes null if the number is not finite, as JSON has no such number */
graft_json *graft_json_new_bool(int truth);
int graft_json_set_take(graft_json *object, const char *key, graft_json *value_take); /* 0, or -1 out of memory */
int graft_json_append_take(graft_json *array, graft_json *value_take);                /* 0, or -1 out of memory */

/* Appends a value that its document keeps as well; the document may be freed before the array. The value must not
 * change from then on. Returns 0, or -1 if memory ran out. */
int graft_json_append_share(graft_json *array, const graft_json *value);

/* A copy of any value, which the caller frees; NULL if memory ran out. */
graft_json *graft_json_copy(const graft_json *value);

/* Removes a member from an object and returns it; the caller frees it with graft_json_free. NULL if there is none. */
graft_json *graft_json_detach(graft_json *object, const char *key);

/* Removes a member at a dotted path, such as "rope_parameters.factor" or "layers.3.name", where a number selects an
 * element of an array. Returns it like graft_json_detach. */
graft_json *graft_json_detach_path(graft_json *document, const char *path);

/* The document as text, on one line or, if `indent` is above 0, on many lines with that many spaces a level; without a
 * line break at the end. Reals have the fewest digits that read back as the same number. The caller frees the text with
 * graft_free; NULL if memory ran out. */
char *graft_json_dump(const graft_json *document, int indent);

#endif
