/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"

#include <string.h>

#include "base/text.h"

int graft_fail(struct graft_error *error, int code, const char *source, const char *format, ...) {
    if (error == NULL || error->code != GRAFT_OK) {
        return code;
    }
    char text[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)graft_error_set(error, code, source, "%s", text);
    graft_text_defang(error->source);
    graft_text_defang(error->message);
    return code;
}

int graft_fail_errno(struct graft_error *error, int code, const char *source, const char *what, int number) {
    char words[128];
    if (strerror_r(number, words, sizeof words) != 0) {
        (void)snprintf(words, sizeof words, "error %d", number);
    }
    return graft_fail(error, code, source, "%s: %s", what, words);
}

int graft_fail_memory(struct graft_error *error, const char *source) {
    return graft_fail(error, GRAFT_ERROR_INTERNAL, source, "out of memory");
}
