/* SPDX-License-Identifier: Apache-2.0 */
/* A value of tokenizer.json together with its place in the document, so that every error names file and field:
 * `pre_tokenizer.pretokenizers[1].type: "X" is not supported`. Specs live on the stack of the functions that walk the
 * document; a child points to its parent. All functions are [load]. */
#ifndef GRAFT_TOKENIZER_SPEC_H
#define GRAFT_TOKENIZER_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "graft/error.h"

/* How deep Sequences may be nested. */
enum { GRAFT_SPEC_MAX_NESTING = 8 };

struct graft_spec {
    const graft_json *value;         /* NULL when absent */
    const char *file;                /* path of the tokenizer.json */
    const struct graft_spec *parent; /* NULL for the whole document */
    const char *key;                 /* name of the parent's member; NULL for an element */
    size_t index;                    /* index of the parent's element */
};

struct graft_spec graft_spec_get(const struct graft_spec *object, const char *key);
struct graft_spec graft_spec_at(const struct graft_spec *array, size_t index);

/* Whether the value is absent or null, so that the component it configures does not exist. */
int graft_spec_is_none(const struct graft_spec *spec);

/* Writes the path of the value, "model.merges[3]"; it is truncated if it does not fit. */
void graft_spec_path(const struct graft_spec *spec, char *path, size_t size);

/* Sets GRAFT_ERROR_MODEL with "FIELD: " before the text, and returns it. */
int graft_spec_error(const struct graft_spec *spec, struct graft_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks that the value is an object whose members are all among `keys` (NULL-terminated). */
int graft_spec_expect_object(const struct graft_spec *spec, const char *const *keys, struct graft_error *error);
int graft_spec_expect_array(const struct graft_spec *spec, struct graft_error *error);

/* Gets a required member that is a string; borrowed from the document. With `length` NULL, NUL bytes are an error. */
int graft_spec_string(const struct graft_spec *object, const char *key, const char **text, size_t *length,
                      struct graft_error *error);
/* Like graft_spec_string, for a member that may be absent or null: then `*text` is NULL. */
int graft_spec_optional_string(const struct graft_spec *object, const char *key, const char **text, size_t *length,
                               struct graft_error *error);
/* Like graft_spec_string, for a member that is one character. */
int graft_spec_character(const struct graft_spec *object, const char *key, const char **text, size_t *length,
                         struct graft_error *error);
int graft_spec_bool(const struct graft_spec *object, const char *key, int fallback, int *truth,
                    struct graft_error *error);
/* Gets a required member that is an integer from 0 to `max`. */
int graft_spec_count(const struct graft_spec *object, const char *key, int64_t max, int64_t *number,
                     struct graft_error *error);
/* Gets the value itself as a token id. */
int graft_spec_id(const struct graft_spec *spec, int32_t *id, struct graft_error *error);

#endif
