/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: functions return a status and describe the error in a struct that the caller provides. A function that can
 * fail returns GRAFT_OK or one of the codes below, and its last parameter is a `struct graft_error *`, which may be
 * NULL. The first error wins: a struct that already holds one is left unchanged, so that clean-up cannot hide the
 * cause. If a plugin's function returns any other code, the host treats it as GRAFT_ERROR_PLUGIN; if it fails without
 * recording an error, the host records one that names it. */
#ifndef GRAFT_ERROR_H
#define GRAFT_ERROR_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The codes are the program's exit statuses. */
enum {
    GRAFT_OK = 0,
    GRAFT_ERROR_INTERNAL = 1, /* out of memory, or a bug in the host */
    GRAFT_ERROR_USAGE = 2,    /* an argument of the caller, including prompts */
    GRAFT_ERROR_PLUGIN = 3,   /* a plugin, or a conflict of two */
    GRAFT_ERROR_MODEL = 4,    /* a file of the model directory */
    GRAFT_ERROR_IO = 5,       /* a file or stream other than the model's */
    GRAFT_ERROR_VERIFY = 6    /* the results of replacement and original differ */
};

/* Belongs to the caller, who initialises it with graft_error_none(). The sizes of the texts are part of the ABI and
 * will not change. */
struct graft_error {
    uint32_t struct_size;
    int32_t code;       /* GRAFT_OK: no error */
    char source[256];   /* the file, tensor, module or plugin that is at fault; may be empty */
    char message[1024]; /* what is wrong, what was expected, and what was found; one line */
    char hint[512];     /* what to do about it; may be empty */
};

GRAFT_ASSERT_SIZE(struct graft_error, 1800);

/* [any] A struct without an error. */
GRAFT_INLINE struct graft_error graft_error_none(void) {
    struct graft_error error;
    error.struct_size = (uint32_t)sizeof error;
    error.code = GRAFT_OK;
    error.source[0] = error.message[0] = error.hint[0] = '\0';
    return error;
}

/* [any] Length in bytes of the UTF-8 sequence at the start of a string; 0 if it is malformed (the Unicode standard,
 * table 3-7). */
GRAFT_INLINE size_t graft_error_utf8(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) || (at[0] == 0xF0 && at[1] < 0x90) ||
        (at[0] == 0xF4 && at[1] > 0x8F)) {
        return 0;
    }
    return length;
}

/* [any] Whether a terminal interprets the UTF-8 sequence at the start of a string as a command: C0, DEL, C1, the line
 * separators U+2028 and U+2029, and characters that change the direction of text (U+061C, U+200E, U+200F, U+202A to
 * U+202E, U+2066 to U+2069). */
GRAFT_INLINE int graft_error_is_control(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80) {
        return at[0] < 0x20 || at[0] == 0x7F;
    }
    return (at[0] == 0xC2 && at[1] < 0xA0) || (at[0] == 0xD8 && at[1] == 0x9C) ||
           (at[0] == 0xE2 && at[1] == 0x80 && (at[2] == 0x8E || at[2] == 0x8F || (at[2] >= 0xA8 && at[2] <= 0xAE))) ||
           (at[0] == 0xE2 && at[1] == 0x81 && at[2] >= 0xA6 && at[2] <= 0xA9);
}

/* [any] Replaces, in place, characters that graft_error_is_control finds and bytes that are not UTF-8 by '?'. The
 * result is one line that cannot control a terminal and reads in the order of its bytes. */
GRAFT_INLINE void graft_error_clean(char *text) {
    while (*text != '\0') {
        size_t step = graft_error_utf8(text);
        if (step == 0 || graft_error_is_control(text)) {
            step = step > 0 ? step : 1;
            memset(text, '?', step);
        }
        text += step;
    }
}

