/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), for arrays too large to be kept as goldens. */
#ifndef GRAFT_GOLDENS_SHA256_H
#define GRAFT_GOLDENS_SHA256_H

#include <stddef.h>

/* The digest in hexadecimal, with its NUL. */
void sha256(const void *bytes, size_t count, char hex[65]);

#endif
