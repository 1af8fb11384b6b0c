/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dotted paths into a JSON document, as in graft/config.h, and the fields of a document.
 *
 * A *field* is a value that is not divided any further: a number, a string, a boolean, null, an object without members,
 * or an array together with its plain elements. Elements that are objects or arrays have fields of their own:
 * "eos_token_id" is [1, 2], and "targets.0.name" is a string in an array of objects.
 */
#ifndef GRAFT_CONFIG_PATH_H
#define GRAFT_CONFIG_PATH_H

#include "base/json.h"
#include "base/text.h"

enum { GRAFT_MAX_FIELD = 1024 }; /* bytes of a field's path, including a NUL */

/* [any] The value at a path; NULL if there is none. A number selects an element of an array, "#2" the third member of
 * an object. `field`, which may be NULL, becomes the path of the value's field, without "#2", or "" if the path is too
 * long. */
const graft_json *graft_path_find(const graft_json *document, const char *path, char field[GRAFT_MAX_FIELD]);

/* [any] Whether the value is a field, alone or together with its siblings in an array. */
int graft_path_is_field(const graft_json *value);

/* [any] "Infinity", "-Infinity" or "NaN" if the value is that number, which transformers writes as {"__float__":
 * "NaN"}; else NULL. */
const char *graft_path_float(const graft_json *value);

/* [any] Adds a value in readable form to a text: strings in quotes, truncated to `most` bytes. */
void graft_path_show(const graft_json *value, size_t most, struct graft_text *text);

/* Called for each field of a document, in order. A result other than 0 ends the walk. */
typedef int (*graft_field_function)(void *data, const char *path, const graft_json *value);

/* [any] Calls `function` for each field. Returns the result of the last call, or -1 if memory ran out. */
int graft_path_walk(const graft_json *document, graft_field_function function, void *data);

#endif
