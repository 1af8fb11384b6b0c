/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place where the host allocates, so that a test can make each allocation fail in turn.
 * All functions are [any] and return NULL if memory ran out or a size overflows.
 */
#ifndef GRAFT_BASE_ALLOC_H
#define GRAFT_BASE_ALLOC_H

#include <stddef.h>

/* Zeroed memory for `count` elements of `size` bytes; never NULL for a count of 0. */
void *graft_alloc(size_t count, size_t size);

/* Resizes a block to `count` elements of `size` bytes. New elements are not zeroed. On failure the old block stays
 * valid. */
void *graft_realloc(void *block, size_t count, size_t size);

/* Memory aligned to `alignment` bytes (a power of two), not zeroed; also freed by graft_free. */
void *graft_alloc_aligned(size_t alignment, size_t bytes);

void graft_free(void *block);

/* A copy of a string, or of its first `length` bytes with a terminator. */
char *graft_strdup(const char *text);
char *graft_strndup(const char *text, size_t length);

/* printf into a new string. */
char *graft_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Doubles the capacity of a growing array once `count` has reached `*capacity`. `array` points to the array's pointer.
 * Returns 0, or -1 with the array unchanged. */
int graft_grow(void *array, size_t *capacity, size_t count, size_t size);

/* [test] Makes the n-th allocation from now on fail (1 is the next); 0 turns this off. Returns what was left of the
 * countdown set before, 0 if it has fired: a test increases n until the result is not 0. */
long graft_alloc_fail_at(long n);

#endif
