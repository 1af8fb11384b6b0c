/* SPDX-License-Identifier: Apache-2.0 */
/* Changing a JSON text where the rest has to stay as it is, byte for byte. */
#ifndef GRAFT_BASE_JSON_EDIT_H
#define GRAFT_BASE_JSON_EDIT_H

#include <stddef.h>

#include "base/text.h"

/* [any] Adds to `edited` the text of an object, which has to be valid JSON, with the member `key` set to `value`, a
 * JSON text: in its old place, or behind the last member. */
void graft_json_edit_member(const char *text, size_t length, const char *key, const char *value,
                            struct graft_text *edited);

/* [any] The same without the member, which need not be there. */
void graft_json_edit_remove(const char *text, size_t length, const char *key, struct graft_text *edited);

#endif
