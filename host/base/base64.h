/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_BASE_BASE64_H
#define GRAFT_BASE_BASE64_H

#include <stddef.h>

#include "base/text.h"

/* [any] Adds the bytes that a base64 text (RFC 4648, with padding) stands for; `out` says whether memory ran out.
 * Returns 0, or -1 when the text is malformed. */
int graft_base64_decode(const char *text, size_t length, struct graft_text *out);

/* [any] Adds the text, with padding, that stands for `length` bytes. */
void graft_base64_encode(const char *bytes, size_t length, struct graft_text *out);

#endif
