/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dotted paths into a JSON document, as graft/config.h has them, and the fields that a document consists of.
 *
 * A *field* is what a path leads to that is not taken apart any further: a number, a string, a boolean, null, an object
 * without members, and an array with all of its elements but objects and arrays, which have fields of their own:
 * "eos_token_id" stands for [1, 2], "targets.0.name" for a string in an array of objects.
 */
#ifndef GRAFT_CONFIG_PATH_H
#define GRAFT_CONFIG_PATH_H

#include "base/json.h"
#include "base/text.h"

enum { GRAFT_MAX_FIELD = 1024 }; /* bytes of a field's path, with its NUL */

/* [any] The value at a path; NULL: there is none. A number picks an element of an array, "#2" the third member of an
 * object. `field`, which may be NULL, becomes the path of the field that the value belongs to, without "#2"; "" where
 * it is longer than there is room for. */
const graft_json *graft_path_find(const graft_json *document, const char *path, char field[GRAFT_MAX_FIELD]);

/* [any] Whether the value makes up a field, alone or with its siblings in an array. */
int graft_path_is_field(const graft_json *value);

/* [any] "Infinity", "-Infinity" or "NaN" where the value is that number, as transformers writes it:
 * {"__float__": "NaN"}; else NULL. */
const char *graft_path_float(const graft_json *value);

/* [any] Adds a value as people read it to a text: strings in quotes, everything cut at `most` bytes. */
void graft_path_show(const graft_json *value, size_t most, struct graft_text *text);

/* Called for each field of a document, in its order; other statuses than 0 end the walk. */
typedef int (*graft_field_function)(void *data, const char *path, const graft_json *value);

/* [any] Returns the status of the last call; -1: memory ran out. */
int graft_path_walk(const graft_json *document, graft_field_function function, void *data);

#endif
