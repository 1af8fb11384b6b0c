/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_CLI_SIZE_H
#define GRAFT_CLI_SIZE_H

#include <stdint.h>

/* Bytes from "500MB", "1.5GB", "100kb" or "4096": decimal units, as transformers has them. Returns 0, or -1 when `text`
 * is no size of at least one byte. */
int graft_size_parse(const char *text, int64_t *bytes);

#endif