/* [any] Formats into `text`, truncates it between two characters if it does not fit, and cleans it. */
GRAFT_INLINE void graft_error_write(char *text, size_t size, const char *format, va_list arguments) {
    int length = vsnprintf(text, size, format, arguments);
    if (length < 0) {
        text[0] = '\0';
    } else if ((size_t)length >= size) {
        size_t end = size - 1;
        for (size_t i = 1; i <= 3 && i <= end; i++) {
            unsigned char byte = (unsigned char)text[end - i];
            if (byte >= 0xC0) {
                end = graft_error_utf8(text + end - i) == 0 ? end - i : end;
                break;
            }
        }
        text[end] = '\0';
    }
    graft_error_clean(text);
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
/* [any] The same with variable arguments. */
GRAFT_INLINE void
graft_error_print(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    graft_error_write(text, size, format, arguments);
    va_end(arguments);
}

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
/* [any] Records an error, unless there already is one, and returns `code`, so that a caller can write `return
   graft_error_set(...)`. `error` and `source` may be NULL. Arguments may be untrusted: texts are cleaned, and truncated
   if they are too long. */
GRAFT_INLINE int
graft_error_set(struct graft_error *error, int code, const char *source, const char *format, ...) {
    if (error != NULL && error->code == GRAFT_OK) {
        va_list arguments;
        error->code = code;
        graft_error_print(error->source, sizeof error->source, "%s", source != NULL ? source : "");
        va_start(arguments, format);
        graft_error_write(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
        error->hint[0] = '\0';
    }
    return code;
}

/* [any] Records "out of memory" and returns GRAFT_ERROR_INTERNAL. */
GRAFT_INLINE int graft_fail_memory(struct graft_error *error, const char *source) {
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, source, "out of memory");
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
/* [any] Adds a hint, what to do about it, to a recorded error. An existing hint stays. */
GRAFT_INLINE void
graft_error_hint(struct graft_error *error, const char *format, ...) {
    if (error != NULL && error->code != GRAFT_OK && error->hint[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        graft_error_write(error->hint, sizeof error->hint, format, arguments);
        va_end(arguments);
    }
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
/* [any] Appends to the message of a recorded error, for example the name of the requester. */
GRAFT_INLINE void
graft_error_add(struct graft_error *error, const char *format, ...) {
    if (error != NULL && error->code != GRAFT_OK) {
        size_t length = strlen(error->message);
        va_list arguments;
        va_start(arguments, format);
        graft_error_write(error->message + length, sizeof error->message - length, format, arguments);
        va_end(arguments);
    }
}

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
/* [any] The status that the caller of a plugin's function should return after it failed with `status`. An unknown code
   becomes GRAFT_ERROR_PLUGIN. If no error was recorded, this one is; an error without a source gets `source`; and texts
   that were not written by these functions are cleaned. */
GRAFT_INLINE int
graft_error_complete(struct graft_error *error, int status, const char *source, const char *format, ...) {
    int code = status > GRAFT_OK && status <= GRAFT_ERROR_VERIFY ? status : GRAFT_ERROR_PLUGIN;
    if (error == NULL) {
        return code;
    }
    if (error->code == GRAFT_OK) {
        va_list arguments;
        va_start(arguments, format);
        graft_error_print(error->source, sizeof error->source, "%s", source != NULL ? source : "");
        graft_error_write(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
        error->hint[0] = '\0';
        error->code = code;
        return code;
    }
    error->source[sizeof error->source - 1] = '\0';
    error->message[sizeof error->message - 1] = '\0';
    error->hint[sizeof error->hint - 1] = '\0';
    if (error->source[0] == '\0' && source != NULL) {
        graft_error_print(error->source, sizeof error->source, "%s", source);
    }
    graft_error_clean(error->source);
    graft_error_clean(error->message);
    graft_error_clean(error->hint);
    if (error->code < GRAFT_OK || error->code > GRAFT_ERROR_VERIFY) {
        error->code = GRAFT_ERROR_PLUGIN;
    }
    return error->code;
}

#ifdef __cplusplus
}
#endif

#endif
