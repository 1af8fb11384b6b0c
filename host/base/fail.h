/* SPDX-License-Identifier: Apache-2.0 */
/* Recording errors of the system. All functions are [any]. */
#ifndef GRAFT_BASE_FAIL_H
#define GRAFT_BASE_FAIL_H

#include "graft/error.h"

/* "WHAT: the system's words for `number`", an errno. What the process lacks is not the fault of a file: where it is
 * memory, `code` gives way to GRAFT_ERROR_INTERNAL, where it is file descriptors, to GRAFT_ERROR_IO. */
int graft_fail_errno(struct graft_error *error, int code, const char *source, const char *what, int number);

/* Whether a struct that a program gives to the library (NULL: none) is as large as in version 1.0: one whose
 * struct_size was forgotten is an error, rather than nothing given. `name` is the struct's. */
int graft_check_given(const void *given, size_t size_1_0, const char *name, struct graft_error *error);

/* Whether `n` elements of an array are such structs, all of one size, so that graft_struct_at reaches them. */
int graft_check_structs(const void *array, size_t n, size_t size_1_0, const char *name, struct graft_error *error);

/* Whether the path of a file or folder that a program gives to the library is not empty: that would be a file in the
 * current directory. `name` is the argument's. */
int graft_check_given_path(const char *path, const char *name, struct graft_error *error);

#endif
