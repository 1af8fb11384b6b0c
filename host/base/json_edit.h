/* SPDX-License-Identifier: Apache-2.0 */
/* Changes a member of a JSON text and keeps the rest byte for byte. */
#ifndef GRAFT_BASE_JSON_EDIT_H
#define GRAFT_BASE_JSON_EDIT_H

#include <stddef.h>

#include "base/text.h"

/* [any] Adds the text of an object, which must be valid JSON, to `edited`, with the member `key` set to the JSON text
 * `value`. The member keeps its place; a new one comes last. */
void graft_json_edit_member(const char *text, size_t length, const char *key, const char *value,
                            struct graft_text *edited);

/* [any] Adds the text of an object without the member `key`, which may be absent. */
void graft_json_edit_remove(const char *text, size_t length, const char *key, struct graft_text *edited);

#endif
