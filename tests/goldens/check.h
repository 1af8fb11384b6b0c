/* SPDX-License-Identifier: Apache-2.0 */
/* Counts failed checks, and measures the distance of two arrays of logits. */
#ifndef GRAFT_GOLDENS_CHECK_H
#define GRAFT_GOLDENS_CHECK_H

#include <stddef.h>

#include "graft/error.h"

/* Counts a failure and prints the message, unless `holds`. */
void check(int holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number of failed checks; used as the program's exit status. */
int check_failures(void);

/* Ends the program with `error` unless `status` is GRAFT_OK, since nothing can be compared then. */
void need(int status, const struct graft_error *error);

/* The largest difference; infinite if a number is NaN. */
double max_difference(const float *a, const float *b, size_t count);

/* The square root of the mean of squared differences. */
double rms_difference(const float *a, const float *b, size_t count);

/* Memory for `count` elements, zeroed; never NULL. */
void *need_memory(size_t count, size_t size);

#endif
