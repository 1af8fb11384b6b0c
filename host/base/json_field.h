/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way to read JSON whose fields are known. A value comes together with its place in the file, so that every
 * error names both, "pre_tokenizer.pretokenizers[1].type: missing, expected a string", and an object's members are read
 * by a table into a struct. Fields live on the stack of the functions that walk the document; a child points to its
 * parent. All errors are GRAFT_ERROR_MODEL. All functions are [any].
 */
#ifndef GRAFT_BASE_JSON_FIELD_H
#define GRAFT_BASE_JSON_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "graft/error.h"

struct graft_field {
    const graft_json *value; /* NULL when absent */
    const char *file;
    const struct graft_field *parent; /* NULL for the whole document */
    const char *key;                  /* name of the parent's member; NULL for an element */
    size_t index;                     /* index of the parent's element */
};

struct graft_field graft_field_root(const graft_json *document, const char *file);
struct graft_field graft_field_get(const struct graft_field *object, const char *key);
struct graft_field graft_field_at(const struct graft_field *array, size_t index);

/* Iterates over the members of an object like graft_json_next. */
int graft_field_next(const struct graft_field *object, void **iterator, struct graft_field *member);

/* Whether the value is absent or null. */
int graft_field_is_none(const struct graft_field *field);

/* Writes the path of the value, "model.merges[3]"; it is truncated if it does not fit. */
void graft_field_path(const struct graft_field *field, char *path, size_t size);

/* Sets the error "FIELD: " and the text. */
int graft_field_error(const struct graft_field *field, struct graft_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the error "FIELD: expected WHAT, got a string", or "FIELD: missing, expected WHAT". */
int graft_field_wrong(const struct graft_field *field, const char *what, struct graft_error *error);

/* Checks that the value is an object whose members are all among `keys` (NULL-terminated; NULL: any). */
int graft_field_object(const struct graft_field *field, const char *const *keys, struct graft_error *error);
int graft_field_array(const struct graft_field *field, struct graft_error *error);

/* Gets a required member that is a string; borrowed from the document. With `length` NULL, NUL bytes are an error. */
int graft_field_string(const struct graft_field *object, const char *key, const char **text, size_t *length,
                       struct graft_error *error);
/* Like graft_field_string, for a member that may be absent or null: then `*text` is NULL. */
int graft_field_optional_string(const struct graft_field *object, const char *key, const char **text, size_t *length,
                                struct graft_error *error);
/* Reads a string, or an array of at least one string, without NUL bytes, into `*strings`, a NULL-terminated array that
 * the caller frees with graft_free. */
int graft_field_strings(const struct graft_field *object, const char *key, const char ***strings, size_t *n,
                        struct graft_error *error);
/* Gets the value itself as a token id. */
int graft_field_id(const struct graft_field *field, int32_t *id, struct graft_error *error);

/* --- Files --- */

struct graft_json_file {
    char *path;
    graft_json *document;    /* NULL if an optional file does not exist */
    struct graft_field root; /* of the document */
};

/* Reads DIRECTORY/NAME; to be closed, after an error too. */
int graft_json_file_open(struct graft_json_file *file, const char *directory, const char *name, size_t max_bytes,
                         int is_optional, struct graft_error *error);
void graft_json_file_close(struct graft_json_file *file);

/* --- Tables --- */

enum graft_member_kind {
    GRAFT_MEMBER_TEXT,      /* const char *: a string without NUL bytes, borrowed from the document */
    GRAFT_MEMBER_VIEW,      /* struct graft_text_view: any string, borrowed from the document */
    GRAFT_MEMBER_COPY,      /* struct graft_text: any string, which is appended */
    GRAFT_MEMBER_CHARACTER, /* struct graft_text: a string of one character */
    GRAFT_MEMBER_FLAG,      /* int */
    GRAFT_MEMBER_INT,       /* int64_t */
    GRAFT_MEMBER_REAL,      /* double; integers, too */
    GRAFT_MEMBER_CHOICE,    /* int: an index of `names` */
    GRAFT_MEMBER_ARRAY,     /* const graft_json * */
    GRAFT_MEMBER_OBJECT,    /* const graft_json * */
    GRAFT_MEMBER_ANY,       /* const graft_json * of any type */
    GRAFT_MEMBER_SKIPPED,   /* may be there, and is not looked at */
};

/* A row of a table: {"top_k", GRAFT_MEMBER_INT, .offset = offsetof(struct options, top_k), .most = 100}. */
struct graft_member {
    const char *key;
    enum graft_member_kind kind;
    size_t offset;                 /* of the struct's member that it is read into */
    int is_optional;               /* absent or null leaves the struct as it was: its content is the default */
    int is_filled;                 /* a text may not be empty */
    double least, most;            /* bounds of a number, INFINITY: none; both 0: none at all */
    const char *const *names;      /* of a choice; ends with NULL */
    int (*fits)(const char *text); /* what else a text without NUL bytes has to be; NULL: nothing */
    const char *what;              /* that in words: "64 hexadecimal digits" */
};

/* Reads the members of an object by a table that ends with {0}, in its order, into the struct at `into`. A member that
 * is not in the table is an error. */
int graft_field_read(const struct graft_field *object, const struct graft_member *members, void *into,
                     struct graft_error *error);
/* The same, but other members are left alone. */
int graft_field_read_some(const struct graft_field *object, const struct graft_member *members, void *into,
                          struct graft_error *error);

enum { GRAFT_MEMBER_MESSAGE = 512 };

enum graft_member_result {
    GRAFT_MEMBER_READ,
    GRAFT_MEMBER_WRONG_TYPE,    /* with the message "expected a string, got null" */
    GRAFT_MEMBER_OUT_OF_BOUNDS, /* with the message "expected an integer from 0 to 3, got 4" */
    GRAFT_MEMBER_NO_MEMORY,
};

/* Reads one value as its row of a table says, for callers that report errors in their own way. */
enum graft_member_result graft_member_read(const struct graft_member *member, const graft_json *value, void *into,
                                           char message[GRAFT_MEMBER_MESSAGE]);

#endif
