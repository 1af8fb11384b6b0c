/* SPDX-License-Identifier: Apache-2.0 */
/* Sets errors of system calls, and checks arguments of library calls. All functions are [any]. */
#ifndef GRAFT_BASE_FAIL_H
#define GRAFT_BASE_FAIL_H

#include "graft/error.h"

/* Sets the error "WHAT: the message of errno `number`". What the process lacks is not a file's fault: for memory the
 * code becomes GRAFT_ERROR_INTERNAL, for file descriptors GRAFT_ERROR_IO. */
int graft_fail_errno(struct graft_error *error, int code, const char *source, const char *what, int number);

/* Copies what a call recorded in an error of its own to its caller's, which may be NULL or hold an earlier error; then
 * nothing is copied. Returns `status`. */
int graft_fail_with(struct graft_error *error, const struct graft_error *own, int status);

/* Checks that a struct passed to the library (or NULL) is at least as large as in version 1.0, so that a forgotten
 * struct_size is an error. `name` is the struct's name. */
int graft_check_given(const void *given, size_t size_1_0, const char *name, struct graft_error *error);

/* Checks that an array has `n` such structs of the same size, as graft_struct_at requires. */
int graft_check_structs(const void *array, size_t n, size_t size_1_0, const char *name, struct graft_error *error);

/* Checks that a path passed to the library is not empty, which would mean the current directory. `name` is the
 * argument's name. */
int graft_check_given_path(const char *path, const char *name, struct graft_error *error);

#endif
