/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: a status returned, and a text in a struct that the caller provides.
 *
 * A fallible function returns GRAFT_OK or one of the codes below and takes `struct graft_error *` last. NULL is
 * allowed. The first error wins: a struct that already holds one is left alone, so that clean-up cannot hide a cause.
 */
#ifndef GRAFT_ERROR_H
#define GRAFT_ERROR_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The codes are the program's exit statuses. */
enum {
    GRAFT_OK = 0,
    GRAFT_ERROR_INTERNAL = 1, /* out of memory, or a broken promise of our own */
    GRAFT_ERROR_USAGE = 2,    /* an argument of the caller */
    GRAFT_ERROR_PLUGIN = 3,   /* a plugin, or how two of them meet */
    GRAFT_ERROR_MODEL = 4,    /* a file of the model directory */
    GRAFT_ERROR_IO = 5,       /* reading a prompt, writing a result */
    GRAFT_ERROR_VERIFY = 6    /* replaced and original differ */
};

/* The sizes of the texts are part of the ABI for ever. */
struct graft_error {
    uint32_t struct_size;
    int32_t code;       /* GRAFT_OK until something went wrong */
    char source[256];   /* the file, tensor, module or plugin that is at fault; may be empty */
    char message[1024]; /* what is wrong, what was expected and what was found; one line */
    char hint[512];     /* what to do about it; may be empty */
};

GRAFT_ASSERT_SIZE(struct graft_error, 1800);

/* [any] A struct with no error in it. */
static inline struct graft_error graft_error_none(void) {
    struct graft_error error;
    error.struct_size = (uint32_t)sizeof error;
    error.code = GRAFT_OK;
    error.source[0] = error.message[0] = error.hint[0] = '\0';
    return error;
}

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
/* [any] Records the first error and returns `code`, so that `return graft_error_set(...)` reads as one step.
 * `error` and `source` may be NULL. Texts that are too long are cut. */
static inline int
graft_error_set(struct graft_error *error, int code, const char *source, const char *format, ...) {
    if (error != NULL && error->code == GRAFT_OK) {
        va_list arguments;
        error->code = code;
        (void)snprintf(error->source, sizeof error->source, "%s", source != NULL ? source : "");
        va_start(arguments, format);
        (void)vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
        error->hint[0] = '\0';
    }
    return code;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
/* [any] Adds what to do about the error that `error` holds. A hint that is already there stays. */
static inline void
graft_error_hint(struct graft_error *error, const char *format, ...) {
    if (error != NULL && error->code != GRAFT_OK && error->hint[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(error->hint, sizeof error->hint, format, arguments);
        va_end(arguments);
    }
}

#ifdef __cplusplus
}
#endif

#endif
