/* SPDX-License-Identifier: Apache-2.0 */
/* Images inside of JSON: data: URLs (RFC 2397) with base64. */
#ifndef GRAFT_BASE_DATA_URL_H
#define GRAFT_BASE_DATA_URL_H

#include <stddef.h>

#include "base/text.h"
#include "graft/error.h"

/* [any] Adds the bytes of "data:image/png;base64,..." to `bytes`. Its type is not looked at: the bytes say what they
 * are. Any other URL is GRAFT_ERROR_USAGE; `source` names it in messages. */
int graft_data_url_decode(const char *url, size_t length, const char *source, struct graft_text *bytes,
                          struct graft_error *error);

#endif
