/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first allocation of a growing array: eight pointers, or one large element. */
enum { FIRST_BYTES = 64 };

static atomic_long countdown;

/* Counts an allocation. Returns whether it is the one that a test wants to fail. */
static int must_fail(void) {
    long left = atomic_load_explicit(&countdown, memory_order_relaxed);
    while (left > 0) {
        if (atomic_compare_exchange_weak(&countdown, &left, left - 1)) {
            return left == 1;
        }
    }
    return 0;
}

long graft_alloc_fail_at(long n) {
    return atomic_exchange(&countdown, n);
}

void *graft_alloc(size_t count, size_t size) {
    if (must_fail() || (size != 0 && count > SIZE_MAX / size)) {
        return NULL;
    }
    return count == 0 || size == 0 ? calloc(1, 1) : calloc(count, size);
}

void *graft_realloc(void *block, size_t count, size_t size) {
    if (must_fail() || (size != 0 && count > SIZE_MAX / size)) {
        return NULL;
    }
    size_t bytes = count * size;
    return realloc(block, bytes > 0 ? bytes : 1);
}

void *graft_alloc_aligned(size_t alignment, size_t bytes) {
    void *block = NULL;
    if (must_fail()) {
        return NULL;
    }
    if (alignment < sizeof(void *)) {
        alignment = sizeof(void *);
    }
    return posix_memalign(&block, alignment, bytes > 0 ? bytes : 1) == 0 ? block : NULL;
}

void graft_free(void *block) {
    free(block);
}

char *graft_strdup(const char *text) {
    return graft_strndup(text, strlen(text));
}

char *graft_strndup(const char *text, size_t length) {
    char *copy = length < SIZE_MAX ? graft_realloc(NULL, length + 1, 1) : NULL;
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *graft_format(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length >= 0 ? graft_realloc(NULL, (size_t)length + 1, 1) : NULL;
    if (text != NULL) {
        va_start(arguments, format);
        (void)vsnprintf(text, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    return text;
}

int graft_grow(void *array, size_t *capacity, size_t count, size_t size) {
    if (count < *capacity) {
        return 0;
    }
    if (*capacity > SIZE_MAX / 2) {
        return -1;
    }
    size_t first = size > 0 && size < FIRST_BYTES ? FIRST_BYTES / size : 1;
    size_t wanted = *capacity > 0 ? 2 * *capacity : first;
    /* `array` points to a pointer of any type: only memcpy may read and write it as void *. */
    void *block;
    memcpy(&block, array, sizeof block);
    block = graft_realloc(block, wanted, size);
    if (block == NULL) {
        return -1;
    }
    memcpy(array, &block, sizeof block);
    *capacity = wanted;
    return 0;
}
