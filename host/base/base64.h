/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_BASE_BASE64_H
#define GRAFT_BASE_BASE64_H

#include <stddef.h>

#include "base/text.h"

/* [any] Decodes base64 (RFC 4648, with padding) and adds the bytes to `out`, which says whether memory ran out. Returns
 * 0, or -1 if the text is malformed. */
int graft_base64_decode(const char *text, size_t length, struct graft_text *out);

/* [any] Adds `length` bytes as base64 with padding. */
void graft_base64_encode(const char *bytes, size_t length, struct graft_text *out);

#endif
