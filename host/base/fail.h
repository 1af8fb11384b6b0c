/* SPDX-License-Identifier: Apache-2.0 */
/* Recording errors whose words come from outside: names in files, patterns, paths. All functions are [any]. */
#ifndef GRAFT_BASE_FAIL_H
#define GRAFT_BASE_FAIL_H

#include "graft/error.h"

/* As graft_error_set, and then source and message are one line that cannot drive a terminal (graft_text_defang). */
int graft_fail(struct graft_error *error, int code, const char *source, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "WHAT: the system's words for `number`", an errno. */
int graft_fail_errno(struct graft_error *error, int code, const char *source, const char *what, int number);

/* Records "out of memory" and returns GRAFT_ERROR_INTERNAL. */
int graft_fail_memory(struct graft_error *error, const char *source);

#endif
