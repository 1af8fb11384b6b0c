/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for a weight that no checkpoint has, and leaves the existing one unused. */
#include <string.h>

#define SOURCE "wieght"
#include "../converting.h"

static void apply(const float *from, float *to, int64_t count) {
    memcpy(to, from, (size_t)count * sizeof *to);
}

static void reverse(const float *from, float *to, int64_t count) {
    memcpy(to, from, (size_t)count * sizeof *to);
}
