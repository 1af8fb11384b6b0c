/* SPDX-License-Identifier: Apache-2.0 */
/* A growing text. */
#ifndef GRAFT_HOST_TEXT_H
#define GRAFT_HOST_TEXT_H

#include <stddef.h>

#include "graft/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts as {0}; once something was added, a NUL follows the `length` bytes. After a failed allocation `failed` is set
 * and later calls do nothing, so one check at the end is enough. Never grows. */
struct graft_text {
    char *bytes;     /* [length], then a NUL; NULL: nothing was added yet */
    size_t length;   /* bytes of text */
    size_t capacity; /* bytes there is room for */
    int failed;      /* 1: memory ran out */
};

/* [any] Frees the bytes; the struct is {0} again. */
void graft_text_free(struct graft_text *text);

#ifdef __cplusplus
}
#endif

#endif
