/* SPDX-License-Identifier: Apache-2.0 */
/* Recording errors of the system. All functions are [any]. */
#ifndef GRAFT_BASE_FAIL_H
#define GRAFT_BASE_FAIL_H

#include "graft/error.h"

/* "WHAT: the system's words for `number`", an errno. */
int graft_fail_errno(struct graft_error *error, int code, const char *source, const char *what, int number);

#endif
