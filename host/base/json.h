/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON documents. Values are borrowed from their document and live as long as it does; all functions are [any] on a
 * document that nobody changes. Getters take NULL as "absent", so that chains of look-ups need one check at the end.
 *
 * What Python's json reads is read, as it writes most of the files: of two members of one name the last counts, an
 * integer that int64 does not hold is a real, NaN is {"__float__": "NaN"}, as transformers writes it, and Infinity and
 * -Infinity likewise. Half a surrogate pair, which no UTF-8 can hold, is U+FFFD. Beyond that parsing is strict: no
 * invalid UTF-8, bounded depth, nothing after the document. What people write for this program is read by the functions
 * whose names end in _strict, to which two members of one name and half a surrogate pair are errors.
 */
#ifndef GRAFT_BASE_JSON_H
#define GRAFT_BASE_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

struct json_t;
typedef struct json_t graft_json;

enum graft_json_type {
    GRAFT_JSON_ABSENT, /* no such value, or NULL */
    GRAFT_JSON_NULL,
    GRAFT_JSON_BOOL,
    GRAFT_JSON_INT,
    GRAFT_JSON_REAL,
    GRAFT_JSON_STRING,
    GRAFT_JSON_ARRAY,
    GRAFT_JSON_OBJECT,
};

/* Parses `length` bytes; the document may be any value. `source` names the text in errors (GRAFT_ERROR_MODEL).
 * `*document` is the caller's, to be given to graft_json_free; NULL on failure. */
int graft_json_parse(const char *text, size_t length, const char *source, graft_json **document,
                     struct graft_error *error);
int graft_json_parse_strict(const char *text, size_t length, const char *source, graft_json **document,
                            struct graft_error *error);

/* Reads and parses a regular file of at most `max_bytes`. Absent, unreadable, special and oversized files are errors.
 */
int graft_json_read(const char *path, size_t max_bytes, graft_json **document, struct graft_error *error);
int graft_json_read_strict(const char *path, size_t max_bytes, graft_json **document, struct graft_error *error);

void graft_json_free(graft_json *document);

enum graft_json_type graft_json_type(const graft_json *value);
/* "an integer", "a string", ...: for messages. */
const char *graft_json_type_name(const graft_json *value);

/* Member of an object, element of an array; NULL when absent or of another type. */
const graft_json *graft_json_get(const graft_json *object, const char *key);
const graft_json *graft_json_at(const graft_json *array, size_t index);

/* Elements of an array, members of an object; else 0. */
size_t graft_json_size(const graft_json *value);

/* The bytes of a string (NUL bytes may be inside) and their number; NULL for another type. `length` may be NULL. */
const char *graft_json_string(const graft_json *value, size_t *length);
int64_t graft_json_int(const graft_json *value); /* 0 for another type */
double graft_json_real(const graft_json *value); /* of integers too; 0 for another type */
int graft_json_bool(const graft_json *value);    /* 0 for another type */

/* Whether both are the same value, whatever the order of objects' members. */
int graft_json_equal(const graft_json *a, const graft_json *b);

/* The first member of an object that `keys` (NULL-terminated) does not name; NULL: none, or no object. */
const char *graft_json_other_key(const graft_json *object, const char *const *keys);

/* Members in file order: `iterator` starts at NULL; returns 0 at the end. */
int graft_json_next(const graft_json *object, void **iterator, const char **key, const graft_json **value);

/* Member number `i` of an object, in the order of the file; NULL behind the last. Asked for one by one they cost no
 * more than by graft_json_next. */
const graft_json *graft_json_member(const graft_json *object, size_t i, const char **key);

/* Building documents to print. A consumed value (`_take`) is owned by its container from then on, also on failure, and
 * may be NULL (an earlier allocation failed), which fails, as does a container that is NULL. Objects keep the order of
 * insertion. Bytes of strings and keys that are not UTF-8 become U+FFFD. */
graft_json *graft_json_new_object(void);
graft_json *graft_json_new_array(void);
graft_json *graft_json_new_string(const char *text); /* NULL makes null */
graft_json *graft_json_new_string_n(const char *text, size_t length);
graft_json *graft_json_new_int(int64_t number);
graft_json *graft_json_new_real(double number); /* null when not finite: JSON has no such number */
graft_json *graft_json_new_bool(int truth);
int graft_json_set_take(graft_json *object, const char *key, graft_json *value_take); /* 0, or -1 out of memory */
int graft_json_append_take(graft_json *array, graft_json *value_take);                /* 0, or -1 out of memory */

/* Appends a value that stays its document's as well, which may be freed; nobody changes it from then on. 0, or -1 out
 * of memory. */
int graft_json_append_share(graft_json *array, const graft_json *value);

/* Takes a member out of an object: the caller's, to be given to graft_json_free; NULL if there is none. */
graft_json *graft_json_detach(graft_json *object, const char *key);

/* The same for the member that a dotted path leads to, "rope_parameters.factor" or "layers.3.name", where a number
 * picks an element of an array. */
graft_json *graft_json_detach_path(graft_json *document, const char *path);

/* The document as text, on one line or, with `indent` > 0 spaces a level, on many; no line break at the end. Reals have
 * the fewest digits that read back as the same number. The caller frees it with graft_free; NULL if memory ran out.
 */
char *graft_json_dump(const graft_json *document, int indent);

#endif
