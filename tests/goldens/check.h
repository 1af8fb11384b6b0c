/* SPDX-License-Identifier: Apache-2.0 */
/* Counting what failed, and how far two arrays of logits are apart. */
#ifndef GRAFT_GOLDENS_CHECK_H
#define GRAFT_GOLDENS_CHECK_H

#include <stddef.h>

#include "graft/error.h"

/* Prints what failed unless `holds`. */
void check(int holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How many checks failed; the program's exit status. */
int check_failures(void);

/* Ends the program with `error` unless `status` is GRAFT_OK: nothing can be compared then. */
void need(int status, const struct graft_error *error);

/* The largest difference; infinite where a number is none. */
double max_difference(const float *a, const float *b, size_t count);

/* The root of the mean of squared differences. */
double rms_difference(const float *a, const float *b, size_t count);

/* Memory for `count` elements, zeroed; never NULL. */
void *need_memory(size_t count, size_t size);

#endif
